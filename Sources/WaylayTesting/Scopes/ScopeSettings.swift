import Testing
import WaylayMocks

/// What a scope's mock is made of.
struct ScopeSettings: Sendable {
  let unmatched: UnmatchedPolicy
  /// Called for each scope.
  let clock: @Sendable () -> any Clock<Duration>
  let bodyLimit: Int
  let showing: Set<String>
  var location: MockSourceLocation

  /// The same at the attribute of a test: the compiler puts a trait that is written in it at the declaration.
  func located(at test: Test) -> ScopeSettings {
    var copy = self
    copy.location = MockSourceLocation(
      fileID: location.fileID, filePath: location.filePath, line: UInt(clamping: test.sourceLocation.line),
      column: UInt(clamping: test.sourceLocation.column))
    return copy
  }

  /// The same for a trait that knows no place: what is said of it names the test.
  func named(after test: Test) -> ScopeSettings {
    var copy = self
    copy.location.test = "\(test.sourceLocation.fileID):\(test.sourceLocation.line)"
    return copy
  }

  /// A mock inside the current scope's, if there is one: its stubs are asked first.
  func makeMock(_ stubs: [Stub]) -> MockInterceptor {
    let outer = MockScope.surrounding
    return MockInterceptor(
      within: outer?.mock, unmatched: outer?.cassette == nil ? unmatched : .passThrough,
      environment: MockEnvironment(clock: clock(), context: TaskContext()),
      bodyLimit: bodyLimit, showing: showing, location: location, stubs: stubs)
  }
}
