import Foundation

/// One call of one interceptor, with the state of its `next`.
///
/// Unchecked: the mutable state is guarded by the load's lock, which saves a lock per interceptor; ``screened``,
/// ``lineage`` and ``hasOwnLineage`` are set before the interceptor runs, and so is ``task``.
final class Turn: @unchecked Sendable {
  fileprivate let load: Load
  private let selection: ChainIndex.Selection
  private let index: Int
  /// The interceptor's input, if credentials that it adds must be removed (rule 4).
  private var screened: InterceptedRequest?
  /// The lineage in which the interceptor was called, for the rest of the chain.
  private var lineage: Lineage?
  /// Whether the interceptor runs in another one.
  private var hasOwnLineage = false
  /// The number of calls of `next`, and of those in flight.
  private var calls = 0
  private var running = 0
  /// The one-time bodies of the responses so far: of the last one, and of further ones whose calls overlapped.
  private var unread: MessageBody.Claim?
  private var overlapped: [MessageBody.Claim] = []
  private var hasReturned = false
  /// The task of `startLoading`: a call in another one may be meant to overlap, as a hedged request does.
  private var task: UnsafeCurrentTask?
  /// The turn whose `next` has led to this one.
  private var outer: Turn?

  private init(_ load: Load, _ selection: ChainIndex.Selection, at index: Int) {
    self.load = load
    self.selection = selection
    self.index = index
  }

  var interceptor: any RequestInterceptor { selection.interceptors[index] }

  /// Runs `request` through the interceptors of a selection, nested, with the transport innermost.
  ///
  /// - Parameters:
  ///   - lineage: The lineage of the current code.
  ///   - hasLeftScope: Whether credentials that interceptors add are removed: ``Load/hasLeftScope(_:_:)``.
  static func run(
    _ request: InterceptedRequest, in lineage: Lineage, through selection: ChainIndex.Selection?, hasLeftScope: Bool,
    of load: Load
  ) async throws -> InterceptedResponse {
    let first = selection.flatMap { $0.interceptors.isEmpty ? nil : Turn(load, $0, at: 0) }
    load.state.withLock { state in
      state.isRunning = true
      begin(first, from: nil, in: &state)
    }
    // A load that ended before counts as long as its interceptors run.
    func end(_ state: inout Load.State) -> Bool {
      state.isRunning = false
      if state.hasEnded { load.scope.withLock { $0 = nil } }
      return Self.end(first, in: &state)
    }
    let response: InterceptedResponse
    do {
      response = try await respond(as: first, to: request, in: lineage, hasLeftScope: hasLeftScope, of: load)
    } catch {
      load.state.withLock { _ = end(&$0) }
      throw error
    }
    if load.state.withLock({ end(&$0) }) { try response.body.claim?.check() }
    return response
  }

  func onTimeout(_ makeError: (@Sendable (WaylayError) -> any Error)?) {
    let old = load.state.withLock { exchange(&$0.timeoutError, with: makeError) }
    // Released outside of the lock.
    _ = old
  }

  func proceed(_ request: InterceptedRequest, mayBeLate: Bool = false) async throws -> InterceptedResponse {
    let next = index + 1 < selection.interceptors.count ? Turn(load, selection, at: index + 1) : nil
    let begun = load.state.withLock { state -> Begun? in
      guard mayBeLate || !self.hasReturned else { return nil }
      self.calls += 1
      self.running += 1
      Self.begin(next, from: self, in: &state)
      return Begun(call: self.calls, isAlone: self.running == 1 && !mayBeLate)
    }
    guard let begun else {
      throw WaylayError(
        .nextAfterReturn,
        "\(interceptor.name) called next after its startLoading returned: await every call of next before returning.",
        interceptor: interceptor.name, url: request.url, requestID: request.id)
    }
    let response: InterceptedResponse
    do {
      let request = try prepare(request, call: begun.call)
      if begun.call > 1, begun.isAlone { await giveBack() }
      let current = Lineage.current
      // A task that is not a child of the interceptor's has none, or that of another load.
      let lineage = hasOwnLineage || current?.number != lineage?.number ? lineage : current
      if lineage === current {
        response = try await Self.respond(as: next, to: request, in: lineage, hasLeftScope: screened != nil, of: load)
      } else {
        response = try await Lineage.$current.withValue(lineage) {
          try await Self.respond(as: next, to: request, in: lineage, hasLeftScope: screened != nil, of: load)
        }
      }
    } catch {
      end(next)
      throw error
    }
    if end(next, mayBeLate ? nil : response.body.claim) { try response.body.claim?.check() }
    return response
  }

