import Foundation

/// One place a registry is installed in: session configurations with equal header fields, or a direct load.
///
/// It knows whose loads these are (the context). The sessions that were made from one configuration have one transport.
final class Installation: Sendable {
  fileprivate struct State {
    /// Whose settings count where no session is known, once somebody has asked.
    var context: LoadContext?
    /// What was found out of each session.
    var sessions: [ObjectIdentifier: Session] = [:]
  }

  let registry: InterceptorRegistry
  let core: Core
  /// Which requests the loading system is to leave to it; all of them unless told otherwise.
  let isOurs: (@Sendable (URLRequest) -> Bool)?
  /// The transport that somebody gave it; `nil` for one of its own.
  let givenTransport: (any Transport)?

  /// All of it but the registry, which may hold this.
  struct Core: Sendable {
    let challenges = ChallengeCoordinator()
    /// Its protocol class; none for a direct load.
    let protocolClass = Locked<URLProtocol.Type?>(nil)
    /// Those of the configuration that it was made with.
    let transports: Transports
    /// Whether the settings are those of the session that a load comes from.
    fileprivate let followsSessions: Bool
    fileprivate let state = Locked(State())
  }

  /// The same installation again.
  init(_ registry: InterceptorRegistry, _ core: Core) {
    self.registry = registry
    self.core = core
    isOurs = nil
    givenTransport = registry.transport
  }

  /// - Parameters:
  ///   - configuration: What the context and the transport are made from on first use; so what an app sets between
  ///     `intercepted(by:)` and its first request counts.
  ///   - followsSessions: Whether sessions were made from that configuration.
  ///   - isOurs: Which requests the loading system is to leave to it.
  ///   - transport: The transport, in place of the registry's.
  init(
    _ registry: InterceptorRegistry, configuration: URLSessionConfiguration, followsSessions: Bool = false,
    isOurs: (@Sendable (URLRequest) -> Bool)? = nil, transport: (any Transport)? = nil
  ) {
    self.registry = registry
    core = Core(transports: Transports(configuration), followsSessions: followsSessions)
    self.isOurs = isOurs
    givenTransport = transport ?? registry.transport
  }

  /// Whose load it is, as far as that can be told without the session.
  var context: LoadContext {
    core.state.withLock { state in
      if let context = state.context { return context }
      let context = core.transports.configuration.withLock { LoadContext($0, limits: registry.limits) }
      state.context = context
      return context
    }
  }

  /// Whose load it is, and the transports of its session: an app may have changed a setting of the configuration
  /// between the first session and another one, or copied it, and other configurations may have this installation.
  func settings(of session: URLSession) -> (context: LoadContext, transports: Transports) {
    guard core.followsSessions else { return (context, core.transports) }
    let key = ObjectIdentifier(session)
    func known(in state: State) -> Session? {
      // An identity may come back once its session is gone.
      state.sessions[key].flatMap { $0.session === session ? $0 : nil }
    }
    if let known = core.state.withLock({ known(in: $0) }) { return (known.context, known.transports) }
    let common = context
    let configuration = session.configuration
    let (found, isNew) = core.state.withLock { state in
      if let known = known(in: state) { return (known, false) }
      let own = LoadContext(configuration, limits: registry.limits)
      state.sessions = state.sessions.filter { $0.value.session != nil }
      let transports =
        isOurs != nil
        ? core.transports
        : state.sessions.values.first { $0.transports.serves(configuration) }?.transports ?? Transports(configuration)
      let found = Session(
        session: session, context: own.hasSameSettings(as: common) ? common : own, transports: transports)
      state.sessions[key] = found
      return (found, true)
    }
    if isNew { PlatformClient.onRelease(of: session) { [weak self] in self?.restIfUnused(found.transports) } }
    return (found.context, found.transports)
  }

  /// A session is gone. With the last that was made from its configuration goes what is kept for their next load;
  /// another may still be made.
  private func restIfUnused(_ transports: Transports) {
    let isUsed = core.state.withLock { state in
      state.sessions = state.sessions.filter { $0.value.session != nil }
      return state.sessions.values.contains { $0.transports === transports }
    }
    if !isUsed { transports.rest() }
  }

  fileprivate struct Session {
    weak var session: URLSession?
    let context: LoadContext
    let transports: Transports
  }

  /// The transport of a load: the registry's, or the platform's, which is made on the first use.
  func transport(for url: URL?, _ transports: Transports?) throws -> any Transport {
    try givenTransport ?? (transports ?? core.transports).transport(for: url, in: self)
  }

  func invalidate() {
    // What the loading system still sends here is reported to the registry's listener.
    core.invalidate(leaving: registry.afterInvalidation)
  }
}

extension Installation {
  /// What lies beneath the sessions that were made from one configuration.
  final class Transports: Sendable {
    private struct State {
      var transport: (any Transport)?
      /// For what is neither `http` nor `https`, which the system may know.
      var session: URLSessionTransport?
      var isInvalidated = false
    }

