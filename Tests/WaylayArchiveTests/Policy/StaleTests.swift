import HTTPTypes
import Testing

@testable import WaylayArchive

@Suite("Stale responses (RFC 9111, section 4.2.4; RFC 5861)", .timeLimit(.minutes(5)))
struct StaleTests {
  private func stored(
    _ cacheControl: String, age: Double, _ change: (inout ArchivePolicy) -> Void = { _ in }
  ) -> PolicyCache {
    var cache = PolicyCache(change)
    cache.load(.init(fields: [.cacheControl: cacheControl, .eTag: "\"1\""], body: "old"))
    cache.wait(age)
    return cache
  }

  @Test("stale-while-revalidate: given at once, and validated behind (RFC 5861, 3)")
  func whileRevalidate() {
    var cache = stored("max-age=10, stale-while-revalidate=20", age: 15)
    let result = cache.load(.init(status: 304, fields: [.eTag: "\"1\""]))
    #expect(result.body == "old")
    #expect(result.isStale)
    #expect(result.age == 15)
    #expect(cache.sent.count == 2)
    #expect(cache.sent.last?["If-None-Match"] == "\"1\"")
    // The 304 behind has made it fresh.
    #expect(cache.load(nil).reason.code == .fresh)
  }

  @Test("The request's max-age goes before it; with max-stale it is welcome (RFC 9111, 5.2.1.1)")
  func whileRevalidateAgainstTheRequest() {
    for request in ["max-age=60", "max-age=5", "max-age=0", "no-cache"] {
      var cache = stored("max-age=10, stale-while-revalidate=3600", age: 100)
      let result = cache.load(.init(body: "new"), [.cacheControl: request])
      #expect(result.body == "new" && !result.isFromArchive, "\(request)")
    }
    var cache = stored("max-age=10, stale-while-revalidate=3600", age: 100)
    #expect(cache.load(nil, [.cacheControl: "max-age=60, max-stale=90"]).body == "old")
  }

  @Test("The answer behind takes the stored one's place (RFC 5861, 3)")
  func whileRevalidateReplaces() {
    var cache = stored("max-age=10, stale-while-revalidate=20", age: 15)
    #expect(cache.load(.init(fields: [.cacheControl: "max-age=10"], body: "new")).body == "old")
    #expect(cache.load(nil).body == "new")
  }

  @Test("The request behind asks for the whole, and under conditions of ours alone")
  func behindAsksForTheWhole() {
    var cache = stored("max-age=10, stale-while-revalidate=20", age: 15)
    let result = cache.load(.init(status: 304, fields: [.eTag: "\"1\""]), [.range: "bytes=0-1", .ifModifiedSince: "x"])
    #expect(result.body == "ol")
    #expect(cache.sent.last?["Range"] == nil)
    #expect(cache.sent.last?["If-Modified-Since"] == nil)
    #expect(cache.sent.last?["If-None-Match"] == "\"1\"")
  }

  @Test("… and not beyond its seconds, nor against what forbids it (RFC 5861, 3; RFC 9111, 4.2.4)")
  func notWhileRevalidate() {
    func isGiven(_ cacheControl: String, _ age: Double, _ request: String? = nil) -> Bool {
      var cache = stored(cacheControl, age: age)
      var fields: HTTPFields = [:]
      fields[.cacheControl] = request
      return cache.load(.init(body: "new"), fields).body == "old"
    }
    #expect(isGiven("max-age=10, stale-while-revalidate=20", 30))
    #expect(!isGiven("max-age=10, stale-while-revalidate=20", 30.001))
    #expect(!isGiven("max-age=10, stale-while-revalidate=x", 11))
    #expect(!isGiven("max-age=10, stale-while-revalidate", 11))
    #expect(!isGiven("max-age=10, stale-while-revalidate=20, must-revalidate", 15))
    #expect(!isGiven("max-age=10, stale-while-revalidate=20, no-cache", 5))
    #expect(isGiven("max-age=10, stale-while-revalidate=20, proxy-revalidate", 15))
    #expect(!isGiven("max-age=10, stale-while-revalidate=20", 15, "max-age=5"))
    #expect(!isGiven("max-age=10, stale-while-revalidate=20", 15, "no-cache"))
    #expect(!isGiven("max-age=10, stale-while-revalidate=20", 15, "min-fresh=1"))
  }

  @Test("A fresh one is not validated behind")
  func freshIsNotRevalidated() {
    var cache = stored("max-age=10, stale-while-revalidate=20", age: 5)
    cache.load(nil)
    #expect(cache.sent.count == 1)
  }

