import IssueReporting
import Testing
import WaylayMocks
import WaylayRecording

/// Says what a scope found, so that the right test fails: on the task of that test, whichever test library runs it.
enum IssueReport {
  /// Reports at a place in the source.
  static func report(_ message: String, severity: IssueSeverity = .error, at location: MockSourceLocation) {
    // A place in this library says nothing.
    guard location.test == nil else { return report(message) }
    XCTestFailure.withoutRemark {
      reportIssue(
        message, severity: severity, fileID: location.fileID, filePath: location.filePath, line: location.line,
        column: location.column)
    }
    // Without a current test `reportIssue` takes it that XCTest is running. Only one of the two libraries is, and the
    // other does nothing.
    if Test.current == nil { Issue.record(Comment(rawValue: message), sourceLocation: SourceLocation(location)) }
  }

  /// Reports at the test that runs, because there is no better place.
  static func report(_ message: String) {
    if let test = Test.current {
      Issue.record(Comment(rawValue: message), sourceLocation: test.sourceLocation)
    } else {
      XCTestFailure.withoutRemark { reportIssue(message) }
      Issue.record(Comment(rawValue: message))
    }
  }
}

extension MockScope {
  /// Ends the scope and reports what went wrong in it: requests without a stub, and required stubs without a request.
  ///
  /// - Parameters:
  ///   - error: What the code threw: then stubs that it did not come to are no news.
  ///   - isPrinted: Whether the test library prints that error for certain: a request without a stub that it speaks of
  ///     is not reported again.
  ///   - missesAtTest: Whether the mock was made for more than this test, and its place would say nothing about it.
  ///   - cassette: The cassette that ends with the scope.
  func end(
    throwing error: (any Error)? = nil, isPrinted: Bool = false, missesAtTest: Bool = false, cassette: Cassette? = nil
  ) {
    close()
    // What was recorded half-way is not to replace what is whole.
    if error != nil, cassette?.compares == false { cassette?.discard() } else { eject(cassette) }
    let late = lateUseReports(lateUses)
    for report in late {
      if missesAtTest { IssueReport.report(report) } else { IssueReport.report(report, at: mock.location) }
    }
    for message in stray { IssueReport.report(message, at: mock.location) }
    let remark = sharedRemark ?? ""
    var printed = isPrinted ? error.flatMap(Self.miss) : nil
    for issue in mock.issues + (cassette?.issues ?? []) {
      switch issue.kind {
      // Requests for it may be among those that went to a session of another scope.
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
    let drifts = Drift.between(old, new, cassette.options.redaction)
    guard let worst = drifts.first?.severity else { return }
    let list = drifts.prefix(50).map { "\n  \($0)" }.joined() + (drifts.count > 50 ? "\n  …" : "")
    IssueReport.report(
      "The server's responses are no longer those of the cassette \(cassette.file.lastPathComponent), which is unchanged:"
        + list, severity: worst == .error ? .error : .warning, at: cassette.location)
  }
}

extension MockScope {
  /// What a mock said of a request that it has no stub for.
  private static func miss(_ error: any Error) -> MockError? {
    (error as? URLError)?.cause(as: MockError.self) ?? error as? MockError
  }

  /// The thrown error without the report that has been made already: the error may be printed.
  func reported(_ error: any Error) -> any Error {
    guard let urlError = error as? URLError, let miss = Self.miss(error),
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
