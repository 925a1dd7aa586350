import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite("Projections of many fields", .timeLimit(.minutes(10)))
struct ProjectionTests {
  /// Field names that take part in hashing and comparing as any others do.
  private static func fields(_ count: Int, _ name: (Int) -> String) throws -> HTTPFields {
    var fields = HTTPFields()
    for number in 0..<count {
      fields.append(HTTPField(name: try #require(HTTPField.Name(name(number))), value: "v\(number)"))
    }
    return fields
  }

  /// The processor's time that this thread takes: what else the machine does meanwhile does not count.
  private static func time(_ work: () -> Void) -> Duration {
    func now() -> Duration {
      var time = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
    let before = now()
    work()
    return now() - before
  }

  @Test("the head that an app sees takes time in proportion to its fields", .heavy)
  func head() throws {
    let (few, many) = (try Self.fields(2_000) { "X-\($0)" }, try Self.fields(40_000) { "X-\($0)" })
    let small =
      (0..<3).map { _ in Self.time { _ = InterceptedResponse(fields: few, url: .example).head } }.min() ?? .zero
    let large =
      (0..<3).map { _ in Self.time { _ = InterceptedResponse(fields: many, url: .example).head } }.min() ?? .zero
    // Twenty times the fields: four hundred times the time, where each is compared with each.
    #expect(large < small * 120, "\(small) and \(large)")
  }

  @Test("a field that comes 40 000 times is joined in time in proportion to it", .heavy)
  func repeated() throws {
    let many = try Self.fields(40_000) { $0.isMultiple(of: 2) ? "X-Same" : "x-same" }
    let head = InterceptedResponse(fields: many, url: .example).head
    #expect(head.allHeaderFields.count == 1)
    #expect(head.value(forHTTPHeaderField: "X-Same")?.hasPrefix("v0, v1, v2, ") == true)
  }

  @Test("a field keeps the letters in which it came first")
  func letters() throws {
    for filler in [0, 100] {
      var fields = try Self.fields(filler) { "F-\($0)" }
      for (name, value) in [("X-A", "1"), ("x-b", "2"), ("x-a", "3"), ("X-B", "4"), ("X-A", "5")] {
        fields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
      }
      let head = InterceptedResponse(fields: fields, url: .example).head.allHeaderFields
      #expect(head["X-A"] as? String == "1, 3, 5")
      #expect(head["x-b"] as? String == "2, 4")
      #expect(head.count == filler + 2)
    }
  }
}