  /// A call of `next`.
  private struct Begun {
    let call: Int
    /// Whether no other call is in flight.
    let isAlone: Bool
  }

  /// Discards the unread responses of earlier calls, if the interceptor calls `next` in its own task.
  private func giveBack() async {
    let task = load.state.withLock { _ in self.task }
    guard withUnsafeCurrentTask(body: { $0 == task }) else { return }
    let (unread, overlapped) = load.state.withLock { _ in
      (self.unread.take(), exchange(&self.overlapped, with: []))
    }
    guard let unread else { return }
    let (name, clock) = (interceptor.name, load.registry.clock)
    await withTaskGroup(of: Void.self) { group in
      for claim in [unread] + overlapped { group.addTask { await claim.giveBack(by: name, on: clock) } }
    }
  }

  /// Checks a request that the interceptor passes on, and counts the attempt.
  private func prepare(_ request: InterceptedRequest, call: Int) throws -> InterceptedRequest {
    try Task.checkCancellation()
    var request = request
    if call > 1 {
      request.attempt += call - 1
      load.report(.retried)
    }
    if let deadline = request.options.deadline { load.end(by: deadline) }
    if request.parts.defect == .withoutURL { throw load.withoutURL(from: interceptor) }
    // The request may be one of another load.
    if let lineage, hasOwnLineage || request.lineage?.number != lineage.number {
      request.lineage = lineage.within(SharedWork.current)
    }
    if let screened { load.withhold(from: &request, before: screened, by: interceptor.name) }
    if let reader = request.body.consumedBy {
      throw MessageBody.consumed(by: reader, wantedBy: "the rest of the chain")
    }
    return request
  }

  /// Ends a call of `next`. Returns whether the next interceptor has called its own `next` more than once.
  @discardableResult
  private func end(_ next: Turn?, _ claim: MessageBody.Claim? = nil) -> Bool {
    load.state.withLock { state in
      self.running -= 1
      if let claim {
        if self.unread == nil { self.unread = claim } else { self.overlapped.append(claim) }
      }
      return Self.end(next, in: &state)
    }
  }

  // MARK: Without a turn, a transfer: the end of the chain

  private static func begin(_ turn: Turn?, from caller: Turn?, in state: inout Load.State) {
    guard let turn else { return state.transfers += 1 }
    turn.outer = caller
    state.innermost = turn
  }

  /// Returns whether the interceptor has called `next` more than once.
  private static func end(_ turn: Turn?, in state: inout Load.State) -> Bool {
    guard let turn else {
      state.transfers -= 1
      return false
    }
    turn.hasReturned = true
    if state.innermost === turn { state.innermost = turn.outer }
    // A task retains its result, in which a body may retain `next`.
    (turn.outer, turn.unread, turn.overlapped, turn.task) = (nil, nil, [], nil)
    return turn.calls > 1
  }

  @inline(__always)
  private static func respond(
    as turn: Turn?, to request: InterceptedRequest, in lineage: Lineage?, hasLeftScope: Bool, of load: Load
  ) async throws -> InterceptedResponse {
    guard let turn else { return try await load.send(request, in: lineage) }
    return try await turn.response(to: request, in: lineage, hasLeftScope: hasLeftScope)
  }

