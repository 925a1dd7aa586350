import Foundation

extension Load {
  /// What the links at the beginning of the chain answer at once, without leaving the loading system's call; `nil` when
  /// ``respond(after:)`` has to run.
  ///
  /// - Returns: The answer, and whether it is the last: a redirect and a challenge have the load go on.
  func answerInline() throws -> (response: InterceptedResponse, isLast: Bool)? {
    guard let selection = decision.selection, !selection.inline.isEmpty else { return nil }
    let lineage = try Lineage.deeper(than: decision.outer, by: registry.lineageEntry, load: self)
    let request = try enter(selection, first, first.urlRequest, nil, lineage)
    guard let response = try selection.inline.answer(request, of: self) else { return nil }
    guard response.status != .unauthorized, Redirect(after: response, to: first.urlRequest) == nil else {
      return (response, false)
    }
    storeCookies(of: response, for: first.urlRequest)
    return (response, true)
  }

  /// Runs the load up to the head of its last response, hop by hop.
  ///
  /// - Parameter answer: The answer to the first hop, where it is there already.
  func respond(after answer: InterceptedResponse? = nil) async throws -> InterceptedResponse {
    let lineage = try Lineage.deeper(than: decision.outer, by: registry.lineageEntry, load: self)
    var hop = first
    var selection = decision.selection
    var request = hop.urlRequest
    var challenge: AnsweredChallenge?
    var answer = answer
    var authentication = Authentication()
    while true {
      let response: InterceptedResponse
      if let given = answer.take() {
        response = given
      } else {
        let entered = try enter(selection, hop, request, challenge, lineage)
        response = try await Lineage.$current.withValue(lineage) { [selection] in
          try await Turn.run(entered, through: selection?.links ?? [], of: self)
        }
      }
      // Those of the storage are put in anew for each hop.
      if decision.hasStoredCookies, hop.number == first.number {
        hop.urlRequest.setValue(nil, forHTTPHeaderField: "Cookie")
      }
      storeCookies(of: response, for: hop.urlRequest)
      guard let next = try await step(after: response, from: hop, &authentication) else { return response }
      await response.body.discard()
      hop = next
      request = hop.urlRequest
      context.prepare(&request, origin: first.url)
      challenge = authentication.authorize(&request)
      selection = registry.isReentry(from: decision.outer) ? nil : decision.snapshot.index.select(request)
    }
  }

  private func storeCookies(of response: InterceptedResponse, for request: URLRequest) {
    let ignored = context.storeCookies(of: response, for: request)
    guard ignored > 0 else { return }
    registry.logger?.warning(
      "cookies of a response exceed cookieCount or cookieBytes of MessageLimits and were not stored",
      metadata: [LogKey.load: "\(id)", LogKey.url: "\(request.url?.redacted ?? "")", "waylay.cookies": "\(ignored)"])
  }

  /// The request of the next round, or `nil` when `response` is the answer.
  private func step(
    after response: InterceptedResponse, from hop: Hop, _ authentication: inout Authentication
  ) async throws -> Hop? {
    if let again = try await authentication.answer(response, to: hop, of: self) { return again }
    guard let target = Redirect(after: response, to: hop.urlRequest),
      let next = try await redirect(to: target, after: response, from: hop)
    else { return nil }
    report(.redirected, response: response)
    return next
  }

  /// Brings a hop's request into the form that the links of a chain see, or the bare transport.
  private func enter(
    _ selection: ChainIndex.Selection?, _ hop: Hop, _ urlRequest: URLRequest, _ challenge: AnsweredChallenge?,
    _ lineage: Lineage
  ) throws -> InterceptedRequest {
    var canonical = urlRequest
    var body = hop.body
    if let selection {
      state.withLock { $0.selection = selection }
      for link in selection.links { canonical = link.canonicalRequest(for: canonical) }
      if let changed = canonical.takeBody() { body = changed }
    }
    guard canonical.url != nil else { throw withoutURL(from: urlRequest.url == nil ? nil : selection?.links.last) }
    var request = InterceptedRequest(id, canonical, body: body, context: context)
    request.hop = hop.number
    if hop.isUpload { request[UploadedBody.self] = true }
    if let challenge { request[AnsweredChallengeKey.self] = challenge }
    if selection != nil { request.tag(with: lineage) }
    return request
  }
}
