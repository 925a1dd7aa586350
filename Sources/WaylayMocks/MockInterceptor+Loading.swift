extension MockInterceptor {
  /// The stub that a request was matched with.
  struct Match {
    let layer: MockInterceptor
    let entry: StubEntry
    let parameters: [String: String]
    /// The number of the stub's use, from 0.
    let use: Int
  }

  /// Answers `request` by the first stub that is for it.
  ///
  /// - Throws: A `URLError` with a ``MockError`` beneath it when no stub is for the request, or when the stub is wrong; what the stub's closure throws.
  public func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    var request = request
    let body: Data
    if let data = request.body.inMemory {
      body = data
    } else {
      // Opening a file is nothing for the loading system's queue.
      if mayRunInline { await Task.yield() }
      body = try await collect(request.body)
      if !request.body.isReplayable { request.body = .data(body) }
    }
    // Code that is not ours must not run on the loading system's queue, where it could wait for another load.
    if hasForeignCode, mayRunInline { await Task.yield() }
    let facts = RequestFacts(request, body: body)
    var spent: [Spent] = []
    guard let match = match(facts, &spent) else { return try await answerUnmatched(facts, spent, next) }
    return try await answer(facts, match, next)
  }

  private func collect(_ body: MessageBody) async throws -> Data {
    do { return try await body.collect(upTo: bodyLimit) } catch let error as WaylayError where error.code == .bodyTooLarge {
      throw MockError(
        .bodyTooLarge, "the request's body has more than the \(bodyLimit) bytes that the mock reads: raise MockInterceptor(bodyLimit:).",
        location: location, underlying: error
      ).urlError(for: nil)
    }
  }

  private func answer(_ facts: RequestFacts, _ match: Match, _ next: InterceptorChain.Next) async throws -> InterceptedResponse {
    let stub = match.entry.stub
    if !match.entry.isInline, mayRunInline { await Task.yield() }
    let request = MockRequest(facts.request, body: facts.body, parameters: match.parameters, call: match.use)
    do {
      let response =
        switch stub.answer {
        case .declared(let answers): stub.declaredAnswer(answers, to: match.use)
        case .computed(let compute): try await compute(request)
        }
      return try await response.respond(to: request, next: next, in: match.layer.environment)
    } catch let error as MockError {
      let located = error.located(at: stub.location)
      match.layer.note(located, of: stub)
      throw located.urlError(for: facts.url.url)
    }
  }

  /// Whether this may be the loading system's own call. Never when the mock has not promised to answer there: stubs may have come since.
  var mayRunInline: Bool { state.withLock { $0.hasPromisedInline } }

  private var hasForeignCode: Bool { state.withLock { $0.deferred > 0 } || (outer?.hasForeignCode ?? false) }

  /// Finds the stub for a request, in this mock or in those round it, and notes that it was used.
  ///
  /// - Parameter spent: Stubs that are for the request and do not answer any more, or not yet.
  private func match(_ facts: RequestFacts, _ spent: inout [Spent]) -> Match? {
    var layer = self
    while true {
      for entry in layer.state.withLock({ $0.index.candidates(for: facts) }) {
        var parameters: [String: String] = [:]
        guard entry.stub.pattern.matches(facts, &parameters) else { continue }
        switch layer.claim(entry, facts, parameters) {
        case .success(let use):
          if layer !== self { record(RecordedCall(facts, stub: nil, location: entry.stub.location, parameters: parameters)) }
          return Match(layer: layer, entry: entry, parameters: parameters, use: use)
        case .failure(let reason): spent.append(reason)
        }
      }
      guard let outer = layer.outer else { return nil }
      layer = outer
    }
  }

  /// Takes one use of a stub and writes the call down, in one step: of two requests that want the last use one gets it.
  private func claim(_ entry: StubEntry, _ facts: RequestFacts, _ parameters: [String: String]) -> Result<Int, Spent> {
    let call = RecordedCall(facts, stub: entry.number, location: entry.stub.location, parameters: parameters)
    let (result, waiters) = state.withLock { state -> (Result<Int, Spent>, [CheckedContinuation<Void, Never>]) in
      if entry.isRemoved { return (.failure(Spent(entry, .removed)), []) }
      if let use = entry.challenged.removeValue(forKey: facts.request.id) { return (.success(use), state.append(call)) }
      if entry.isUsedUp { return (.failure(Spent(entry, .usedUp)), []) }
      if let transition = entry.stub.life.scenario {
        let name = transition.scenario.name
        let current = state.scenarios[name] ?? transition.scenario.states.first ?? ""
        if let required = transition.required, required != current {
          return (.failure(Spent(entry, .otherState(current))), [])
        }
        if let next = transition.next { state.scenarios[name] = next }
      }
      let use = entry.uses
      entry.uses += 1
      if entry.challenges(facts.request, use: use) { entry.challenged[facts.request.id] = use }
      return (.success(use), state.append(call))
    }
    for waiter in waiters { waiter.resume() }
    return result
  }

  /// Writes a call down.
  func record(_ call: RecordedCall) {
    let waiters = state.withLock { $0.append(call) }
    for waiter in waiters { waiter.resume() }
  }
}

extension MockInterceptor.State {
  /// - Returns: Who waits for calls, and is to be woken.
  fileprivate mutating func append(_ call: RecordedCall) -> [CheckedContinuation<Void, Never>] {
    calls.append(call)
    guard !waiters.isEmpty else { return [] }
    defer { waiters = [:] }
    return Array(waiters.values)
  }
}
