import Foundation
import TestSupport
import Testing

/// What a run of tests in another process reported, read from its stream of events.
struct TestReport: Sendable {
  struct Issue: Sendable, Hashable {
    /// The display name of the test; `nil` where no test was current.
    var test: String?
    var file: String
    var line: Int
    var isFailure: Bool
    var message: String
  }

  /// The display names of the tests and suites that ran to their end.
  private(set) var ended: Set<String> = []
  private(set) var issues: [Issue] = []
  private(set) var exitCode: Int32 = 0
  private(set) var output = ""

  /// The tests and suites with an issue that makes them fail.
  var failed: Set<String?> { Set(issues.filter(\.isFailure).map(\.test)) }

  /// The issues of one test or suite.
  func issues(of test: String?) -> [Issue] { issues.filter { $0.test == test } }

  /// Runs those tests of this bundle whose names match, with the fixtures enabled.
  static func running(
    _ filter: String, _ more: String..., environment: [String: String] = [:]
  ) async throws -> TestReport {
    let bundle = try #require(Program.tests)
    return try await Program.withTemporaryFile { file in
      let (code, output) = try await bundle.run(
        [
          "--testing-library", "swift-testing", "--filter", filter, "--event-stream-output-path", file.path,
          "--event-stream-version",
          "6.3",
        ] + more,
        environment: environment.merging([Fixtures.variable: "1"]) { $1 })
      return try TestReport(Data(contentsOf: file), code, output)
    }
  }

  private init(_ events: Data, _ code: Int32, _ output: String) throws {
    (exitCode, self.output) = (code, output)
    var names: [String: String] = [:]
    for line in events.split(separator: UInt8(ascii: "\n")) {
      let record = try JSONDecoder().decode(Record.self, from: Data(line))
      if record.kind == "test", let id = record.payload.id {
        names[id] = record.payload.displayName ?? record.payload.name
      }
      let test = record.payload.testID.map { names[$0] ?? $0 }
      if record.payload.kind == "testEnded", let test { ended.insert(test) }
      guard record.payload.kind == "issueRecorded", let issue = record.payload.issue else { continue }
      let place = issue.sourceLocation
      issues.append(
        Issue(
          test: test, file: place?.fileID ?? "", line: place?.line ?? 0, isFailure: issue.severity != "warning",
          message: (record.payload.messages ?? []).map(\.text).joined(separator: "\n")))
    }
  }

  private struct Record: Decodable {
    struct Payload: Decodable {
      var id: String?
      var kind: String
      var name: String?
      var displayName: String?
      var testID: String?
      var issue: Issue?
      var messages: [Message]?
    }
    struct Issue: Decodable {
      var severity: String?
      var sourceLocation: Place?
    }
    struct Place: Decodable {
      var fileID: String
      var line: Int
    }
    struct Message: Decodable {
      var text: String
    }

    var kind: String
    var payload: Payload
  }
}

/// The lines of a source file that a comment `issue: name` marks.
struct Markers {
  private let lines: [Substring]

  init(in file: String, beside path: String = #filePath) throws {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().deletingLastPathComponent()
    let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
    lines = text.split(separator: "\n", omittingEmptySubsequences: false)
  }

  subscript(_ name: String) -> Int? {
    lines.firstIndex { $0.hasSuffix("// issue: \(name)") }.map { $0 + 1 }
  }
}
