import IssueReporting

/// An issue that a library has reported, in place of a failure of the test.
package struct Report: Sendable {
  package let text: String
  package let line: Int
}

/// The issues that are reported during some work. None of them fails the test, so it has to expect each.
package func collectReports(of work: () async throws -> Void) async rethrows -> [Report] {
  let found = Log<Report>()
  try await withIssueReporters([ReportLog(found: found)], operation: work)
  return found.all
}

private struct ReportLog: IssueReporter {
  let found: Log<Report>

  func reportIssue(
    _ message: @autoclosure () -> String?, severity: IssueSeverity, fileID: StaticString, filePath: StaticString,
    line: UInt, column: UInt
  ) {
    let text = message() ?? ""
    Recording.note(text)
    found.add(Report(text: text, line: Int(line)))
  }
}
