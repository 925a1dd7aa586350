import HTTPTypes
import Testing

@testable import WaylayArchive

@Suite("HEAD against what GET has stored (RFC 9111, section 4.3.5)", .timeLimit(.minutes(5)))
struct HeadTests {
  private static let modified = "Sun, 06 Nov 1994 08:49:37 GMT"

  /// What is left of a fresh response after a HEAD that was sent on.
  private func after(
    _ head: PolicyCache.Reply, _ stored: HTTPFields = [.eTag: "\"1\"", .contentLength: "4"]
  ) -> PolicyCache {
    var cache = PolicyCache()
    var fields = stored
    fields[.cacheControl] = "max-age=100"
    cache.load(.init(fields: fields))
    cache.wait(50)
    cache.load(head, "HEAD", [.cacheControl: "no-cache"])
    return cache
  }

  @Test("A HEAD that agrees freshens, its fields included")
  func freshens() {
    for fields in [[.eTag: "\"1\""], [.eTag: "\"1\"", .contentLength: "4"], [.contentLength: "4"], [:]] as [HTTPFields]
    {
      var head = fields
      head[HTTPField.Name("X-A")!] = "new"
      var cache = after(.init(fields: head))
      let result = cache.load(nil)
      #expect(result.age == 0)
      #expect(result["X-A"] == "new")
      #expect(result.body == "body")
      #expect(result["Content-Length"] == "4")
    }
  }

  @Test("A HEAD that differs in tag, date or length makes it stale")
  func outdates() {
    let stored: HTTPFields = [.eTag: "\"1\"", .contentLength: "4", .lastModified: Self.modified]
    for fields in [
      [.eTag: "\"2\""], [.eTag: "W/\"1\""], [.contentLength: "5"], [.eTag: "\"1\"", .contentLength: "5"],
      [.lastModified: "Sun, 06 Nov 1994 08:49:36 GMT"],
      [.eTag: "\"1\"", .lastModified: "Sun, 06 Nov 1994 08:49:38 GMT"],
    ] as [HTTPFields] {
      var cache = after(.init(fields: fields), stored)
      #expect(!cache.load(.init()).isFromArchive)
    }
  }

  @Test("A validator that only the HEAD has is a difference")
  func newValidator() {
    let cache = after(.init(fields: [.eTag: "\"1\""]), [:])
    #expect(!cache.reused)
  }

  @Test("A HEAD with another status says nothing of what GET has stored", arguments: [204, 301, 404, 500])
  func otherStatus(_ status: Int) {
    let cache = after(.init(status: status))
    #expect(cache.reused)
  }

  @Test("A stale response is asked about when HEAD needs it, and a 304 answers HEAD")
  func validated() {
    var cache = PolicyCache()
    cache.load(.init(fields: [.cacheControl: "max-age=1", .eTag: "\"1\""]))
    cache.wait(10)
    let result = cache.load(.init(status: 304, fields: [.eTag: "\"1\""]), "HEAD")
    #expect(cache.sent.last?["If-None-Match"] == "\"1\"")
    #expect(result.status == 200)
    #expect(cache.load(nil).age == 0)
  }
}
