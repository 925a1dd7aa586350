extension MockInterceptor {
  /// Answers `request` with the first matching stub.
  ///
  /// - Throws: A `URLError` with a ``MockError`` beneath it if no stub matches the request, or if the stub has a
  ///   mistake; what the stub's closure throws.
  public func startLoading(
    _ request: InterceptedRequest, next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    if let body = request.body.inMemory { return try await load(request, body, next) }
    var request = request
    let body = try await collect(request)
    if !request.body.isReplayable { request.body = .data(body) }
    return try await load(request, body, next)
  }

  /// Answers inline if the answer is the same for every request, ready at once, and needs no code from outside the
  /// package: it is not computed, does not wait or stream, and has no predicate. Everything else goes to
  /// `startLoading`.
  public func answerInline(_ request: InterceptedRequest) -> InlineAnswer {
    guard let body = request.body.inMemory else { return .startLoading }
    let facts = RequestFacts(request, body: body)
    // Answers to HEAD are finished in another way.
    guard facts.method != "HEAD" else { return .startLoading }
    var layer = self
    while true {
      let candidates = layer.candidates(for: facts)
      guard candidates.allSatisfy(\.isInline) else { return .startLoading }
      var spent: [Spent] = []
      guard let match = layer.claim(candidates, facts, &spent) else {
        guard let outer = layer.outer else { return .startLoading }
        layer = outer
        continue
      }
      if layer !== self { record(recorded(facts, match.entry, isOwn: false, match.parameters)) }
      guard let response = match.entry.preparedAnswer(to: match.use)?.answer(to: facts) else { return .startLoading }
      return .response(response)
    }
  }

  private func collect(_ request: InterceptedRequest) async throws -> Data {
    do { return try await request.body.collect(upTo: bodyLimit) } catch let error as WaylayError
      where error.code == .bodyTooLarge
    {
      throw MockError(
        .bodyTooLarge,
        "the request's body exceeds the \(bodyLimit) bytes that the mock reads: raise MockInterceptor(bodyLimit:).",
        location: location, underlying: error
      ).urlError(for: request)
    }
  }

  /// Answers a request whose body has been read, by a stub of this mock or of those round it.
  private func load(
    _ request: InterceptedRequest, _ body: Data, _ next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    let facts = RequestFacts(request, body: body)
    var spent: [Spent] = []
    var layer = self
    while true {
      if let match = try await layer.claimInContext(layer.candidates(for: facts), facts, &spent) {
        if layer !== self { record(recorded(facts, match.entry, isOwn: false, match.parameters)) }
        if let response = match.entry.preparedAnswer(to: match.use)?.answer(to: facts) { return response }
        return try await answer(facts, match, next, layer)
      }
      guard let outer = layer.outer else { return try await answerUnmatched(facts, spent, next) }
      layer = outer
    }
  }

  private func answer(
    _ facts: RequestFacts, _ match: Match, _ next: InterceptorChain.Next, _ layer: MockInterceptor
  ) async throws -> InterceptedResponse {
    let stub = match.entry.stub
    let request = MockRequest(facts.request, body: facts.body, parameters: match.parameters, call: match.use)
    do {
      let response =
        switch stub.answer {
        case .declared(let answers): stub.declaredAnswer(answers, to: match.use)
        case .computed(let compute): try await layer.environment.run { try await compute(request) }
        }
      return try await response.respond(to: request, next: next, in: layer.environment)
    } catch let error as MockError {
      let located = error.located(at: stub.location)
      layer.note(located, of: stub)
      throw located.urlError(for: facts.request)
    }
  }
}
