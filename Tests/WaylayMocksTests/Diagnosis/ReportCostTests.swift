import Foundation
import TestSupport
import Testing
import WaylayBase
import WaylayHAR

@testable import WaylayMocks

@Suite("The cost of a report", .timeLimit(.minutes(5)))
struct ReportCostTests {
  private static let records: String = {
    let record = #"{"id":17,"name":"Ada","email":"ada@example.com","tags":["a","b"],"note":"a text of some words"}"#
    return "[" + Array(repeating: record, count: 1_000_000 / record.utf8.count).joined(separator: ",")
  }()
  private static let json = "application/json"

  /// A long body, and a stub that does not match it.
  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let type: String
    let body: String
    let stub: Stub
    let part: String
  }

  private static func made(_ name: String, _ type: String, _ body: String, _ stub: Stub, _ part: String) -> Case {
    Case(testDescription: name, type: type, body: body, stub: stub, part: part)
  }

  static let cases: [Case] = {
    let form = Array(repeating: "name=Ada+Lovelace", count: 60_000).joined(separator: "&")
    let head = "Content-Disposition: form-data; name="
    let parts = "--b\r\n\(head)\"a\"\r\n\r\n\(records)]\r\n--b\r\n\(head)\"b\"\r\n\r\nx\r\n--b--\r\n"
    let (last, other) = (#",{"id":1}]"#, #",{"id":2}]"#)
    guard let expected = try? JSONValue(parsing: records + last) else { preconditionFailure("the records are JSON") }
    let at = "body at $[\(expected.array!.count - 1)].id  expected 1\n"
    return [
      made("a wrong path", json, records + other, Stub(.post, "/y").where(.body(.json(expected))), "not compared"),
      made("JSON", json, records + other, Stub(.post, "/x").where(.body(.json(expected))), at),
      made("a subset", json, records + other, Stub(.post, "/x").where(.body(.jsonSubset(expected))), at),
      made("a text", "text/plain", records, Stub(.post, "/x").where(.body(.text(records + " "))), "bytes)"),
      made(
        "a form", "application/x-www-form-urlencoded", form, Stub(.post, "/x").where(.body(.form(["name": "a"]))),
        "expected name=a\n"),
      made(
        "a part", "multipart/form-data; boundary=b", parts,
        Stub(.post, "/x").where(.body(.multipart(["a": .text("y"), "b": .text("z")]))), "part b  expected \"z\"\n"),
    ]
  }()

  @Test("a report on a long body searches and masks what it shows, and parses nothing", arguments: cases)
  func miss(_ example: Case) throws {
    let mock = MockInterceptor { example.stub }
    let data = Data(example.body.utf8)
    let request = URLRequest.make("POST", "https://a.b/x", body: data, headers: ["Content-Type": example.type])
    let facts = RequestFacts(InterceptedRequest(request), body: data)
    #expect(!example.stub.pattern.matches(facts))
    let examined = Locked(0)
    let text = Redaction.$examined.withValue(examined) { mock.unmatchedReport(facts, [], redirectedBy: nil) }
    #expect(examined.withLock { $0 } < 60_000 && text.utf8.count < 4_000, "\(examined.withLock { $0 }): \(text)")
    #expect(text.contains(example.part), "\(text)")
  }

  @Test("the report of an unused stub parses no long body", arguments: cases)
  func unused(_ example: Case) async throws {
    let mock = MockInterceptor {
      example.stub
      Stub(.post, "/**", .status(200))
    }
    let data = Data(example.body.utf8)
    try await mock.ask(.make("POST", "https://a.b/x", body: data, headers: ["Content-Type": example.type]))
    let examined = Locked(0)
    let issue = try #require(Redaction.$examined.withValue(examined) { mock.issues }.first)
    #expect(examined.withLock { $0 } < 60_000 && issue.message.contains("Nearest: POST https://a.b/x"), "\(issue)")
  }

  @Test("a condition on a long body that was not read is neither met nor missed by its opposite")
  func opposites() throws {
    let stub = Stub(.post, "/y").where(!.body(.json([])), .body(.json([])) || .body(.form(["a": "b"])))
    let data = Data((Self.records + "]").utf8)
    let facts = RequestFacts(InterceptedRequest(.make("POST", "https://a.b/x", body: data)), body: data)
    let found = stub.pattern.mismatches(facts)
    #expect(found.map(\.aspect) == ["path", "body", "body"])
    #expect(found.dropFirst().allSatisfy { $0.texts.actual.hasPrefix("not compared") && $0.distance == 0 })
    #expect(facts.readings.isEmpty)
  }
}
