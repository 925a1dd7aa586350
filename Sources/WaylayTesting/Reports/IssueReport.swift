import IssueReporting
import Testing
import WaylayMocks

/// Says what a scope found, so that the right test fails: on the task of that test, whichever test library runs it.
enum IssueReport {
  /// Reports at a place in the source.
  static func report(_ message: String, severity: IssueSeverity = .error, at location: MockSourceLocation) {
    reportIssue(
      message, severity: severity, fileID: location.fileID, filePath: location.filePath, line: location.line, column: location.column)
    // Without a current test `reportIssue` takes it that XCTest is running. Only one of the two libraries is, and the other does nothing.
    if Test.current == nil { Issue.record(Comment(rawValue: message), sourceLocation: SourceLocation(location)) }
  }

  /// Reports at the test that runs, because there is no better place.
  static func report(_ message: String) {
    if let test = Test.current {
      Issue.record(Comment(rawValue: message), sourceLocation: test.sourceLocation)
    } else {
      reportIssue(message)
      Issue.record(Comment(rawValue: message))
    }
  }
}

extension MockScope {
  /// Ends the scope and reports what went wrong in it: requests without a stub, and required stubs without a request.
  ///
  /// - Parameters:
  ///   - wasCutShort: Whether the code threw: then stubs that it did not come to are no news.
  ///   - missesAtTest: Whether the mock was made for more than this test, and its place would say nothing about it.
  func end(wasCutShort: Bool = false, missesAtTest: Bool = false) {
    close()
    for issue in mock.issues {
      switch issue.kind {
      case .unused where wasCutShort: continue
      case .unmatched where missesAtTest, .usedUp where missesAtTest: IssueReport.report(issue.message)
      default: IssueReport.report(issue.message, at: issue.location)
      }
    }
  }
}

extension SourceLocation {
  fileprivate init(_ location: MockSourceLocation) {
    self.init(
      fileID: location.fileID.description, filePath: location.filePath.description, line: Int(clamping: location.line),
      column: Int(clamping: location.column))
  }
}
