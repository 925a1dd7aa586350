import HTTPTypes
import Testing
import WaylayArchive

@Suite("A shared archive (RFC 9111, sections 3, 3.5 and 5.2.2)", .timeLimit(.minutes(5)))
struct SharedTests {
  private func stored(
    _ cacheControl: String, _ request: HTTPFields = [:], age: Double = 0, _ fields: HTTPFields = [:]
  ) -> PolicyCache {
    var cache = PolicyCache { $0.isShared = true }
    var fields = fields
    fields[.cacheControl] = cacheControl
    cache.load(.init(fields: fields, body: "old"), request)
    cache.wait(age)
    return cache
  }

  @Test("s-maxage goes before max-age and Expires (5.2.2.10)")
  func sharedMaxAge() {
    #expect(stored("max-age=1, s-maxage=100", age: 50).reused)
    #expect(!stored("max-age=100, s-maxage=1", age: 50).reused)
    #expect(!stored("max-age=100, s-maxage=x").reused)
    #expect(stored("s-maxage=100", age: 50, [.expires: "0"]).reused)
  }

  @Test("private is not stored; with field names, those are not (5.2.2.7)")
  func privateResponses() {
    #expect(stored("private, max-age=100").records().isEmpty)
    var cache = stored(
      "private=\"x-a\", max-age=100", [:], age: 0, [HTTPField.Name("X-A")!: "1", HTTPField.Name("X-B")!: "1"])
    let result = cache.load(nil)
    #expect(result["X-A"] == nil)
    #expect(result["X-B"] == "1")
  }

  @Test("Authorization needs must-revalidate, public or s-maxage (3.5)")
  func authorization() {
    let request: HTTPFields = [.authorization: "x"]
    #expect(stored("max-age=100", request).records().isEmpty)
    for allowed in ["max-age=100, public", "max-age=100, must-revalidate", "s-maxage=100"] {
      #expect(!stored(allowed, request).records().isEmpty)
    }
  }

  @Test(
    "proxy-revalidate and s-maxage forbid a stale answer (5.2.2.8, 5.2.2.10)",
    arguments: ["max-age=10, proxy-revalidate", "s-maxage=10"])
  func revalidate(_ cacheControl: String) {
    var cache = stored(cacheControl, age: 20)
    #expect(cache.load(nil, [.cacheControl: "max-stale"]).status == PolicyCache.unreachable)
  }
}
