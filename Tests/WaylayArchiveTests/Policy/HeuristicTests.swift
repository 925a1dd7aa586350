import HTTPTypes
import Testing

@testable import WaylayArchive

@Suite("Heuristic freshness (RFC 9111, section 4.2.2)", .timeLimit(.minutes(5)))
struct HeuristicTests {
  private func isReused(
    _ status: Int, _ fields: HTTPFields = [:], modified: Int64 = -1000, after seconds: Double = 50
  ) -> Bool {
    var cache = PolicyCache()
    var fields = fields
    fields[.date] = fields[.date] ?? cache.date()
    fields[.lastModified] = cache.date(modified)
    cache.load(.init(status: status, fields: fields))
    cache.wait(seconds)
    return cache.load(.init()).isFromArchive
  }

  @Test(
    "The statuses of RFC 9110, section 15.1, may be given a tenth of the time since Last-Modified",
    arguments: [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501])
  func listed(_ status: Int) {
    #expect(isReused(status))
    #expect(isReused(status, after: 99))
    #expect(!isReused(status, after: 100))
  }

  @Test(
    "No other status may, known or unknown",
    arguments: [
      201, 202, 205, 302, 303, 307, 400, 401, 403, 406, 408, 409, 418, 429, 500, 502, 503, 504, 299, 399, 499, 599,
    ])
  func others(_ status: Int) {
    #expect(!isReused(status))
  }

  @Test("public allows it for any other (RFC 9111, 4.2.2 and 5.2.2.9)", arguments: [201, 202, 302, 307, 403, 503, 599])
  func markedPublic(_ status: Int) {
    #expect(isReused(status, [.cacheControl: "public"]))
  }

  @Test("An explicit lifetime goes first, also one that is over or cannot be read")
  func explicit() {
    #expect(!isReused(200, [.cacheControl: "max-age=0"], modified: -100_000))
    #expect(!isReused(200, [.cacheControl: "max-age=x"], modified: -100_000))
    #expect(!isReused(200, [.expires: "0"], modified: -100_000))
    #expect(!isReused(200, [.cacheControl: "max-age=40"], modified: -100_000))
  }

  @Test("A Last-Modified that is not before Date, or is no date, gives nothing")
  func useless() {
    #expect(!isReused(200, modified: 0, after: 0))
    #expect(!isReused(200, modified: 1000, after: 0))
    var cache = PolicyCache()
    cache.load(.init(fields: [.lastModified: "yesterday"]))
    #expect(!cache.reused)
  }

  @Test("The guess has a limit")
  func limit() {
    let century: Int64 = -86_400 * 36_500
    #expect(isReused(200, modified: century, after: 86_400 * 6.9))
    #expect(!isReused(200, modified: century, after: 86_400 * 7))
  }

  @Test("A query in the URL changes nothing")
  func query() {
    var cache = PolicyCache()
    cache.load(.init(fields: [.lastModified: cache.date(-1000)]), url: "http://example.com/?a=b")
    #expect(cache.load(nil, url: "http://example.com/?a=b").isFromArchive)
  }

  @Test("The reason says where the lifetime came from")
  func reason() {
    var cache = PolicyCache()
    cache.load(.init(fields: [.lastModified: cache.date(-1000)]))
    let reason = cache.load(nil).reason
    #expect(reason.lifetimeSource == .heuristic)
    #expect(reason.lifetime == 100)
    #expect(reason.description == "fresh, age 0 s, lifetime 100 s from heuristic")
  }
}
