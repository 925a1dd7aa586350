/// The requests of a mock that a pattern is for, oldest first; a test says in one call how many it wants.
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

  /// The position of the oldest.
  public var startIndex: Int { calls.startIndex }
  /// The position after the newest.
  public var endIndex: Int { calls.endIndex }
  /// The request at that position.
  public subscript(position: Int) -> RecordedCall { calls[position] }

  /// The one request there is.
  ///
  /// - Throws: ``MockError/Code/callCount`` when there is none or more than one, with what was asked instead and what
  ///   came nearest; ``MockError/Code/invalidPattern`` for a pattern that cannot be parsed.
  public func only(
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) throws -> RecordedCall {
    let location = MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    if let problem = pattern.problems.first { throw problem.located(at: location) }
    guard calls.count == 1 else {
      let report = mock.reporting { mock.disagreement(with: pattern, count: 1) }
      throw MockError(
        .callCount, report ?? "\(pattern) was asked \(calls.count) times instead of 1.", location: location)
    }
    return calls[0]
  }
}

extension MockInterceptor {
  /// The requests of that method for that URL, as a list that says in one call how many there are to be.
  ///
  /// ```swift
  /// let call = try MockInterceptor.current.requests(.post, "/orders").only()
  /// ```
  public func requests(_ method: HTTPRequest.Method, _ url: some URLPatternConvertible) -> RecordedCalls {
    requests(RequestPattern(method, url))
  }

  /// The requests for that URL, whatever their method.
  public func requests(_ url: some URLPatternConvertible) -> RecordedCalls { requests(RequestPattern(url)) }

  /// The requests that a pattern is for.
  public func requests(_ pattern: RequestPattern) -> RecordedCalls { RecordedCalls(of: self, to: pattern) }
}
