/// A deviation from the expectations of a mock's stubs or of a cassette, which fails a test.
public struct MockIssue: Sendable {

  /// The kind of the issue.
  public let kind: OpenEnum<MockIssue>
  /// The deviation, and how to correct it.
  public let message: String
  /// Where the stub was written; for a request that no stub matches, where the mock was made.
  public let location: MockSourceLocation
  /// Whether the issue is a warning, which does not fail the test.
  package var isWarning = false
}

extension MockIssue: CustomStringConvertible {
  /// The message with its location.
  public var description: String { "\(location): \(message)" }
}

extension MockInterceptor {
  /// Deviations from the stubs' expectations: requests that no stub matches, stubs with mistakes, and unused required
  /// stubs.
  ///
  /// One mistake is one issue: a stub that the report of an unmatched request names as the nearest is not listed again.
  /// The list covers this mock's own stubs and requests; read it when everything that uses the mock is done.
  public var issues: [MockIssue] {
    let (entries, requests, noted) = state.withLock { state in
      let entries = state.entries.filter { entry in !entry.isReported.withLock { $0 } }
      return (entries.map { ($0.stub, $0.uses) }, state.requests, state.issues)
    }
    // Finding the closest request is slow, so do it for the first 20 stubs only.
    var left = 20
    let found = reporting {
      entries.flatMap { stub, uses in
        MockIssue.issues(of: stub, uses: uses) {
          left -= 1
          guard left >= 0 else { return "" }
          let nearest = Self.nearest(to: stub.pattern, among: requests.suffix(200))
          return nearest.map { "\n\($0)" } ?? " No requests were made."
        }
      }
    }
    return found + noted
  }

  /// Runs `make` with the names that the options exempt from redaction.
  func reporting<Value>(_ make: () -> Value) -> Value { Redaction.$shownNames.withValue(shownNames, operation: make) }

  /// Reports each of the ``issues`` as a failure of the running test, at its location.
  public func reportIssues() {
    for issue in issues { issue.report() }
  }

  /// Adds an issue for a response that could not be sent, unless the stub itself already reports the mistake.
  func note(_ error: MockError, of stub: Stub) {
    guard !stub.problems.contains(where: { $0.message == error.message }) else { return }
    note(error, of: reporting { stub.description }, at: stub.location)
  }

  private func note(_ error: MockError, of source: String, at location: MockSourceLocation) {
    note("\(source) could not answer: \(error.message)", at: location)
  }

  /// Adds an issue for a response that could not be made or sent.
  package func note(_ message: String, at location: MockSourceLocation? = nil) {
    let issue = MockIssue(kind: .invalidResponse, message: message, location: location ?? self.location)
    // Every request of the stub repeats the mistake; the set holds it once.
    state.withLock { _ = $0.issues.insert(issue) }
  }

  /// Responds to a request that no stub matches, as set in the options.
  func respondUnmatched(
    _ facts: RequestFacts, _ spent: [Spent], _ next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    let request = recorded(facts, nil)
    record(request)
    if let response = options.unmatched, response.passesThrough {
      return try await respond(unmatched: request, response, next)
    }
    let sender = received.last { $0.mayHaveSent(facts) }
    let remark = facts.request[UnmatchedRemark.self].map { "\n\n" + $0 } ?? ""
    let report = reporting { unmatchedReport(facts, spent, redirectedBy: sender) } + remark
    let issue = MockIssue(kind: spent.isEmpty ? .unmatched : .exhausted, message: report, location: location)
    // A retry is no further issue; the set holds the issue once.
    state.withLock { _ = $0.issues.insert(issue) }
    guard let response = options.unmatched else {
      throw MockError(spent.isEmpty ? .unmatched : .exhausted, report, location: location).urlError(for: facts.request)
    }
    return try await respond(unmatched: request, response.explained(by: report), next)
  }

  /// Sends the response for unmatched requests; adds an issue if the response is invalid.
  private func respond(
    unmatched request: MockRequest, _ response: MockResponse, _ next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    do {
      return try await response.respond(to: request, next: next, in: environment)
    } catch let error as MockError {
      let located = error.located(at: location)
      note(located, of: "The response to unmatched requests", at: location)
      throw located.urlError(for: request.facts.request)
    }
  }
}

extension MockInterceptor: GuardingInterceptor {
  package var coversEveryScheme: Bool { options.unmatched?.passesThrough != true }

  /// Whether no request can pass through to the network.
  package var isFinal: Bool {
    guard outer == nil, coversEveryScheme else { return false }
    return state.withLock { state in
      !state.entries.isEmpty
        && state.entries.allSatisfy { $0.stub.listed.map { !$0.contains(where: \.passesThrough) } ?? false }
    }
  }

