import Testing
import WaylayHAR
import WaylayMocks

/// Attaches the exchanges of a failing test to its report.
enum Traffic {
  /// Runs a test in its scope, and attaches the exchanges of the scope if the test fails.
  static func attached(
    of scope: MockScope, _ test: Test, _ testCase: Test.Case?,
    performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    // Only the first run of an exploration reports its issues.
    guard FaultRun.current?.isFirst != false else { return try await function() }
    let hasFailed = Locked(false)
    let trait = IssueHandlingTrait.compactMapIssues { issue in
      guard issue.isFailure else { return issue }
      let isFirst = hasFailed.withLock { !exchange(&$0, with: true) }
      guard isFirst, !scope.mock.requests.isEmpty else { return issue }
      var issue = issue
      issue.comments.append(Comment(rawValue: remark))
      return issue
    }
    do { try await trait.provideScope(for: test, testCase: testCase, performing: function) } catch {
      attach(scope, test)
      throw error
    }
    if hasFailed.withLock({ $0 }) { attach(scope, test) }
  }

  private static func attach(_ scope: MockScope, _ test: Test) {
    let archive = scope.mock.traffic(redaction: scope.cassette?.options.redaction)
    guard !archive.entries.isEmpty else { return }
    let place = test.sourceLocation
    Attachment.record([UInt8](archive.data()), named: "traffic.har", sourceLocation: place)
    Attachment.record([UInt8](text(archive).utf8), named: "traffic.txt", sourceLocation: place)
  }

  /// For each exchange, a `curl` command that repeats the request, then the response.
  private static func text(_ archive: HAR) -> String {
    archive.entries.map { entry in
      let (response, body) = (entry.response, entry.response.body)
      var lines = [entry.request.curlCommand(isMultiline: false)]
      if let error = entry.extensions["_error"]?.string { lines.append("failed: \(error)") }
      if response.status > 0 { lines.append("\(response.status) after \(Int(entry.time)) ms") }
      lines += response.headers.map { "\($0.name): \($0.value)" }
      if let text = body.text { lines += ["", String(text.prefix(4096))] } else { lines.append("\(body.size) bytes") }
      return lines.joined(separator: "\n") + "\n"
    }.joined(separator: "\n")
  }

  /// Whether attachments are kept: always in Xcode, in `swift test` with `--attachments-path`.
  private static let isKept =
    ProcessInfo.processInfo.arguments.contains { $0.contains("attachments-path") }
    || ProcessInfo.processInfo.environment["XCTestSessionIdentifier"] != nil

  private static let remark =
    isKept
    ? "The exchanges of this test are attached: traffic.txt, and traffic.har for waylay watch."
    : "To see the exchanges of this test, in traffic.txt and traffic.har: swift test --attachments-path .build/attachments"
}
