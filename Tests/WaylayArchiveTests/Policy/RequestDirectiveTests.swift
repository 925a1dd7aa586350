import HTTPTypes
import Testing

@testable import WaylayArchive

@Suite("Directives of the request (RFC 9111, sections 5.2.1 and 5.4)", .timeLimit(.minutes(5)))
struct RequestDirectiveTests {
  /// A response of 100 seconds that is 50 old, unless told otherwise.
  private func answers(_ request: HTTPFields, age: Double = 50, _ cacheControl: String = "max-age=100") -> Bool {
    var cache = PolicyCache()
    cache.load(.init(fields: [.cacheControl: cacheControl, .eTag: "\"1\""]))
    cache.wait(age)
    return cache.load("GET", request) { _ in nil }.status == 200 && cache.sent.count == 1
  }

  private func answers(_ cacheControl: String, age: Double = 50, _ stored: String = "max-age=100") -> Bool {
    answers([.cacheControl: cacheControl], age: age, stored)
  }

  @Test("max-age: none that is older (5.2.1.1)")
  func maxAge() {
    #expect(answers("max-age=50"))
    #expect(answers("max-age=\"50\""))
    #expect(answers("MAX-AGE=1000"))
    #expect(!answers("max-age=49"))
    #expect(!answers("max-age=0"))
    #expect(!answers("max-age=0", age: 0.001))
    #expect(!answers("max-age=abc"))
    #expect(!answers("max-age=-1"))
    #expect(!answers("max-age=1000", age: 100))
    #expect(answers("max-age=99999999999999999999"))
  }

  @Test("max-stale: a stale one by so much, or by any (5.2.1.2)")
  func maxStale() {
    #expect(answers("max-stale=50", age: 150))
    #expect(!answers("max-stale=49", age: 150))
    #expect(answers("max-stale", age: 1_000_000))
    #expect(answers("max-stale=99999999999999999999", age: 1_000_000))
    #expect(!answers("max-stale=x", age: 150))
    #expect(!answers("max-stale=", age: 150))
  }

  @Test("max-stale with max-age lets an older one through (5.2.1.1)")
  func maxAgeWithMaxStale() {
    #expect(answers("max-age=40, max-stale=10"))
    #expect(!answers("max-age=40, max-stale=9"))
    #expect(answers("max-age=40, max-stale"))
  }

  @Test(
    "max-stale is not heard against must-revalidate and no-cache (4.2.4, 5.2.2.2)",
    arguments: ["must-revalidate", "no-cache"])
  func maxStaleOverruled(_ directive: String) {
    #expect(!answers("max-stale", age: 150, "max-age=100, \(directive)"))
  }

  @Test("proxy-revalidate and s-maxage do not bind a private cache (5.2.2.8, 5.2.2.10)")
  func proxyRevalidate() {
    #expect(answers("max-stale", age: 150, "max-age=100, proxy-revalidate, s-maxage=1"))
  }

  @Test("min-fresh: one that stays fresh for so long (5.2.1.3)")
  func minFresh() {
    #expect(answers("min-fresh=50"))
    #expect(!answers("min-fresh=51"))
    #expect(!answers("min-fresh=1", age: 100))
    #expect(!answers("min-fresh=99999999999999999999"))
    #expect(answers("min-fresh=x"))
  }

  @Test("no-cache: none without validation (5.2.1.4)")
  func noCache() {
    #expect(!answers("no-cache"))
    #expect(!answers("NO-CACHE"))
    #expect(!answers("foo, no-cache"))
    #expect(!answers("no-cache, max-stale"))
    var cache = PolicyCache()
    cache.load(.init(fields: [.cacheControl: "max-age=100", .eTag: "\"1\""]))
    let result = cache.load(.init(status: 304, fields: [.eTag: "\"1\""]), [.cacheControl: "no-cache"])
    #expect(cache.sent.last?["If-None-Match"] == "\"1\"")
    #expect(cache.sent.last?["Cache-Control"] == "no-cache")
    #expect(result.body == "body")
  }

  @Test("no-store: what is stored may answer, what comes is not stored (5.2.1.5)")
  func noStore() {
    #expect(answers("no-store"))
    var cache = PolicyCache()
    cache.load(.init(fields: [.cacheControl: "max-age=1000"]), [.cacheControl: "no-store"])
    #expect(!cache.reused)
  }

  @Test("only-if-cached: 504 when nothing may be given, and nothing is sent (5.2.1.7)")
  func onlyIfCached() {
    #expect(answers("only-if-cached"))
    for request in ["only-if-cached", "only-if-cached, max-age=10", "only-if-cached, no-cache"] {
      var cache = PolicyCache()
      #expect(cache.load(.init(), [.cacheControl: "only-if-cached"]).status == 504)
      cache.load(.init(fields: [.cacheControl: "max-age=100", .eTag: "\"1\""]))
      cache.wait(150)
      #expect(cache.load(.init(), [.cacheControl: request]).status == 504)
      #expect(cache.sent.count == 1)
      #expect(cache.load(.init(), [.cacheControl: "only-if-cached, max-stale"]).status == 200)
    }
    var cache = PolicyCache()
    cache.load(.init(fields: [.cacheControl: "max-age=100"]))
    #expect(cache.load(.init(), "POST", [.cacheControl: "only-if-cached"]).status == 504)
    #expect(
      cache.load(.init(), [.cacheControl: "only-if-cached"], cachePolicy: .reloadIgnoringLocalCacheData).status == 504)
  }

  @Test("no-transform and what is unknown change nothing (5.2.1.6, 5.2.3)")
  func unknown() {
    #expect(answers("no-transform"))
    #expect(answers("foo, bar=baz, \"x\", =, max-agex=0"))
    #expect(answers("foo=\"no-cache\""))
  }

  @Test("Pragma: no-cache counts where there is no Cache-Control (5.4)")
  func pragma() {
    #expect(!answers([.pragma: "no-cache"]))
    #expect(!answers([.pragma: "foo, No-Cache"]))
    #expect(answers([.pragma: "foo"]))
    #expect(answers([.pragma: "no-cache", .cacheControl: "max-age=100"]))
    #expect(answers([.pragma: "no-cache", .cacheControl: "foo"]))
  }

  @Test("Pragma in a response means nothing (5.4)")
  func pragmaInResponse() {
    var cache = PolicyCache()
    cache.load(.init(fields: [.cacheControl: "max-age=100", .pragma: "no-cache"]))
    #expect(cache.reused)
  }

  @Test("Cache-Control over several lines is one list (RFC 9110, 5.3)")
  func lines() {
    var fields: HTTPFields = [:]
    fields[values: .cacheControl] = ["foo", "no-cache"]
    #expect(!answers(fields))
  }
}

extension HTTPField.Name {
  static let pragma = HTTPField.Name("Pragma")!
}
