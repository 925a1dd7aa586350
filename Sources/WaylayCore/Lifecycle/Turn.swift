import Foundation

/// One call of one interceptor: what its `next` leads to, and whether it may still be used.
///
/// Unchecked: what changes is only touched under the load's lock, which saves every link a lock of its own.
final class Turn: @unchecked Sendable {
  private let load: Load
  private let links: [any RequestInterceptor]
  private let index: Int
  private var calls = 0
  private var hasReturned = false
  /// The turn that was the innermost one when this one began.
  private var outer: Turn?

  private init(_ load: Load, _ links: [any RequestInterceptor], at index: Int) {
    self.load = load
    self.links = links
    self.index = index
  }

  var link: any RequestInterceptor { links[index] }

  /// Runs `request` through `links` from `index` on as an onion, with the transport at its heart.
  static func run(
    _ request: InterceptedRequest, through links: [any RequestInterceptor], from index: Int = 0, of load: Load
  ) async throws -> InterceptedResponse {
    guard index < links.count else { return try await load.send(request) }
    let turn = Turn(load, links, at: index)
    let link = links[index]
    turn.begin()
    do {
      let response = try await link.startLoading(request, next: InterceptorChain.Next(turn))
      turn.end()
      try load.check(response, of: link)
      return response
    } catch {
      turn.end()
      load.noteFailure(error, in: link)
      throw error
    }
  }

  private func begin() {
    load.state.withLock { state in
      self.outer = state.innermost
      state.innermost = self
    }
  }

  private func end() {
    load.state.withLock { state in
      self.hasReturned = true
      if state.innermost === self { state.innermost = self.outer }
      self.outer = nil
    }
  }

  func onTimeout(_ makeError: (@Sendable (WaylayError) -> any Error)?) {
    let old = load.state.withLock { state in
      defer { state.timeoutError = makeError }
      return state.timeoutError
    }
    // What it holds is let go without the lock.
    _ = old
  }

  func transport(for url: URL) throws -> any Transport {
    try load.installation.transport(for: url)
  }

  func proceed(_ request: InterceptedRequest, mayBeLate: Bool = false) async throws -> InterceptedResponse {
    let (call, hasReturned) = load.state.withLock { _ -> (Int, Bool) in
      self.calls += 1
      return (self.calls, self.hasReturned)
    }
    guard !hasReturned || mayBeLate else {
      throw WaylayError(
        .nextAfterReturn,
        "\(link.name) called next after its startLoading returned: await every call of next before returning.",
        interceptor: link.name, url: request.url, requestID: request.id)
    }
    try Task.checkCancellation()
    var request = request
    if call > 1 { request.attempt += call - 1 }
    try load.check(request, from: link)
    if let reader = request.body.consumedBy {
      throw MessageBody.consumed(by: reader, wantedBy: "the rest of the chain")
    }
    return try await Turn.run(request, through: links, from: index + 1, of: load)
  }
}

extension InterceptorChain.Next {
  /// Sends `request` down the rest of the chain.
  ///
  /// - Throws: What the rest of the chain throws; ``TransportError`` if the network gave no response.
  public func callAsFunction(_ request: InterceptedRequest) async throws -> InterceptedResponse {
    switch target {
    case .closure(let load): try await load(request)
    case .turn(let turn): try await turn.proceed(request)
    }
  }

  /// Sends `request` down the rest of the chain, even after `startLoading` has returned, for background work such as a
  /// revalidation.
  ///
  /// The load no longer supervises this request, and cancellation by the app does not reach it: the caller owns its
  /// task, cancels it, and gives the request a timeout of its own (``InterceptedRequest/Options/timeout``). The caller
  /// also stores the cookies of the response: ``LoadContext/storeCookies(of:for:)``.
  ///
  /// - Throws: What the rest of the chain throws.
  public func inBackground(_ request: InterceptedRequest) async throws -> InterceptedResponse {
    switch target {
    case .closure(let load): try await load(request)
    case .turn(let turn): try await turn.proceed(request, mayBeLate: true)
    }
  }
}
