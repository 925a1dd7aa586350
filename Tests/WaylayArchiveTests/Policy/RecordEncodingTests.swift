import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import WaylayArchive

@Suite("A record's binary form", .timeLimit(.minutes(10)))
struct RecordEncodingTests {
  /// Numbers that are the same in every run.
  private struct Numbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
      return mixed ^ (mixed >> 31)
    }
  }

  private func records() -> [CacheRecord] {
    var cache = PolicyCache()
    cache.load(
      .init(fields: [.cacheControl: "max-age=100, immutable", .eTag: "\"1\"", .vary: "Foo, Bar"]), [.accept: "x"])
    cache.load(
      .init(fields: [.cacheControl: "no-cache", .lastModified: cache.date(-100), .vary: "*"]),
      url: "http://example.com/b")
    cache.load(
      .init(
        status: 206,
        fields: [.contentRange: "bytes 2-5/*", .eTag: "\"ü\"", .cacheControl: "max-age=1, stale-if-error=2"]),
      url: "http://example.com/c")
    cache.load(.init(status: 404, fields: [.expires: "0"]), "HEAD", url: "http://example.com/d")
    return ["a", "b", "c", "d"].flatMap { cache.records("http://example.com/" + $0) }
  }

  @Test("What is written is read again as it was")
  func roundTrip() {
    var all = records()
    #expect(all.count == 4)
    all[0].initialAge = .max
    all[0].responseTime = CacheTime(milliseconds: .max)
    all[1].requestTime = CacheTime(milliseconds: .min)
    for record in all { #expect(CacheRecord(decoding: record.encoded()) == record) }
  }

  @Test("It is small: a head of ordinary size takes little more than its fields")
  func size() {
    var cache = PolicyCache()
    let fields: HTTPFields = [
      .cacheControl: "max-age=100", .eTag: "\"1\"", .contentType: "text/html", .date: cache.date(),
    ]
    cache.load(.init(fields: fields))
    let text = fields.reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count }
    #expect(cache.records()[0].encoded().count < text + 60)
  }

  @Test("Another version, a cut and an addition are refused")
  func refused() {
    for record in records() {
      let bytes = record.encoded()
      #expect(CacheRecord(decoding: []) == nil)
      for version: UInt8 in [0, 1, 2, 4] { #expect(CacheRecord(decoding: [version] + bytes.dropFirst()) == nil) }
      for count in bytes.indices { #expect(CacheRecord(decoding: Array(bytes.prefix(count))) == nil) }
      #expect(CacheRecord(decoding: bytes + [0]) == nil)
    }
  }

  @Test("Damage never traps, neither in reading nor in deciding", .heavy)
  func damage() {
    var numbers = Numbers(state: 6)
    let samples = records().map { $0.encoded() }
    let policy = PolicyCache().policy
    let requests = [
      CacheRequest(method: "GET", url: nil),
      CacheRequest(method: "GET", url: nil, fields: [.range: "bytes=0-5", .cacheControl: "max-stale"]),
      CacheRequest(
        method: "HEAD", url: nil, fields: [.ifNoneMatch: "\"1\"", .cacheControl: "min-fresh=9999999999999"]),
      CacheRequest(
        method: "GET", url: nil, fields: [.range: "bytes=-9223372036854775807", .accept: "x"],
        cachePolicy: .returnCacheDataElseLoad),
    ]
    var accepted = 0
    for round in 0..<Sizes.of(200_000, small: 6_000) {
      var bytes = samples[round % samples.count]
      for _ in 0..<Int.random(in: 1...4, using: &numbers) {
        let index = Int.random(in: 0..<bytes.count, using: &numbers)
        switch UInt8.random(in: 0..<4, using: &numbers) {
        case 0: bytes[index] = .random(in: .min ... .max, using: &numbers)
        case 1: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
        case 2: bytes.removeSubrange(index..<min(bytes.count, index + 3))
        default: bytes.insert(contentsOf: [0xFF, 0xFF, 0xFF, 0xFF, 0x7F], at: index)
        }
        if bytes.isEmpty { break }
      }
      guard let record = CacheRecord(decoding: bytes) else { continue }
      accepted += 1
      let request = requests[round % requests.count]
      let now = CacheTime(milliseconds: Int64(truncatingIfNeeded: numbers.next()))
      let decision = policy.decide(request, records: [record], now: now)
      if case .serve(let answer) = decision.action { _ = policy.head(of: answer, record: record, now: now) }
      let response = ArchivePolicy.Response(
        status: round % 3 == 0 ? 304 : 206, fields: [.eTag: "\"1\"", .contentRange: "bytes 6-9/10"], requestTime: now,
        responseTime: now)
      _ = policy.receive(response, for: request, decision, records: [record])
    }
    #expect(accepted > Sizes.of(1000, small: 30))
  }

  @Test("Header values that nobody would write never trap", .heavy)
  func headers() {
    var numbers = Numbers(state: 9)
    let words = [
      "max-age", "=", "\"", "\\", ",", " ", ";", "no-cache", "99999999999999999999", "-", "*", "W/", "bytes", "/",
      "Sun, 06 Nov 1994 08:49:37 GMT",
      "Sunday, 06-Nov-94", "0", "\t", "é", "q=0.", "s-maxage=1", "private",
    ]
    let names: [HTTPField.Name] = [
      .cacheControl, .expires, .date, .eTag, .lastModified, .vary, .contentRange, .contentLength,
      HTTPField.Name("Age")!, .range,
      .ifNoneMatch, .ifRange, .ifModifiedSince, .acceptLanguage, .contentLocation, .location, .connection,
    ]
    let policy = PolicyCache().policy
    let now = CacheTime(seconds: 1_795_262_400)
    for round in 0..<Sizes.of(20_000, small: 4000) {
      func value() -> String {
        (0..<Int.random(in: 0...6, using: &numbers)).map { _ in words.randomElement(using: &numbers) ?? "" }.joined()
      }
      var requestFields = HTTPFields()
      var fields: HTTPFields = [.vary: "Accept-Language"]
      for _ in 0..<3 {
        requestFields.append(HTTPField(name: names.randomElement(using: &numbers) ?? .range, value: value()))
        fields.append(HTTPField(name: names.randomElement(using: &numbers) ?? .vary, value: value()))
      }
      let request = CacheRequest(
        method: round % 5 == 0 ? "POST" : "GET", url: URL(string: "http://a/b"), fields: requestFields)
      let response = ArchivePolicy.Response(
        status: round % 2 == 0 ? 200 : 206, fields: fields, requestTime: now, responseTime: now)
      guard case .store(let record) = policy.storability(of: response, to: request) else { continue }
      let decision = policy.decide(request, records: [record], now: now)
      _ = policy.receive(response, for: request, decision, records: [record])
      _ = record.completed(bodyLength: 3) ?? record.truncated(at: 3)
      #expect(CacheRecord(decoding: record.encoded()) == record)
    }
  }
}
