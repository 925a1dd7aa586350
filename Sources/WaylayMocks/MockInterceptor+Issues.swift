import IssueReporting

extension MockInterceptor {
  /// The deviations from what the stubs expect: requests that no stub matches, stubs with mistakes, and unused required
  /// stubs.
  ///
  /// The list covers this mock's own stubs and requests; read it when everything that uses the mock is done.
  public var issues: [MockIssue] {
    let (entries, calls, noted) = state.withLock { state in
      (state.entries.map { ($0.stub, $0.uses) }, state.calls, state.issues)
    }
    return issues(of: entries, calls) + noted
  }

  /// What is to be said of stubs that were used so often, while these requests came.
  func issues(of entries: [(stub: Stub, uses: Int)], _ calls: [RecordedCall]) -> [MockIssue] {
    // Saying what came nearest takes its time, and after some stubs says nothing new.
    var left = 20
    return reporting {
      entries.flatMap { stub, uses in
        MockIssue.issues(of: stub, uses: uses) {
          left -= 1
          guard left >= 0 else { return "" }
          return Self.nearest(to: stub.pattern, among: calls.suffix(200)).map { "\n\($0)" } ?? " No requests were made."
        }
      }
    }
  }

  /// Makes a text that people read: what the mock's author wants to see is not masked in it.
  func reporting<Value>(_ make: () -> Value) -> Value { Redaction.$shownNames.withValue(shownNames, operation: make) }

  /// Reports each of the ``issues`` as a failure of the running test, at its location.
  public func reportIssues() {
    for issue in issues {
      reportIssue(
        issue.message, fileID: issue.location.fileID, filePath: issue.location.filePath, line: issue.location.line,
        column: issue.location.column)
    }
  }

  /// Notes that a stub's answer could not be given, unless that is known from the stub already.
  func note(_ error: MockError, of stub: Stub) {
    guard !stub.problems.contains(where: { $0.message == error.message }) else { return }
    let message = "\(reporting { stub.description }) could not answer: \(error.message)"
    let issue = MockIssue(kind: .invalidAnswer, message: message, location: stub.location)
    state.withLock { state in
      // Every request would meet the same mistake.
      let isKnown = state.issues.contains {
        $0.kind == issue.kind && $0.message == issue.message && $0.location == issue.location
      }
      if !isKnown { state.issues.append(issue) }
    }
  }

  /// What becomes of a request that no stub is for.
  func answerUnmatched(
    _ facts: RequestFacts, _ spent: [Spent], _ next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    record(recorded(facts, nil, isOwn: false, [:]))
    if case .passThrough = unmatched.kind { return try await next(facts.request) }
    let sender = sender(of: facts)
    let remark = facts.request[MissRemark.self].map { "\n\n" + $0 } ?? ""
    let report = reporting { Miss(facts, spent, in: self, redirectedBy: sender).report } + remark
    let issue = MockIssue(kind: spent.isEmpty ? .unmatched : .usedUp, message: report, location: location)
    state.withLock { $0.issues.append(issue) }
    guard case .respond(let response) = unmatched.kind else {
      throw MockError(spent.isEmpty ? .unmatched : .usedUp, report, location: location).urlError(for: facts.request)
    }
    return try await response.respond(to: MockRequest(facts.request, body: facts.body), next: next, in: environment)
  }
}

extension MockIssue {
  /// What is to be said of a stub.
  ///
  /// - Parameter nearest: Says which request came nearest to it.
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
  /// What an app sees of the error.
  func urlError(for request: InterceptedRequest) -> URLError {
    var error = self
    (error.url, error.requestID) = (request.url.withoutUserInfo, request.id)
    // An error that is printed shows both: the whole is said once.
    let userInfo: [String: Any] = [
      NSLocalizedDescriptionKey: description, NSUnderlyingErrorKey: error.beneath,
      NSURLErrorFailingURLErrorKey: request.url,
    ]
    let isMissing = code == .unmatched || code == .usedUp
    return URLError(isMissing ? .resourceUnavailable : .badServerResponse, userInfo: userInfo)
  }
}

/// What is to be said of a request, should no stub be for it.
package enum MissRemark: InterceptedRequest.Key {
  package static let defaultValue: String? = nil
}
