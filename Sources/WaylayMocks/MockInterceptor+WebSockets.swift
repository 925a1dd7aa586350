extension MockInterceptor: WebSocketValidating {
  /// Refuses a WebSocket task with an issue, because it bypasses every chain on its way to the network, unless
  /// unmatched requests may pass through.
  public func validate(webSocket request: URLRequest) throws {
    if case .passThrough = unmatched.kind { return }
    let call = recorded(RequestFacts(InterceptedRequest(request), body: Data()), nil, isOwn: false, [:])
    let message = """
      No stub can answer \(call): a WebSocket bypasses all interceptors, so it was refused, and nothing was sent. \
      Inject whatever opens WebSockets into the code under test, or send unmatched requests to the network with \
      unmatched: .passThrough.
      """
    let isNew = state.withLock { state in
      // Apple's loading system asks several times for one task.
      let isKnown = state.issues.contains { $0.kind == .unmatched && $0.message == message }
      if !isKnown { state.issues.append(MockIssue(kind: .unmatched, message: message, location: location)) }
      return !isKnown
    }
    if isNew { record(call) }
    throw MockError(.unmatched, message, location: location)
  }
}
