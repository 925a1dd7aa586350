import IssueReporting

#if CORELIBS_FOUNDATION
  import XCTest

  /// Failures of XCTest without a remark that is wrong here: to each, the issue library adds a paragraph on tests that
  /// run in a host application, unless it finds the test's own function on the stack. On Linux there are no host
  /// applications, and it never finds one.
  enum XCTestFailure {
    /// Runs code that reports, without the remark. Reporters that a test has chosen are left as they are.
    static func withoutRemark<Result>(_ report: () throws -> Result) rethrows -> Result {
      try withIssueReporters(reporters, operation: report)
    }

    /// The same for what is asynchronous.
    nonisolated(nonsending) static func withoutRemark<Result>(
      _ report: () async throws -> Result
    ) async rethrows -> Result {
      try await withIssueReporters(reporters, operation: report)
    }

    private static var reporters: [any IssueReporter] {
      IssueReporters.current.map { $0 is _DefaultReporter ? PlainReporter() : $0 }
    }

    private struct PlainReporter: IssueReporter {
      func reportIssue(
        _ message: @autoclosure () -> String?, severity: IssueSeverity, fileID: StaticString, filePath: StaticString,
        line: UInt, column: UInt
      ) {
        guard isTesting, case .xcTest? = TestContext.current else {
          _DefaultReporter.default.reportIssue(
            message(), severity: severity, fileID: fileID, filePath: filePath, line: line, column: column)
          return
        }
        XCTFail(message() ?? "", file: filePath, line: line)
      }
    }
  }
#else
  /// The issue library knows where tests run, and its remark on host applications is right here.
  enum XCTestFailure {
    static func withoutRemark<Result>(_ report: () throws -> Result) rethrows -> Result { try report() }

    nonisolated(nonsending) static func withoutRemark<Result>(
      _ report: () async throws -> Result
    ) async rethrows -> Result {
      try await report()
    }
  }
#endif
