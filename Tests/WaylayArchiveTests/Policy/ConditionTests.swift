import HTTPTypes
import Testing

@testable import WaylayArchive

@Suite("The client's own conditions (RFC 9111, section 4.3.2; RFC 9110, section 13)", .timeLimit(.minutes(5)))
struct ConditionTests {
  private static let modified = "Sun, 06 Nov 1994 08:49:37 GMT"

  private func answer(_ request: HTTPFields, _ stored: HTTPFields, status: Int = 200) -> PolicyCache.Result {
    var cache = PolicyCache()
    var fields = stored
    fields[.cacheControl] = "max-age=100"
    fields[.date] = fields[.date] ?? cache.date()
    cache.load(.init(status: status, fields: fields))
    cache.wait(10)
    return cache.load("GET", request) { _ in .init(status: 299, body: "origin") }
  }

  @Test("If-None-Match is answered 304 by the weak comparison (RFC 9110, 13.1.2)")
  func ifNoneMatch() {
    for (list, tag) in [
      ("\"1\"", "\"1\""), ("W/\"1\"", "\"1\""), ("\"1\"", "W/\"1\""), ("\"0\", \"1\"", "\"1\""),
      ("\"0\",W/\"1\" , \"2\"", "\"1\""),
      ("*", "\"1\""), ("\"a,b\", \"1\"", "\"a,b\""), ("bare", "bare"), ("\"x\", bare", "bare"),
    ] {
      let result = answer([.ifNoneMatch: list], [.eTag: tag])
      #expect(result.status == 304, "\(list) against \(tag)")
      #expect(result.isFromArchive)
      #expect(result.body.isEmpty)
    }
    #expect(answer([.ifNoneMatch: "*"], [:]).status == 304)
    for (list, tag) in [
      ("\"2\"", "\"1\""), ("\"11\"", "\"1\""), ("\"a\", \"b\"", "\"a,b\""), ("", "\"1\""), ("\"A\"", "\"a\""),
    ] {
      let result = answer([.ifNoneMatch: list], [.eTag: tag])
      #expect(result.status == 200, "\(list) against \(tag)")
      #expect(result.isFromArchive)
      #expect(result.body == "body")
    }
    #expect(answer([.ifNoneMatch: "\"1\""], [:]).status == 200)
  }

  @Test("If-Modified-Since is answered by Last-Modified, or else by Date (RFC 9111, 4.3.2)")
  func ifModifiedSince() {
    #expect(answer([.ifModifiedSince: Self.modified], [.lastModified: Self.modified]).status == 304)
    #expect(answer([.ifModifiedSince: "Sunday, 06-Nov-94 08:49:37 GMT"], [.lastModified: Self.modified]).status == 304)
    #expect(answer([.ifModifiedSince: "Sun, 06 Nov 1994 08:49:38 GMT"], [.lastModified: Self.modified]).status == 304)
    #expect(answer([.ifModifiedSince: "Sun, 06 Nov 1994 08:49:36 GMT"], [.lastModified: Self.modified]).status == 200)
    #expect(answer([.ifModifiedSince: "yesterday"], [.lastModified: Self.modified]).status == 200)
    let date = PolicyCache().date()
    #expect(answer([.ifModifiedSince: date], [.date: date]).status == 304)
    #expect(answer([.ifModifiedSince: Self.modified], [.date: date]).status == 200)
  }

  @Test("Where both are there, the tag decides (RFC 9110, 13.1.3)")
  func both() {
    let stored: HTTPFields = [.eTag: "\"1\"", .lastModified: Self.modified]
    #expect(answer([.ifNoneMatch: "\"2\"", .ifModifiedSince: Self.modified], stored).status == 200)
    #expect(answer([.ifNoneMatch: "\"1\"", .ifModifiedSince: "Sun, 06 Nov 1994 08:49:36 GMT"], stored).status == 304)
  }

  @Test("The 304 carries what it has to and its age, and nothing of the representation's (RFC 9110, 15.4.5)")
  func fields() {
    let result = answer(
      [.ifNoneMatch: "\"1\""],
      [
        .eTag: "\"1\"", .lastModified: Self.modified, .contentType: "text/plain", .contentLength: "4", .vary: "Foo",
        .contentLocation: "/x",
        .expires: Self.modified, .setCookie: "a=b",
      ])
    let names = Set(result.fields.map(\.name.canonicalName))
    #expect(names == ["cache-control", "content-location", "date", "etag", "expires", "vary", "age"])
    #expect(answer([.ifModifiedSince: Self.modified], [.lastModified: Self.modified])["Last-Modified"] == Self.modified)
  }

  @Test("If-Match and If-Unmodified-Since are the origin's to answer (RFC 9111, 4.3.2)")
  func originConditions() {
    #expect(answer([.ifMatch: "\"1\""], [.eTag: "\"1\""]).body == "origin")
    #expect(answer([.ifUnmodifiedSince: Self.modified], [.lastModified: Self.modified]).body == "origin")
    var cache = PolicyCache()
    cache.load(.init(fields: [.cacheControl: "max-age=100", .eTag: "\"1\""]))
    #expect(cache.load(.init(status: 412), [.ifMatch: "\"2\""]).status == 412)
    #expect(cache.sent.last?["If-None-Match"] == nil)
    #expect(cache.reused)
  }

  @Test("Only a success is compared: a stored error is given as it is (RFC 9110, 13.2.1)")
  func errors() {
    #expect(answer([.ifNoneMatch: "\"1\""], [.eTag: "\"1\""], status: 404).status == 404)
  }

  @Test(
    """
    Against a stale response, the client's conditions go to the origin as they are, and its 304 to the client (RFC \
    9111, 4.3.2)
    """
  )
  func stale() {
    var cache = PolicyCache()
    cache.load(.init(fields: [.cacheControl: "max-age=1", .eTag: "\"1\""], body: "old"))
    cache.wait(10)
    let result = cache.load(.init(status: 304, fields: [.eTag: "\"0\""]), [.ifNoneMatch: "\"0\""])
    #expect(cache.sent.last?["If-None-Match"] == "\"0\"")
    #expect(result.status == 304)
    #expect(!cache.reused)
    // One that is about what is stored freshens it, and does not take its body away.
    #expect(
      cache.load(.init(status: 304, fields: [.eTag: "\"1\"", .cacheControl: "max-age=100"]), [.ifNoneMatch: "\"1\""])
        .status == 304)
    #expect(cache.load(nil).body == "old")
  }

  @Test("A 304 to the client's own conditions is not stored when nothing else is (RFC 9111, 3)")
  func notStored() {
    var cache = PolicyCache()
    #expect(
      cache.load(.init(status: 304, fields: [.eTag: "\"1\"", .cacheControl: "max-age=100"]), [.ifNoneMatch: "\"1\""])
        .status == 304)
    #expect(cache.records().isEmpty)
  }
}
