import IssueReporting

#if CORELIBS_FOUNDATION
  import XCTest

  /// Reports XCTest failures without a paragraph on host applications, which the issue library adds unless it finds the
  /// test function on the stack. On Linux there are no host applications, and it never finds the function.
  enum XCTestFailure {
    /// Runs a reporting operation without the paragraph. Reporters set by a test stay unchanged.
    static func withoutRemark<Result>(_ report: () throws -> Result) rethrows -> Result {
      try withIssueReporters(reporters, operation: report)
    }

    /// The asynchronous variant.
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
  /// On Apple platforms, the paragraph on host applications is correct.
  enum XCTestFailure {
    static func withoutRemark<Result>(_ report: () throws -> Result) rethrows -> Result { try report() }

    nonisolated(nonsending) static func withoutRemark<Result>(
      _ report: () async throws -> Result
    ) async rethrows -> Result {
      try await report()
    }
  }
#endif