  private func response(
    to request: InterceptedRequest, in lineage: Lineage?, hasLeftScope: Bool
  ) async throws -> InterceptedResponse {
    if hasLeftScope { screened = request }
    task = withUnsafeCurrentTask { $0 }
    self.lineage = lineage
    let interceptor = interceptor
    do {
      let response: InterceptedResponse
      if interceptor.takesPartInNestedRequests, let current = lineage {
        hasOwnLineage = true
        var own = request
        own.lineage = current.sent(by: .participant(selection.members[index]))
        response = try await Lineage.$current.withValue(own.lineage) { [own] in
          try await interceptor.startLoading(own, next: InterceptorChain.Next(self))
        }
      } else {
        response = try await interceptor.startLoading(request, next: InterceptorChain.Next(self))
      }
      try load.check(response, to: request, of: interceptor)
      return response
    } catch {
      load.noteFailure(error, in: interceptor)
      throw error
    }
  }
}

extension InterceptorChain.Next {
  /// Sends `request` down the rest of the chain.
  ///
  /// - Throws: The errors of the rest of the chain; ``TransportError`` if the network gave no response.
  public func callAsFunction(_ request: InterceptedRequest) async throws -> InterceptedResponse {
    switch target {
    case .closure(let load): try await load(request)
    case .turn(let turn): try await turn.proceed(request)
    }
  }

  /// Waits on purpose, for a slot or before another attempt: the wait does not count as idle time. A deadline still
  /// applies.
  ///
  /// ```swift
  /// try await next.waiting { try await Task.sleep(for: .seconds(2)) }
  /// return try await next(request)
  /// ```
  public func waiting<Value>(_ wait: () async throws -> Value) async rethrows -> Value {
    guard case .turn(let turn) = target else { return try await wait() }
    return try await turn.load.waiting(wait)
  }

  /// Sends `request` down the rest of the chain, even after `startLoading` has returned, for background work such as a
  /// revalidation.
  ///
  /// The load does not supervise this request, and cancellation by the app does not reach it: the caller owns its task,
  /// cancels it, and sets the request's own timeout (``InterceptedRequest/Options/timeout``). The caller also stores
  /// the cookies of the response: ``LoadContext/storeCookies(of:for:)``.
  ///
  /// - Throws: The errors of the rest of the chain.
  package func inBackground(_ request: InterceptedRequest) async throws -> InterceptedResponse {
    switch target {
    case .closure(let load): return try await load(request)
    case .turn(let turn):
      var request = request
      if let lineage = Lineage.inherited { request.lineage = lineage.sent(by: .interceptor) }
      return try await turn.proceed(request, mayBeLate: true)
    }
  }
}

extension InterceptorChain {
  /// The rest of the chain as seen by an interceptor, with the transport at its end.
  ///
  /// Call it again to retry, call it concurrently to hedge, or respond without calling it. After `startLoading` has
  /// returned, a call throws `WaylayError.nextAfterReturn`.
  ///
  /// In an interceptor's unit test, use a closure:
  ///
  /// ```swift
  /// let next = InterceptorChain.Next { request in
  ///   InterceptedResponse(to: request, status: request.fields[.acceptLanguage] == "eo" ? .ok : .notAcceptable)
  /// }
  /// let response = try await AddLanguage().startLoading(InterceptedRequest(.get, url), next: next)
  /// ```
  public struct Next: Sendable {
    enum Target: Sendable {
      case closure(@Sendable (InterceptedRequest) async throws -> InterceptedResponse)
      case turn(Turn)
    }

    let target: Target

    /// Makes the rest of a chain from a closure, for unit tests.
    public init(_ load: @escaping @Sendable (InterceptedRequest) async throws -> InterceptedResponse) {
      target = .closure(load)
    }

    init(_ turn: Turn) {
      target = .turn(turn)
    }

