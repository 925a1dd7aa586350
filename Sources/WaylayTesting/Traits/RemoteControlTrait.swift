public import Testing
public import WaylayMocks
import WaylayRemoteControl

/// A trait that gives each test its own `RemoteControl`, and verifies it at the end, if the app was invited.
///
/// ```swift
/// @Test(.remoteControlled { Stub(.get, "/orders", .json([])) })
/// func orders() async throws {
///   let remote = try #require(RemoteControl.current)
///   try launch(with: remote.invitation)
/// }
/// ```
public struct RemoteControlTrait: TestTrait, SuiteTrait, TestScoping {
  let location: MockSourceLocation
  let stubs: @Sendable () throws -> [Stub]

  /// `true`: each test of a suite has its own control.
  public var isRecursive: Bool { true }

  /// Returns the trait itself, for each case of a test.
  public func scopeProvider(for test: Test, testCase: Test.Case?) -> RemoteControlTrait? {
    testCase == nil ? nil : self
  }

  /// Runs a test case with a control.
  @concurrent public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await withRemoteControl(
      fileID: location.fileID, filePath: location.filePath, line: location.line, column: location.column, stubs
    ) { _ in try await function() }
  }
}

extension Trait where Self == RemoteControlTrait {
  /// A `RemoteControl` for the test, or for each test in the suite.
  ///
  /// - Parameters:
  ///   - fileID: The file to report issues at: the caller's.
  ///   - filePath: The path of that file.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  ///   - stubs: The stubs that apply from the app's first request on; later ones take precedence.
  public static func remoteControlled(
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    @StubBuilder _ stubs: @escaping @Sendable () throws -> [Stub] = { [] }
  ) -> RemoteControlTrait {
    RemoteControlTrait(
      location: MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column), stubs: stubs)
  }
}
