import Foundation

/// A place where a registry is installed: session configurations with equal header fields, or a direct load.
///
/// It provides the context of its loads. The sessions that were made from one configuration share one transport.
final class Installation: Sendable {
  fileprivate struct State {
    /// The context of loads without a known session; `nil` until it is needed.
    var context: LoadContext?
    /// The context and transports of each session.
    var sessions: [ObjectIdentifier: Session] = [:]
    /// The transports of the configuration whose last session was released last.
    var spare: Transports?
  }

  let registry: InterceptorRegistry
  let core: Core
  /// Whether the loading system should leave a request to this installation; `nil` for all requests.
  let isOurs: (@Sendable (URLRequest) -> Bool)?
  /// The transport that the app or a client provides; `nil` for the default one.
  let givenTransport: (any Transport)?
  /// Whether the given transport is not one of this module, so that it may make further requests.
  let hasForeignTransport: Bool

  /// The state without the registry, because the registry may retain it.
  struct Core: Sendable {
    let challenges = ChallengeCoordinator()
    /// The protocol class; `nil` for a direct load.
    let protocolClass = Locked<URLProtocol.Type?>(nil)
    /// The transports of the original configuration.
    let transports: Transports
    /// Whether a load uses the settings of its session.
    fileprivate let followsSessions: Bool
    fileprivate let state = Locked(State())
  }

  /// Makes an installation with existing state.
  init(_ registry: InterceptorRegistry, _ core: Core) {
    self.registry = registry
    self.core = core
    isOurs = nil
    (givenTransport, hasForeignTransport) = (registry.transport, registry.hasForeignTransport)
  }

  /// - Parameters:
  ///   - configuration: The source of the context and the transport, read on first use; so changes that an app makes
  ///     between `intercepted(by:)` and its first request apply.
  ///   - followsSessions: Whether sessions were made from that configuration.
  ///   - isOurs: Whether the loading system should leave a request to this installation.
  ///   - transport: The transport that replaces the registry's.
  init(
    _ registry: InterceptorRegistry, configuration: URLSessionConfiguration, followsSessions: Bool = false,
    isOurs: (@Sendable (URLRequest) -> Bool)? = nil, transport: (any Transport)? = nil
  ) {
    self.registry = registry
    core = Core(transports: Transports(configuration), followsSessions: followsSessions)
    self.isOurs = isOurs
    givenTransport = transport ?? registry.transport
    hasForeignTransport = transport?.isForeign ?? registry.hasForeignTransport
  }

  /// The context of a load whose session is unknown.
  var context: LoadContext {
    core.state.withLock { state in
      if let context = state.context { return context }
      let context = core.transports.configuration.withLock { LoadContext($0, limits: registry.limits) }
      state.context = context
      return context
    }
  }

  /// The context of a load and the transports of its session: an app may have changed or copied the configuration
  /// between two sessions, and several configurations may share this installation.
  func settings(of session: URLSession) -> (context: LoadContext, transports: Transports?) {
    guard core.followsSessions else { return (context, core.transports) }
    let key = ObjectIdentifier(session)
    func known(in state: State) -> Session? {
      // A later session may have the same identity as a released one.
      state.sessions[key].flatMap { $0.session === session ? $0 : nil }
    }
    if let known = core.state.withLock({ known(in: $0) }) { return (known.context, known.transports) }
    let common = context
    let configuration = session.configuration
    let (found, isNew) = core.state.withLock { state in
      if let known = known(in: state) { return (known, false) }
      let own = LoadContext(configuration, limits: registry.limits)
      let known = state.sessions.values.map(\.transports) + [state.spare].compactMap(\.self)
      let transports =
        isOurs != nil
        ? core.transports : known.first { $0.serves(configuration) } ?? Transports(configuration)
      state.sessions = state.sessions.filter { $0.value.session != nil }
      let found = Session(
        session: session, context: own.hasSameSettings(as: common) ? common : own, transports: transports)
      state.sessions[key] = found
      return (found, true)
    }
    if isNew { PlatformClient.onRelease(of: session) { [weak self] in self?.restIfUnused(found.transports) } }
    return (found.context, found.transports)
  }