    /// The transport for requests to `url`, whose ``Transport/capabilities`` you can read and whose connections you can
    /// close.
    ///
    /// Do not load with it: that bypasses the interceptors in between. Call `next`.
    ///
    /// - Returns: `nil` if the rest of the chain is a closure.
    /// - Throws: `WaylayError.registryInvalidated`.
    package func transport(for url: URL) throws -> (any Transport)? {
      guard case .turn(let turn) = target else { return nil }
      return try turn.load.installation.transport(for: url, turn.load.transports)
    }

    /// Sets the error for a timeout of the load while the interceptor works: the error can list the attempts, with the
    /// timeout as its underlying error. `nil` removes it. No-op for a closure.
    ///
    /// - Parameter makeError: Makes the error from the timeout.
    package func onTimeout(_ makeError: (@Sendable (WaylayError) -> any Error)?) {
      guard case .turn(let turn) = target else { return }
      turn.onTimeout(makeError)
    }
  }
}

// The walk, 4 of 5: after the last interceptor the request loses its tag and gets the load's observer, and the
// installation selects the transport: the registry's own, or the platform's, made on first use. `CurlTransport`, in
// `Platform/Linux/Curl`, sends it on Linux; `URLSessionTransport`, in `Transport`, on Apple platforms and for features
// that libcurl lacks: a `SessionExchange` for each request, found by its task in `ExchangeTable`.

extension Load {
  /// Passes the request to the transport, at the end of every chain.
  func send(_ request: InterceptedRequest, in lineage: Lineage?) async throws -> InterceptedResponse {
    var request = request
    let url = request.url
    // User and password in a URL only answer a challenge.
    // Foundation parses a URL anew for each of its parts: most have no user.
    let mayHaveUser =
      url.absoluteString.utf8.withContiguousStorageIfAvailable { $0.contains(UInt8(ascii: "@")) } ?? true
    if mayHaveUser, !leavesChallengesToTransport {
      request.url = url.withoutUserInfo
    }
    if let reader = request.body.consumedBy {
      throw MessageBody.consumed(by: reader, wantedBy: "the transport")
    }
    request.address(
      to: TransportObserver(load: self, lineage: lineage, watchesTimeout: request.options.timeout == ownTimeout)
    )
    let transport = try installation.transport(for: request.url, transports)
    if installation.givenTransport != nil, registry.security.demands(for: request.url) != nil {
      throw TransportSecurity.incapable("a transport that was given to the registry", of: request)
    }
    if let route = request.route { try check(route, of: request, fits: transport) }
    var response: InterceptedResponse
    do {
      response =
        if installation.hasForeignTransport {
          try await Lineage.sending(as: .transport) { [request] in try await transport.load(request) }
        } else {
          try await transport.load(request)
        }
    } catch var error as TransportError {
      (error.url, error.requestID) = (error.url ?? url.withoutUserInfo, id)
      throw error
    }
    if response.metrics?.isPinned == false { reportPin(of: url) }
    if url != request.url, response.url == request.url { response.url = url }
    return response
  }

  /// Reports a server key that is not among pins in report-only mode.
  private func reportPin(of url: URL) {
    let error = TransportError(
      .serverCertificateUntrusted, code: .pinMismatch, phase: .securing,
      message: "the server's public key is not among the pins of \(url.host ?? ""), which only report it.")
    report(.pinMismatched, error: error)
    registry.logger?.warning("\(error.message)", metadata: [LogKey.load: "\(id)", LogKey.url: "\(url.redacted)"])
  }