  @Test("stale-if-error: in place of 500, 502, 503 and 504 (RFC 5861, 4)", arguments: [500, 502, 503, 504])
  func ifError(_ status: Int) {
    var cache = stored("max-age=10, stale-if-error=20", age: 15)
    let result = cache.load(.init(status: status, body: "error"))
    #expect(result.body == "old")
    #expect(result.isStale)
    #expect(result.reason.code == .staleIfError)
    #expect(cache.records().count == 1)
  }

  @Test("… and no other status (RFC 5861, 4)", arguments: [400, 404, 429, 501, 505])
  func noError(_ status: Int) {
    var cache = stored("max-age=10, stale-if-error=20", age: 15)
    #expect(cache.load(.init(status: status, body: "error")).body == "error")
  }

  @Test("… also when the origin cannot be reached, and when the request says it (RFC 5861, 4)")
  func ifUnreachable() {
    var cache = stored("max-age=10, stale-if-error=20", age: 15) { $0.staleWhenUnreachable = false }
    #expect(cache.load(nil).body == "old")
    var asked = stored("max-age=10", age: 15)
    #expect(asked.load(.init(status: 503, body: "error"), [.cacheControl: "stale-if-error=20"]).body == "old")
    #expect(asked.load(.init(status: 503, body: "error"), [.cacheControl: "stale-if-error=4"]).body == "error")
    #expect(asked.load(.init(status: 503, body: "error")).body == "error")
  }

  @Test("… and not beyond its seconds, nor against what forbids it (RFC 5861, 4; RFC 9111, 5.2.2.2)")
  func notIfError() {
    for (cacheControl, age) in [
      ("max-age=10, stale-if-error=20", 30.001), ("max-age=10, stale-if-error=20, must-revalidate", 15.0),
      ("max-age=10, stale-if-error=20, no-cache", 5), ("max-age=10, stale-if-error=x", 15),
    ] {
      var cache = stored(cacheControl, age: age)
      #expect(cache.load(.init(status: 503, body: "error")).body == "error", "\(cacheControl)")
    }
    var reload = stored("max-age=10, stale-if-error=20", age: 15)
    #expect(reload.load(.init(status: 503, body: "error"), [.cacheControl: "no-cache"]).body == "error")
    #expect(reload.load(.init(status: 503, body: "error"), cachePolicy: .reloadIgnoringLocalCacheData).body == "error")
  }

  @Test("A stale one when the origin cannot be reached, by option (RFC 9111, 4.2.4: disconnected)")
  func unreachable() {
    var cache = stored("max-age=10", age: 1_000_000)
    let result = cache.load(nil)
    #expect(result.body == "old")
    #expect(result.reason.code == .unreachable)
    #expect(cache.load(nil, [.cacheControl: "max-age=100"]).status == PolicyCache.unreachable)
    #expect(cache.load(nil, [.cacheControl: "no-cache"]).status == PolicyCache.unreachable)
    var strict = stored("max-age=10", age: 1_000_000) { $0.staleWhenUnreachable = false }
    #expect(strict.load(nil).status == PolicyCache.unreachable)
  }

  @Test(
    "must-revalidate, no-cache and an invalidation go before reaching nobody (RFC 9111, 5.2.2.2)",
    arguments: ["max-age=10, must-revalidate", "max-age=100, no-cache"])
  func unreachableAndForbidden(_ cacheControl: String) {
    var cache = stored(cacheControl, age: 15)
    #expect(cache.load(nil).status == PolicyCache.unreachable)
  }

  @Test("A 5xx is passed on and leaves what is stored as it was (RFC 9111, 4.3.3)")
  func serverError() {
    var cache = stored("max-age=10", age: 15)
    #expect(cache.load(.init(status: 500, body: "error")).status == 500)
    #expect(cache.load(.init(status: 304, fields: [.eTag: "\"1\""])).body == "old")
  }

  @Test("immutable: not validated while fresh when a reload asks for it; when stale, it is (RFC 8246, 2)")
  func immutable() {
    var cache = stored("max-age=10, immutable", age: 5)
    #expect(cache.load(nil, cachePolicy: .reloadRevalidatingCacheData).body == "old")
    cache.wait(10)
    cache.load(.init(status: 304, fields: [.eTag: "\"1\""]), cachePolicy: .reloadRevalidatingCacheData)
    #expect(cache.sent.count == 2)
    var lenient = stored("max-age=10, immutable, stale-while-revalidate=100", age: 15)
    #expect(lenient.load(.init(body: "new"), cachePolicy: .reloadRevalidatingCacheData).body == "new")
    var other = stored("max-age=10", age: 5)
    other.load(.init(status: 304, fields: [.eTag: "\"1\""]), cachePolicy: .reloadRevalidatingCacheData)
    #expect(other.sent.last?["If-None-Match"] == "\"1\"")
  }
}
