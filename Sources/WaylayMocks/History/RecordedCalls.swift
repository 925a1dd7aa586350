/// The requests of a mock that match a pattern, oldest first; one call checks their number.
///
/// ```swift
/// let order = try mock.requests(.post, "/orders").only().json(Order.self)
/// #expect(mock.requests("/login").isEmpty)
/// ```
public struct RecordedCalls: Sendable, RandomAccessCollection {
  private let mock: MockInterceptor
  private let pattern: RequestPattern
  private let calls: [RecordedCall]

  init(of mock: MockInterceptor, to pattern: RequestPattern) {
    self.mock = mock
    self.pattern = pattern
    calls = mock.calls(to: pattern)
  }

  /// The position of the oldest request.
  public var startIndex: Int { calls.startIndex }
  /// The position after the newest request.
  public var endIndex: Int { calls.endIndex }
  /// The request at the given position.
  public subscript(position: Int) -> RecordedCall { calls[position] }

  /// Returns the only request.
  ///
  /// - Throws: ``MockError/Code/callCount`` if there is none or more than one, with the requests that came instead and
  ///   the closest one; ``MockError/Code/invalidPattern`` for a pattern that cannot be parsed.
  public func only(
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) throws -> RecordedCall {
    let location = MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    if let problem = pattern.problems.first { throw problem.located(at: location) }
    guard calls.count == 1 else {
      let report = mock.reporting { mock.disagreement(with: pattern, count: 1) }
      throw MockError(
        .callCount, report ?? "\(pattern) was requested \(calls.count) times, expected 1.", location: location)
    }
    return calls[0]
  }
}

extension MockInterceptor {
  /// Returns the requests with the given method for the given URL, as a list that can check their number in one call.
  ///
  /// ```swift
  /// let call = try MockInterceptor.current.requests(.post, "/orders").only()
  /// ```
  public func requests(_ method: HTTPRequest.Method, _ url: some URLPatternConvertible) -> RecordedCalls {
    requests(RequestPattern(method, url))
  }

  /// Returns the requests for the given URL, with any method.
  public func requests(_ url: some URLPatternConvertible) -> RecordedCalls { requests(RequestPattern(url)) }

  /// Returns the requests that match a pattern.
  public func requests(_ pattern: RequestPattern) -> RecordedCalls { RecordedCalls(of: self, to: pattern) }
}