  /// Removes released sessions. If the last session of a configuration is gone, its transports release their idle
  /// resources; a later session can use them again.
  private func restIfUnused(_ transports: Transports) {
    let isUsed = core.state.withLock { state in
      state.sessions = state.sessions.filter { $0.value.session != nil }
      let isUsed = state.sessions.values.contains { $0.transports === transports }
      if !isUsed { state.spare = transports }
      return isUsed
    }
    if !isUsed { PlatformTransport.rest(transports.state.withLock { $0.transport }) }
  }

  fileprivate struct Session {
    weak var session: URLSession?
    let context: LoadContext
    let transports: Transports
  }

  /// The transport of a load: the registry's, or the platform's, made on first use.
  func transport(for url: URL?, _ transports: Transports?) throws -> any Transport {
    try givenTransport ?? (transports ?? core.transports).transport(for: url, in: self)
  }

  func invalidate() {
    // Later requests of the loading system are reported to the registry's listener.
    core.invalidate(leaving: registry.afterInvalidation)
  }
}

extension Installation {
  /// The transports of the sessions that were made from one configuration.
  final class Transports: Sendable {
    fileprivate struct State {
      var transport: (any Transport)?
      /// For schemes other than `http` and `https`, which the system may support.
      var session: URLSessionTransport?
      var isInvalidated = false
    }

    fileprivate let configuration: Locked<URLSessionConfiguration>
    fileprivate let state = Locked(State())
    /// The array of protocol classes, whose storage identifies the configuration: copies and sessions share it, and
    /// `intercepted(by:)` makes a new one each time. Retained so that its address is not reused.
    private let classes: [AnyClass]

    init(_ configuration: URLSessionConfiguration) {
      classes = configuration.protocolClasses ?? []
      self.configuration = Locked(configuration)
    }

    func serves(_ configuration: URLSessionConfiguration) -> Bool {
      func place(_ classes: [AnyClass]) -> UnsafePointer<AnyClass>? {
        classes.withUnsafeBufferPointer { $0.baseAddress }
      }
      return place(classes) == place(configuration.protocolClasses ?? [])
    }

    fileprivate func transport(for url: URL?, in installation: Installation) throws -> any Transport {
      let registry = installation.registry
      let scheme = url?.scheme
      let isHTTP =
        scheme == "https" || scheme == "http" || scheme.map { ["http", "https"].contains($0.lowercased()) } ?? false
      guard !installation.core.transports.isInvalidated else { throw InterceptorRegistry.invalidatedError(url: url) }
      return try state.withLock { state in
        guard !state.isInvalidated else { throw InterceptorRegistry.invalidatedError(url: url) }
        guard isHTTP else {
          let session =
            state.session
            ?? URLSessionTransport(
              configuration: inner(installation), limits: registry.limits, security: registry.security)
          state.session = session
          return session
        }
        if let transport = state.transport { return transport }
        let transport = PlatformTransport.make(
          inner(installation), limits: registry.limits, security: registry.security, logger: registry.logger)
        state.transport = transport
        return transport
      }
    }

    /// The configuration of the inner session: without the installation's protocol class, and without preceding ones of
    /// Waylay, whose transports lead here.
    private func inner(_ installation: Installation) -> URLSessionConfiguration {
      let inner = configuration.withLock { $0.copied }
      let own = installation.core.protocolClass.withLock { $0 }
      guard let classes = inner.protocolClasses else { return inner }
      let position = classes.firstIndex { $0 == own } ?? -1
      inner.protocolClasses = classes.enumerated().filter { index, candidate in
        candidate != own && (index > position || !(candidate is InterceptingProtocol.Type))
      }.map(\.element)
      return inner
    }

    fileprivate var isInvalidated: Bool { state.withLock { $0.isInvalidated } }

    func invalidate() {
      let (transport, session) = state.withLock { state in
        state.isInvalidated = true
        return (state.transport.take(), state.session.take())
      }
      transport?.invalidate()
      session?.invalidate()
    }
  }
}

