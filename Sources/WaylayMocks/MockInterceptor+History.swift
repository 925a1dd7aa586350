extension MockInterceptor {
  /// All requests that the mock received, oldest first, including those that no stub matches.
  public var calls: [RecordedCall] { state.withLock { $0.calls } }

  /// Returns the requests that match a pattern, oldest first.
  public func calls(to pattern: RequestPattern) -> [RecordedCall] {
    calls.filter { pattern.matches($0.facts) }
  }

  /// Returns the requests with the given method for the given URL, oldest first.
  public func calls(to method: HTTPRequest.Method, _ url: some URLPatternConvertible) -> [RecordedCall] {
    calls(to: RequestPattern(method, url))
  }

  /// Returns the requests for the given URL, oldest first.
  public func calls(to url: some URLPatternConvertible) -> [RecordedCall] {
    calls(to: RequestPattern(url))
  }
}
