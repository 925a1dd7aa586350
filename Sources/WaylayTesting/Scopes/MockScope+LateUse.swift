import WaylayMocks

extension MockScope {
  /// Has requests of this scope's sessions counted when they come after its end: by the scope that they come in, which
  /// has to say so.
  func watchForLateUse() {
    registry.afterInvalidation = { [location = mock.location] _ in
      // Outside of a scope, and in what this one left running, the error of the request says it all.
      guard let current = Self.current, !current.isEnded else { return }
      current.noteLateUse(of: location)
    }
  }

  /// What is said of sessions that come from scopes which have ended; empty when there were none.
  func lateUseReports(_ uses: [MockSourceLocation: Int]) -> [String] {
    uses.sorted { "\($0.key)" < "\($1.key)" }.map { location, count in
      """
      A session of the mock made at \(location) was used \(count == 1 ? "once" : "\(count) times") after its scope had \
      ended: its requests fail. It \
      is kept in a global, in a static or in an object that outlives its test. Make it anew in each test, or let the \
      code take it as a \
      parameter. A client in a `static let` that cannot be changed: make it with a session of its own, and give that \
      to each test by \
      `.mocked(hardWiredSessions: …)`.
      """
    }
  }
}
