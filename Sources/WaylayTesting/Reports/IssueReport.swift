import IssueReporting
import Testing
import WaylayMocks
import WaylayRecording

/// Reports the issues of a scope in the test of the current task, for Swift Testing and XCTest.
enum IssueReport {
  /// Reports an issue at a source location.
  static func report(_ message: String, severity: IssueSeverity = .error, at location: MockSourceLocation) {
    // Report at the test instead of a location inside this library.
    guard location.test == nil else { return report(message) }
    XCTestFailure.withoutRemark {
      reportIssue(
        message, severity: severity, fileID: location.fileID, filePath: location.filePath, line: location.line,
        column: location.column)
    }
    // Without a current test, `reportIssue` assumes XCTest. Report to both libraries: only the running one records.
    if Test.current == nil { Issue.record(Comment(rawValue: message), sourceLocation: SourceLocation(location)) }
  }

  /// Reports an issue at the declaration of the running test, in the absence of a better location.
  static func report(_ message: String, severity: Issue.Severity = .error) {
    if let test = Test.current {
      Issue.record(Comment(rawValue: message), severity: severity, sourceLocation: test.sourceLocation)
    } else {
      XCTestFailure.withoutRemark { reportIssue(message) }
      Issue.record(Comment(rawValue: message))
    }
  }
}

extension MockScope {
  /// Ends the scope and reports its issues: requests without a stub, and required stubs without a request.
  ///
  /// - Parameters:
  ///   - error: The error that the code threw. Unused stubs are then not reported.
  ///   - isPrinted: Whether the test library certainly prints that error: an unmatched request in it is not reported
  ///     again.
  ///   - missesAtTest: Whether to report unmatched requests at the test, because the mock's location serves several
  ///     tests.
  ///   - cassette: The cassette that ends with the scope.
  func end(
    throwing error: (any Error)? = nil, isPrinted: Bool = false, missesAtTest: Bool = false, cassette: Cassette? = nil
  ) {
    close()
    // Do not replace a complete recording with a partial one.
    if error != nil, cassette?.compares == false { cassette?.discard() } else { eject(cassette) }
    let late = lateUseReports(lateUses)
    for report in late {
      if missesAtTest { IssueReport.report(report) } else { IssueReport.report(report, at: mock.location) }
    }
    for message in stray { IssueReport.report(message, at: mock.location) }
    let remark = sharedRemark ?? ""
    var printed = isPrinted ? error?.first(as: MockError.self) : nil
    for issue in mock.issues + (cassette?.issues ?? []) {
      switch issue.kind {
      // Requests for the stub may have gone to the session of an ended scope.
      case .unused where error != nil || !late.isEmpty: continue
      case .unmatched where printed?.message == issue.message, .exhausted where printed?.message == issue.message:
        printed = nil
      case .unmatched where missesAtTest, .exhausted where missesAtTest: IssueReport.report(issue.message)
      default:
        let message = issue.kind == .unused ? issue.message + remark : issue.message
        IssueReport.report(message, severity: issue.isWarning ? .warning : .error, at: issue.location)
      }
    }
  }

  private func eject(_ cassette: Cassette?) {
    guard let cassette else { return }
    do { try cassette.eject() } catch {
      IssueReport.report((error as? MockError)?.message ?? "\(error)", at: cassette.location)
    }
    guard let (old, new) = cassette.comparison() else { return }
    let drifts = Drift.between(old, new, cassette.options.redaction, ignoring: cassette.options.ignoredPaths)
    guard let worst = drifts.first?.severity else { return }
    let list = drifts.prefix(50).map { "\n  \($0)" }.joined() + (drifts.count > 50 ? "\n  …" : "")
    IssueReport.report(
      "The server's responses are no longer those of the cassette \(cassette.file.lastPathComponent), which is unchanged:"
        + list, severity: worst == .error ? .error : .warning, at: cassette.location)
  }
}

extension MockScope {
  /// The thrown error without the report, which was reported already: the test library may print the error.
  func reported(_ error: any Error) -> any Error {
    guard let urlError = error as? URLError, let miss = error.first(as: MockError.self),
      miss.code == .unmatched || miss.code == .exhausted,
      let line = miss.message.split(separator: "\n").first
    else { return error }
    var userInfo = urlError.userInfo
    userInfo[NSLocalizedDescriptionKey] = "\(line) (reported at \(miss.location ?? mock.location))"
    return URLError(urlError.code, userInfo: userInfo)
  }
}

extension SourceLocation {
  fileprivate init(_ location: MockSourceLocation) {
    self.init(
      fileID: location.fileID.description, filePath: location.filePath.description, line: Int(clamping: location.line),
      column: Int(clamping: location.column))
  }
}
