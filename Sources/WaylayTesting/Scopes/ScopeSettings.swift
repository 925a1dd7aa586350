import Testing
import WaylayMocks

/// What a scope's mock is made of.
struct ScopeSettings: Sendable {
  let unmatched: UnmatchedPolicy
  let clock: any Clock<Duration>
  var location: MockSourceLocation

  /// The same at the attribute of a test: the compiler puts a trait that is written in it at the declaration.
  func located(at test: Test) -> ScopeSettings {
    var copy = self
    copy.location = MockSourceLocation(
      fileID: location.fileID, filePath: location.filePath, line: UInt(clamping: test.sourceLocation.line),
      column: UInt(clamping: test.sourceLocation.column))
    return copy
  }

  /// A mock inside the current scope's, if there is one: its stubs are asked first.
  func makeMock(_ stubs: [Stub]) -> MockInterceptor {
    let outer = MockScope.current.flatMap { $0.isEnded ? nil : $0.mock }
    return MockInterceptor(
      within: outer, unmatched: unmatched, environment: MockEnvironment(clock: clock, context: TaskContext()), location: location,
      stubs: stubs)
  }
}
