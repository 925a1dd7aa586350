package import Testing

/// Has suites that use `URLSession.shared` run one after the other: some of them intercept it for the whole process.
package struct SharedSessionTrait: SuiteTrait, TestScoping {
  private static let turns = Turns(atOnce: 1)

  package var isRecursive: Bool { false }

  @concurrent package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    await Self.turns.take()
    defer { Self.turns.giveBack() }
    try await function()
  }
}

extension Trait where Self == SharedSessionTrait {
  /// For suites that use `URLSession.shared`. Its tests run beside each other, unless the suite is `.serialized`.
  package static var sharedSession: Self { SharedSessionTrait() }
}