    fileprivate let configuration: Locked<URLSessionConfiguration>
    private let state = Locked(State())
    /// The list of protocol classes, which is the configuration's own: a copy of a configuration shares it, as sessions
    /// do, and `intercepted(by:)` makes another one each time. It is held so that its place is not used again.
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
      let scheme = url?.scheme?.lowercased()
      guard !installation.core.transports.isInvalidated else { throw InterceptorRegistry.invalidatedError(url: url) }
      return try state.withLock { state in
        guard !state.isInvalidated else { throw InterceptorRegistry.invalidatedError(url: url) }
        guard scheme == "http" || scheme == "https" else {
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

    /// The configuration for what lies beneath: without the installation's own protocol class, and without those of ours
    /// in front of it, whose transports lead here.
    private func inner(_ installation: Installation) -> URLSessionConfiguration {
      let inner = configuration.withLock { $0.copied }
      let own = installation.core.protocolClass.withLock { $0 }
      guard let classes = inner.protocolClasses else { return inner }
      let position = classes.lastIndex { $0 == own } ?? -1
      inner.protocolClasses = classes.enumerated().filter { index, candidate in
        candidate != own && (index > position || !(candidate is InterceptingProtocol.Type))
      }.map(\.element)
      return inner
    }

    fileprivate var isInvalidated: Bool { state.withLock { $0.isInvalidated } }

    func rest() { PlatformTransport.rest(state.withLock { $0.transport }) }

    func invalidate() {
      let (transport, session) = state.withLock { state in
        state.isInvalidated = true
        defer { (state.transport, state.session) = (nil, nil) }
        return (state.transport, state.session)
      }
      transport?.invalidate()
      session?.invalidate()
    }
  }
}

extension Installation.Core {
  func invalidate(leaving listener: InterceptorRegistry.LateListener? = nil) {
    let sessions = state.withLock { state in
      defer { state.sessions = [:] }
      return state.sessions
    }
    if let protocolClass = protocolClass.withLock({ $0 }) { ProtocolClasses.remove(protocolClass, leaving: listener) }
    transports.invalidate()
    for session in sessions.values { session.transports.invalidate() }
  }
}

// The walk, 2 of 5: whose request is it? What the session adds is put in, a tag is taken out and read as a lineage;
// then `ChainIndex` goes through the chains, newest first, and asks `InterceptorChain.Scope` and `canInit`. The
// `Ownership` waits, on Linux in `PendingOwnership`, for the protocol object that is made next, and with it, in
// `Lifecycle`, the request becomes a `Load`.

extension Installation {
  /// What is to become of a request.
  ///
  /// Made once per task, where the loading system asks whether we take the request, and used where it is loaded.
  final class Ownership: Sendable {
    let installation: Installation
    /// The protocol class that was asked; none in a direct load.
    let owner: ObjectIdentifier?
    let snapshot: InterceptorRegistry.Snapshot
    /// Whose load it is.
    let context: LoadContext
    /// The request without a tag and with the session's header fields and cookies.
    let request: URLRequest
    /// The lineage of the code that the request comes from.
    let outer: Lineage?
    /// Where the load began that the transport of another registry makes the request for.
    let origin: URL?
    /// The chain that owns the request. None: it came from inside this registry's own chain, or no chain accepts it.
    let selection: ChainIndex.Selection?
    /// Whether the request's `Cookie` is the storage's, and so to be made anew for another hop.
    let hasStoredCookies: Bool
    /// Whether we take the request: a chain accepts it, or its tag must not reach the system (rule 7).
    let isAccepted: Bool
    /// Whether it is the handshake of a WebSocket task, which no chain serves.
    let isWebSocket: Bool

    /// - Parameters:
    ///   - context: Whose load it is; the installation's unless told otherwise.
    ///   - bySession: Whether a session has put its cookies into the request already.
    init(
      _ request: URLRequest, in installation: Installation, context: LoadContext? = nil,
      for owner: URLProtocol.Type? = nil, bySession: Bool, origin: URL? = Lineage.origin
    ) {
      self.origin = origin
      let context = context ?? installation.context
      self.context = context
      self.installation = installation
      self.owner = owner.map { ObjectIdentifier($0) }
      snapshot = installation.registry.snapshot
      var request = request
      let tagged = RequestTag.lineage(of: request)
      if tagged != nil { RequestTag.strip(&request) }
      hasStoredCookies = context.prepare(
        &request, origin: RequestTag.origin(of: request), bySession: bySession)
      self.request = request
      let current = Lineage.current
      outer = (current?.depth ?? 0) < (tagged?.depth ?? 0) ? tagged : current
      let isReentry = outer.map(installation.registry.isReentry(from:)) ?? false
      let target = request.url.map(InterceptorChain.Scope.Target.init)
      isWebSocket = target?.isWebSocket ?? false
      selection = if let target, !isReentry { snapshot.index.select(request, target) } else { nil }
      isAccepted = isReentry || selection != nil
    }
  }
}
