import WaylayMocks

/// The scopes that have begun and not ended, by where their mocks were made: for messages of code that sees none.
enum OpenScopes {
  private struct State {
    var locations: [UInt64: MockSourceLocation] = [:]
    var last: UInt64 = 0
  }

  private static let state = Locked(State())

  /// The oldest first.
  static var locations: [MockSourceLocation] {
    state.withLock { $0.locations }.sorted { $0.key < $1.key }.map(\.value)
  }

  /// - Returns: What ``remove(_:)`` takes.
  static func add(_ location: MockSourceLocation) -> UInt64 {
    state.withLock { state in
      state.last += 1
      state.locations[state.last] = location
      return state.last
    }
  }

  static func remove(_ number: UInt64) {
    state.withLock { $0.locations[number] = nil }
  }
}
