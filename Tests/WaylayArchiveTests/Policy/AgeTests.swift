import HTTPTypes
import Testing

@testable import WaylayArchive

@Suite("Age (RFC 9111, sections 4.2.3 and 5.1)", .timeLimit(.minutes(5)))
struct AgeTests {
  private func stored(_ age: [String], date: Int64? = 0, maxAge: Int = 3600, delay: Double = 0) -> PolicyCache {
    var cache = PolicyCache()
    var fields: HTTPFields = [.cacheControl: "max-age=\(maxAge)"]
    fields[values: HTTPField.Name("Age")!] = age
    fields[.date] = date.map { cache.date($0) }
    cache.load(.init(fields: fields, delay: delay))
    return cache
  }

  @Test("Every answer out of the archive says its age, in place of the one that it came with (RFC 9111, 4 and 5.1)")
  func generated() {
    var cache = stored(["100"])
    #expect(cache.load(nil).age == 100)
    cache.wait(20.9)
    let result = cache.load(nil)
    #expect(result.age == 120)
    #expect(result.fields.filter { $0.name.canonicalName == "age" }.count == 1)
  }

  @Test("An answer that the origin has just confirmed has no age (RFC 9111, 5.1)")
  func validated() {
    var cache = PolicyCache()
    cache.load(.init(fields: [.cacheControl: "max-age=1", .eTag: "\"1\"", HTTPField.Name("Age")!: "50"]))
    let result = cache.load(.init(status: 304, fields: [.eTag: "\"1\""]))
    #expect(result.status == 200)
    #expect(result.age == nil)
    #expect(cache.load(nil).age == 0)
  }

  @Test(
    "Age counts against the lifetime (RFC 9111, 4.2.3)",
    arguments: ["3600", "7200", "2147483648", "99999999999999999999"])
  func tooOld(_ age: String) {
    var cache = stored([age])
    #expect(!cache.load(.init()).isFromArchive)
  }

  @Test("An Age below the lifetime leaves the rest of it (RFC 9111, 4.2.3)")
  func rest() {
    var cache = stored(["3590"])
    cache.wait(9)
    #expect(cache.load(.init()).isFromArchive)
    cache.wait(1)
    #expect(!cache.load(.init()).isFromArchive)
  }

  @Test(
    "An Age that cannot be read is ignored (RFC 9111, 5.1)",
    arguments: ["-1", "1.5", "7200x", "\"7200\"", "abc", "", "0x1f40"])
  func unreadable(_ age: String) {
    var cache = stored([age])
    let result = cache.load(.init())
    #expect(result.isFromArchive)
    #expect(result.age == 0)
  }

  @Test("Of a list, or several lines, the first counts (RFC 9111, 5.1)")
  func several() {
    #expect(stored(["7200, 0"]).reused == false)
    #expect(stored(["7200", "0"]).reused == false)
    #expect(stored(["0, 7200"]).reused)
    #expect(stored(["0", "7200"]).reused)
  }

  @Test("A Date in the past is age (RFC 9111, 4.2.3), one in the future is none")
  func dates() {
    #expect(stored([], date: -7200).reused == false)
    var old = stored([], date: -100)
    #expect(old.load(nil).age == 100)
    var ahead = stored([], date: 7200)
    #expect(ahead.load(nil).age == 0)
  }

  @Test("Of apparent age and Age, the greater counts (RFC 9111, 4.2.3)")
  func greater() {
    var one = stored(["10"], date: -100)
    #expect(one.load(nil).age == 100)
    var other = stored(["100"], date: -10)
    #expect(other.load(nil).age == 100)
  }

  @Test("The time that the response took counts (RFC 9111, 4.2.3: response_delay)")
  func delay() {
    var cache = stored(["10"], date: 0, delay: 5)
    #expect(cache.load(nil).age == 15)
    #expect(stored(["3597"], delay: 5).reused == false)
  }

  @Test(
    "Without a Date, with several, or with one that is none, age counts from when the response came (RFC 9110, 6.6.1)")
  func withoutDate() {
    var cache = stored([], date: nil)
    cache.wait(7)
    let result = cache.load(nil)
    #expect(result.age == 7)
    // It is given out with the time that it came.
    #expect(result["Date"] == cache.date(-7))
    var several = PolicyCache()
    var fields: HTTPFields = [.cacheControl: "max-age=60"]
    fields[values: .date] = [several.date(-7200), several.date()]
    several.load(.init(fields: fields))
    #expect(several.load(nil).age == 0)
  }

  @Test("A clock that is set back makes nothing younger, and nothing traps (RFC 9111, 4.2.3)")
  func clockSetBack() {
    var cache = stored(["5"])
    cache.wait(-100_000)
    #expect(cache.load(nil).age == 5)
  }

  @Test("The greatest age that is written is 2³¹ (RFC 9111, 1.2.2)")
  func greatest() {
    var cache = stored(["2147483647"])
    cache.options.mode = .offline
    cache.wait(1_000_000)
    #expect(cache.load(nil).age == 2_147_483_648)
  }
}

extension PolicyCache {
  /// Whether what is stored answers now.
  var reused: Bool {
    var copy = self
    return copy.load(.init()).isFromArchive
  }
}