  /// Rejects a route if the transport would dial another address.
  private func check(_ route: Route, of request: InterceptedRequest, fits transport: any Transport) throws {
    try request.checkRoute()
    // Made for an error alone.
    var name: String { String(describing: type(of: transport)) }
    guard transport.capabilities.contains(.routes) else {
      throw WaylayError(
        .transportIncapable,
        "the request has a route to \(route.address), but \(name) cannot connect to any address but the host's: use "
          + "CurlTransport, on Linux.",
        url: request.url, requestID: id)
    }
    guard route.gate == nil || transport.capabilities.contains(.gates) else {
      throw WaylayError(
        .transportIncapable,
        "\(name) cannot hold a request back at a gate: try one address at a time; CurlTransport needs libcurl 7.80 "
          + "for gates.",
        url: request.url, requestID: id)
    }
  }

  /// Rejects a response that cannot be represented.
  func check(
    _ response: InterceptedResponse, to request: InterceptedRequest, of interceptor: any RequestInterceptor
  ) throws {
    guard (200...999).contains(response.status.code) else {
      throw WaylayError(
        .invalidResponse,
        "\(interceptor.name) answered with the status \(response.status.code), which is not valid: use 200 to 999.",
        interceptor: interceptor.name, url: url, requestID: id)
    }
    try checkLength(response.body.length, of: response, isHead: request.method == .head, by: interceptor.name)
    guard !Task.isCancelled else {
      let error = WaylayError(
        .respondedAfterCancellation,
        "\(interceptor.name) answered after its load was cancelled; the response was dropped. Check Task.isCancelled in "
          + "long work.",
        interceptor: interceptor.name, url: url, requestID: id)
      report(.responseDropped, error: error)
      throw error
    }
  }

  /// Rejects an interceptor's response whose `Content-Length` is not the length of its body.
  func checkLength(
    _ length: @autoclosure () -> Int64?, of response: InterceptedResponse, isHead: Bool, by interceptor: String? = nil
  ) throws {
    guard !isHead, let declared = response.declaredLength, let length = length(), declared != length else { return }
    throw WaylayError(
      .invalidResponse,
      "\(interceptor ?? "an interceptor (\(response.source))") answered with Content-Length \(declared), but its body has "
        + "\(length) bytes: leave the field out, or set it to the body's length.",
      interceptor: interceptor, url: url, requestID: id)
  }
}

extension InterceptedResponse {
  /// The `Content-Length` of an interceptor's response; `nil` if the field is absent or does not apply.
  fileprivate var declaredLength: Int64? {
    // A lookup by name indexes all fields, which costs more than a search in a few.
    guard source != .network, status != .noContent, status != .notModified,
      let field = fields.first(where: { $0.name == .contentLength }), fields[.contentEncoding] == nil
    else { return nil }
    return Int64(decimal: field.value)
  }
}

/// The interceptors at the beginning of a chain that may respond inside the loading system's call (rule 9), see
/// ``InlineResponding``.
struct InlineInterceptors: Sendable {
  private let interceptors: [any InlineResponding]

  init(_ interceptors: [any RequestInterceptor]) {
    self.interceptors = interceptors.prefix { $0 is any InlineResponding }.compactMap { $0 as? any InlineResponding }
  }

  var isEmpty: Bool { interceptors.isEmpty }

  /// The first response; `nil` if an interceptor must run asynchronously, or does not support inline responses.
  ///
  /// - Parameters:
  ///   - lineage: The lineage of the load.
  ///   - members: The identities of the interceptors.
  func respond(
    to request: InterceptedRequest, of load: Load, in lineage: Lineage, _ members: [ChainIndex.Member]
  ) throws -> InterceptedResponse? {
    var request = request
    for (interceptor, member) in zip(interceptors, members) {
      do {
        let own = interceptor.takesPartInNestedRequests ? lineage.sent(by: .participant(member)) : lineage
        switch try Lineage.$current.withValue(own, operation: { try interceptor.respondInline(request) }) {
        case .response(let response):
          try load.check(response, to: request, of: interceptor)
          return response
        case .next(let changed): request = changed
        case .startLoading: return nil
        }
      } catch {
        load.noteFailure(error, in: interceptor)
        throw error
      }
    }
    return nil
  }
}
