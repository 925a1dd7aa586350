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
      A session of the mock made at \(location) was used \(count == 1 ? "once" : "\(count) times") after its scope \
      ended, so its requests fail. A global, a static or an object that outlives its test holds the session. Create \
      the session in each test, or pass it to the code as a parameter. If a client in a `static let` cannot be \
      changed, create it with its own session, and pass that session to each test with `.mocked(hardWiredSessions: …)`.
      """
    }
  }
}