extension Installation.Core {
  func invalidate(leaving listener: InterceptorRegistry.LateListener? = nil) {
    // Invalidate the transports first: a session that appears after this point then makes none.
    transports.invalidate()
    let taken = state.withLock { state in
      exchange(&state.sessions, with: [:]).values.map(\.transports) + [state.spare.take()].compactMap(\.self)
    }
    if let protocolClass = protocolClass.withLock({ $0 }) { ProtocolClasses.remove(protocolClass, leaving: listener) }
    for transports in taken { transports.invalidate() }
  }
}

// The walk, 2 of 5: which chain owns the request? The session's header fields and cookies are added, a tag is removed
// and parsed as a lineage; then `ChainIndex` goes through the chains, newest first, and checks `InterceptorChain.Scope`
// and `canInit`. The `Ownership` waits, on Linux in `PendingOwnership`, for the protocol object that is made next, and
// with it, in `Lifecycle`, the request becomes a `Load`.

extension Installation {
  /// The decision about a request: its chain and its context.
  ///
  /// Made once per task, when the loading system asks whether a protocol class accepts the request, and used by its
  /// load.
  final class Ownership: Sendable {
    let installation: Installation
    /// The protocol class that was asked; `nil` in a direct load.
    let owner: ObjectIdentifier?
    let snapshot: InterceptorRegistry.Snapshot
    /// The settings of the load.
    let context: LoadContext
    /// The request without a tag, with the session's header fields and cookies.
    let request: URLRequest
    /// The lineage of the code that made the request.
    let outer: Lineage?
    /// The first URL of the load of another registry, if that registry's transport made the request.
    let origin: URL?
    /// Whether the request is nested in another load of the registry. Each hop of its load is then nested like the
    /// first.
    let nesting: Lineage.Nesting?
    /// The chain that owns the request, and the interceptors that get it; `nil` if there are none.
    let selection: ChainIndex.Selection?
    /// Whether the request's `Cookie` comes from the storage, and must be recomputed for another hop.
    let hasStoredCookies: Bool
    /// Whether the protocol class accepts the request: a chain accepts it, or its tag must not reach the system (rule
    /// 7).
    let isAccepted: Bool
    /// Whether it is the handshake of a WebSocket task, which no chain serves.
    let isWebSocket: Bool

    /// - Parameters:
    ///   - context: The settings of the load. Default: those of the installation.
    ///   - bySession: Whether a session has already added its cookies to the request.
    ///   - current: The lineage of the caller, which the loading system's queue does not have.
    init(
      _ request: URLRequest, in installation: Installation, context: LoadContext? = nil,
      for owner: URLProtocol.Type? = nil, bySession: Bool, origin: URL? = Lineage.origin,
      within current: Lineage? = Lineage.current
    ) {
      self.origin = origin
      let context = context ?? installation.context
      self.context = context
      self.installation = installation
      self.owner = owner.map { ObjectIdentifier($0) }
      snapshot = installation.registry.snapshot
      var request = request
      let tagged = RequestTag.lineage(of: request)
      RequestTag.strip(&request)
      hasStoredCookies = context.prepare(
        &request, origin: RequestTag.origin(of: request), installation.registry.redirectPolicy, bySession: bySession)
      self.request = request
      // Keep entries that no longer count, because a sequence of ended loads may be a loop.
      let current = current?.within(SharedWork.current)
      // The deeper one decides, but if it is not nested in this registry, the other one may be.
      let isOfApp = current?.isOfApp == true
      let isTagDeeper = tagged.map { !isOfApp && (current?.counting?.depth ?? 0) < $0.depth } ?? false
      let (first, second) = isTagDeeper ? (tagged, current) : (current, isOfApp ? nil : tagged)
      let nesting = first.flatMap(installation.registry.nesting(from:))
      let other = nesting == nil ? second.flatMap(installation.registry.nesting(from:)) : nil
      outer = other == nil ? first : second
      self.nesting = nesting ?? other
      let target = request.url.map(InterceptorChain.Scope.Target.init)
      isWebSocket = target?.isWebSocket ?? false
      selection = if let target { snapshot.index.select(request, target, self.nesting) } else { nil }
      isAccepted = self.nesting != nil || selection != nil
    }

    /// The selection for a later hop.
    func select(_ request: URLRequest) -> ChainIndex.Selection? { snapshot.index.select(request, nesting: nesting) }
  }
}
