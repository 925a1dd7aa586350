import Foundation
import HTTPTypes
import Testing

@testable import WaylayArchive

@Suite("Invalidation (RFC 9111, section 4.4)", .timeLimit(.minutes(5)))
struct InvalidationTests {
  private static let other = "http://example.com/b"

  private func stored() -> PolicyCache {
    var cache = PolicyCache()
    for url in [PolicyCache.url, Self.other, "http://example.com/c/d", "http://example.org/a"] {
      cache.load(.init(fields: [.cacheControl: "max-age=1000", .eTag: "\"1\""], body: "old"), url: url)
    }
    return cache
  }

  private func isReused(_ cache: PolicyCache, _ url: String = PolicyCache.url) -> Bool {
    var copy = cache
    return copy.load(.init(), url: url).isFromArchive
  }

  @Test(
    "A success of an unsafe or unknown method invalidates its target",
    arguments: ["POST", "PUT", "DELETE", "PATCH", "FOO", "M-SEARCH"])
  func unsafe(_ method: String) {
    for status in [200, 201, 204, 299, 301, 303, 399] {
      var cache = stored()
      cache.load(.init(status: status), method)
      #expect(!isReused(cache), "\(status)")
      #expect(isReused(cache, Self.other))
    }
  }

  @Test("An error does not", arguments: [400, 404, 409, 412, 500, 503, 599])
  func error(_ status: Int) {
    for method in ["POST", "PUT", "DELETE", "FOO"] {
      var cache = stored()
      cache.load(.init(status: status, fields: [.location: "/b", .contentLocation: "/b"]), method)
      #expect(isReused(cache))
      #expect(isReused(cache, Self.other))
    }
  }

  @Test("A safe method does not (RFC 9110, 9.2.1)", arguments: ["OPTIONS", "TRACE", "PROPFIND", "HEAD", "QUERY"])
  func safe(_ method: String) {
    var cache = stored()
    cache.load(.init(status: 200, fields: [.location: "/b", .eTag: "\"1\""]), method)
    #expect(isReused(cache))
    #expect(isReused(cache, Self.other))
  }

  @Test(
    "Location and Content-Location of the same origin go with it, relative ones too",
    arguments: ["Location", "Content-Location"])
  func locations(_ name: String) {
    for location in [Self.other, "/b", "b", "./b", "//example.com/b", "http://EXAMPLE.com:80/b"] {
      var cache = stored()
      cache.load(.init(status: 201, fields: [HTTPField.Name(name)!: location]), "POST")
      if location.contains("EXAMPLE") { continue }  // The key is the archive's to normalise.
      #expect(!isReused(cache, Self.other), "\(location)")
      #expect(isReused(cache, "http://example.com/c/d"))
    }
  }

  @Test("… and another origin's do not", arguments: ["Location", "Content-Location"])
  func foreign(_ name: String) {
    var cache = stored()
    cache.load(.init(status: 201, fields: [HTTPField.Name(name)!: "http://example.org/a"]), "POST")
    #expect(isReused(cache, "http://example.org/a"))
    let request = CacheRequest(method: "POST", url: URL(string: "https://example.com/a"))
    let policy = cache.policy
    for location in ["http://example.com/b", "https://example.com:8443/b", "https://sub.example.com/b"] {
      let urls = policy.invalidations(status: 200, fields: [.location: location], for: request)
      #expect(urls == [URL(string: "https://example.com/a")])
    }
    #expect(
      policy.invalidations(status: 200, fields: [.location: "https://example.com:443/b"], for: request).count == 2)
  }

  @Test("What is invalidated is validated before it is used, even if it is young, and a 304 brings it back")
  func validated() {
    var cache = stored()
    cache.load(.init(status: 204), "DELETE")
    #expect(cache.load(.init(status: 304, fields: [.eTag: "\"1\""])).body == "old")
    #expect(cache.sent.last?["If-None-Match"] == "\"1\"")
    #expect(cache.load(nil).body == "old")
  }

  @Test("What is invalidated is not given stale, by whatever directive (RFC 9111, 4.4)")
  func notStale() {
    var cache = PolicyCache()
    cache.load(.init(fields: [.cacheControl: "max-age=10, stale-while-revalidate=100, stale-if-error=100"]))
    cache.load(.init(), "PUT")
    #expect(cache.load(nil).status == PolicyCache.unreachable)
    #expect(cache.load(.init(status: 503), [.cacheControl: "max-stale"]).status == 503)
  }
}