  /// Refuses a WebSocket task with an issue, because it bypasses every chain on its way to the network, unless
  /// unmatched requests pass through.
  public func validate(webSocket request: URLRequest) throws {
    if options.unmatched?.passesThrough == true { return }
    let request = recorded(RequestFacts(InterceptedRequest(request), body: Data()), nil)
    let message = """
      No stub can answer \(request): a WebSocket bypasses all interceptors, so it was refused, and nothing was sent. \
      Inject whatever opens WebSockets into the code under test, or send unmatched requests to the network with \
      unmatched: .passThrough.
      """
    let issue = MockIssue(kind: .unmatched, message: message, location: location)
    if state.withLock({ $0.issues.insert(issue) }) { record(request) }
    throw MockError(.unmatched, message, location: location)
  }
}

extension MockIssue {
  /// The issues of a stub.
  ///
  /// - Parameter nearest: Describes the closest request.
  static func issues(of stub: Stub, uses: Int, nearest: () -> String) -> [MockIssue] {
    guard stub.problems.isEmpty else {
      return stub.problems.map {
        MockIssue(kind: .invalidStub, message: $0.message, location: $0.location ?? stub.location)
      }
    }
    guard uses < stub.needed else { return [] }
    let times = uses == 0 ? "was never used" : "was used \(uses) of \(stub.needed) times"
    let nearest = uses == 0 ? nearest() : ""
    return [
      MockIssue(
        kind: .unused,
        message: "The stub \(stub) \(times). Remove it, make a matching request, or mark it .optional.\(nearest)",
        location: stub.location)
    ]
  }
}

extension MockError {
  /// The error passed to the app.
  func urlError(for request: InterceptedRequest) -> URLError {
    var error = self
    (error.url, error.requestID) = (request.url.withoutUserInfo, request.id)
    // Printing an error prints its underlying error too, so only the outer one has the full text.
    let userInfo: [String: Any] = [
      NSLocalizedDescriptionKey: description, NSUnderlyingErrorKey: error.beneath,
      NSURLErrorFailingURLErrorKey: request.url,
    ]
    let isMissing = code == .unmatched || code == .exhausted
    return URLError(isMissing ? .resourceUnavailable : .badServerResponse, userInfo: userInfo)
  }
}

/// Text added to the report of a request that no stub matches.
package enum UnmatchedRemark: InterceptedRequest.Key {
  package static let defaultValue: String? = nil
}

extension OpenEnum where Domain == MockIssue {
  /// A request that no stub matches.
  public static var unmatched: Self { Self("unmatched") }
  /// A request that matches only stubs that no longer answer.
  public static var exhausted: Self { Self("exhausted") }
  /// A required stub that was used less often than required, or entries of a cassette that were never requested.
  public static var unused: Self { Self("unused") }
  /// A stub with a mistake, independent of any request.
  public static var invalidStub: Self { Self("invalidStub") }
  /// A cassette that exceeds its maximum age.
  public static var expired: Self { Self("expired") }
  /// A cassette whose file is missing or cannot be read.
  public static var invalidCassette: Self { Self("invalidCassette") }
  /// An exchange that a cassette could not record.
  public static var notRecorded: Self { Self("notRecorded") }
  /// A request that a cassette has answered although its body is not the recorded one.
  public static var differing: Self { Self("differing") }
  /// Secrets that a cassette has removed from bodies, though it compares bodies.
  public static var redacted: Self { Self("redacted") }
  /// A response that could not be made or sent.
  public static var invalidResponse: Self { Self("invalidResponse") }
}

extension MockIssue {
  func report() { location.report(message, isWarning: isWarning) }
}

extension [MockIssue] {
  /// Adds an issue; returns `false` for a duplicate.
  mutating func insert(_ issue: MockIssue) -> Bool {
    let isKnown = contains { $0.kind == issue.kind && $0.message == issue.message && $0.location == issue.location }
    if !isKnown { append(issue) }
    return !isKnown
  }
}

extension InterceptedRequest {
  /// Reads the body; a body that cannot be read again is replaced by its data.
  mutating func collectBody(
    upTo limit: Int, at location: MockSourceLocation, tooLarge message: @autoclosure () -> String
  ) async throws -> Data {
    do {
      let data = try await body.collect(upTo: limit)
      if !body.isReplayable { body = .data(data) }
      return data
    } catch let error as WaylayError where error.code == .bodyTooLarge {
      throw MockError(.bodyTooLarge, message(), location: location, underlying: error).urlError(for: self)
    }
  }
}
