extension MockInterceptor {
  /// Every request the mock was asked, oldest first; also those that no stub was for.
  public var calls: [RecordedCall] { state.withLock { $0.calls } }

  /// The requests that a pattern is for, oldest first.
  public func calls(to pattern: RequestPattern) -> [RecordedCall] {
    calls.filter { pattern.matches($0.facts) }
  }

  /// The requests of that method for that URL, oldest first.
  public func calls(to method: HTTPRequest.Method, _ url: some URLPatternConvertible) -> [RecordedCall] {
    calls(to: RequestPattern(method, url))
  }

  /// The requests for that URL, oldest first.
  public func calls(to url: some URLPatternConvertible) -> [RecordedCall] {
    calls(to: RequestPattern(url))
  }
}
