import Foundation
import TestOrigin

/// What a scene saw, printed as a table.
final class Report {
  private let title: String
  private var rows: [(what: String, value: String)] = []
  private(set) var isAsExpected = true

  init(_ title: String) {
    self.title = title
  }

  /// Notes what was sent or came back.
  func note(_ what: String, _ value: String) {
    rows.append((what, value))
  }

  /// Notes a request as the server received it.
  func note(_ request: TestOrigin.Request, fields: [String] = []) {
    let extra = fields.flatMap { name in request[name].map { "\(name): \($0)" } }
    note("server received", (["\(request.method) \(request.target)"] + extra).joined(separator: ", "))
  }

  /// Notes a check and how it came out.
  func expect(_ what: String, was value: String, _ holds: Bool) {
    rows.append((holds ? "✓ expected" : "✗ expected", holds ? what : "\(what), but saw \(value)"))
    if !holds { isAsExpected = false }
  }

  func expect<Value: Equatable>(_ what: String, _ value: Value, _ wanted: Value) {
    expect(what, was: "\(value)", value == wanted)
  }

  func print() {
    Swift.print("── \(title)")
    let width = rows.map(\.what.count).max() ?? 0
    for row in rows {
      let lines = row.value.split(separator: "\n", omittingEmptySubsequences: false)
      for (index, line) in lines.enumerated() {
        let label = index == 0 ? row.what : ""
        Swift.print("   \(label.padding(toLength: width, withPad: " ", startingAt: 0))  \(line)")
      }
    }
    Swift.print("")
  }
}
