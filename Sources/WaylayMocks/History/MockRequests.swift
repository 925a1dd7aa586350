import IssueReporting

/// Requests that a mock received, oldest first; one call checks their number.
///
/// ```swift
/// let order = try mock.requests(.post, "/orders").only().json(Order.self)
/// #expect(mock.requests("/login").isEmpty)
/// ```
public struct MockRequests: Sendable, RandomAccessCollection {
  private let mock: MockInterceptor
  private let pattern: RequestPattern
  private let requests: [MockRequest]

  fileprivate init(of mock: MockInterceptor, matching pattern: RequestPattern) {
    self.mock = mock
    self.pattern = pattern
    requests = mock.received.filter { pattern.matches($0.facts) }
    if let problem = pattern.problems.first { reportIssue(problem.message) }
  }

  /// The position of the oldest request.
  public var startIndex: Int { requests.startIndex }
  /// The position after the newest request.
  public var endIndex: Int { requests.endIndex }
  /// The request at the given position.
  public subscript(position: Int) -> MockRequest { requests[position] }

  /// Returns the only request.
  ///
  /// - Throws: `MockError.requestCount` if there is none or more than one, with the requests that came instead and
  ///   the closest one; `MockError.invalidPattern` for a pattern that cannot be parsed.
  public func only(
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) throws -> MockRequest {
    let location = MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    if let problem = pattern.problems.first { throw problem.located(at: location) }
    guard requests.count == 1 else {
      let report = mock.reporting { mock.disagreement(with: pattern, count: 1) }
      throw MockError(
        .requestCount, report ?? "\(pattern) was requested \(requests.count) times, expected 1.", location: location)
    }
    return requests[0]
  }
}

extension MockInterceptor {
  /// All requests that the mock received, oldest first, including requests that no stub matches. Beyond 50 000 requests
  /// or 64 MiB of bodies, the oldest are dropped; the counts of stubs include them.
  public var requests: MockRequests { requests(RequestPattern(.any)) }

  /// Returns the requests with the given method for the given URL, oldest first.
  ///
  /// ```swift
  /// let order = try MockInterceptor.current.requests(.post, "/orders").only()
  /// ```
  public func requests(_ method: HTTPRequest.Method, _ url: some URLPatternConvertible) -> MockRequests {
    requests(RequestPattern(method, url))
  }

  /// Returns the requests for the given URL, with any method.
  public func requests(_ url: some URLPatternConvertible) -> MockRequests { requests(RequestPattern(url)) }

  /// Returns the requests that match a pattern.
  public func requests(_ pattern: RequestPattern) -> MockRequests { MockRequests(of: self, matching: pattern) }

  var received: [MockRequest] { state.withLock { $0.requests } }
}
