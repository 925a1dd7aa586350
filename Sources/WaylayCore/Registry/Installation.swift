import Foundation

/// One place a registry is installed in: a session configuration, or a direct load.
///
/// It knows whose loads these are (the context) and has one transport for all of them.
final class Installation: Sendable {
  fileprivate struct State {
    /// Whose settings count where no session is known, once somebody has asked.
    var context: LoadContext?
    /// What was found out of each session.
    var sessions: [ObjectIdentifier: SessionContext] = [:]
    var transport: (any Transport)?
    /// For what is neither `http` nor `https`, which the system may know.
    var session: URLSessionTransport?
    var isInvalidated = false
  }

  let registry: InterceptorRegistry
  let challenges: ChallengeCoordinator
  /// Its protocol class; none for a direct load.
  let protocolClass: Locked<URLProtocol.Type?>
  private let configuration: Locked<URLSessionConfiguration>
  /// Whether the settings are those of the session that a load comes from.
  private let followsSessions: Bool
  /// Which requests the loading system is to leave to it; all of them unless told otherwise.
  let isOurs: (@Sendable (URLRequest) -> Bool)?
  private let state: Locked<State>

  /// All of it but the registry, which may hold this.
  struct Core: Sendable {
    fileprivate let challenges: ChallengeCoordinator
    fileprivate let protocolClass: Locked<URLProtocol.Type?>
    fileprivate let configuration: Locked<URLSessionConfiguration>
    fileprivate let followsSessions: Bool
    fileprivate let state: Locked<State>
  }

  var core: Core {
    Core(
      challenges: challenges, protocolClass: protocolClass, configuration: configuration,
      followsSessions: followsSessions, state: state)
  }

  /// The same installation again.
  init(_ registry: InterceptorRegistry, _ core: Core) {
    self.registry = registry
    challenges = core.challenges
    protocolClass = core.protocolClass
    configuration = core.configuration
    followsSessions = core.followsSessions
    isOurs = nil
    state = core.state
  }

  /// - Parameters:
  ///   - configuration: What the context and the transport are made from on first use; so what an app sets between
  ///     `intercepted(by:)` and its first request counts.
  ///   - followsSessions: Whether sessions were made from that configuration.
  ///   - isOurs: Which requests the loading system is to leave to it.
  init(
    _ registry: InterceptorRegistry, configuration: URLSessionConfiguration, followsSessions: Bool = false,
    isOurs: (@Sendable (URLRequest) -> Bool)? = nil
  ) {
    self.registry = registry
    self.configuration = Locked(configuration)
    challenges = ChallengeCoordinator()
    protocolClass = Locked(nil)
    state = Locked(State())
    self.followsSessions = followsSessions
    self.isOurs = isOurs
  }

  /// Whose load it is, as far as that can be told without the session.
  var context: LoadContext {
    state.withLock { state in
      if let context = state.context { return context }
      let context = configuration.withLock { LoadContext($0, limits: registry.limits) }
      state.context = context
      return context
    }
  }

  /// Whose load it is: an app may have changed a setting of the configuration between the first session and another
  /// one, or copied it.
  func context(of session: URLSession) -> LoadContext {
    guard followsSessions else { return context }
    let key = ObjectIdentifier(session)
    func known(in state: State) -> LoadContext? {
      // An identity may come back once its session is gone.
      guard let known = state.sessions[key], known.session === session else { return nil }
      return known.context
    }
    if let known = state.withLock({ known(in: $0) }) { return known }
    let common = context
    let (context, isNew) = state.withLock { state in
      if let known = known(in: state) { return (known, false) }
      let own = LoadContext(session.configuration, limits: registry.limits)
      let context = own.hasSameSettings(as: common) ? common : own
      state.sessions = state.sessions.filter { $0.value.session != nil }
      state.sessions[key] = SessionContext(session: session, context: context)
      return (context, true)
    }
    if isNew { PlatformClient.whenLetGo(session) { [weak self] in self?.restIfUnused() } }
    return context
  }

  /// A session is gone. With the last of them goes what is kept for their next load; another session may still be made.
  private func restIfUnused() {
    let transport = state.withLock { state in
      state.sessions = state.sessions.filter { $0.value.session != nil }
      return state.sessions.isEmpty ? state.transport : nil
    }
    PlatformTransport.rest(transport)
  }

  fileprivate struct SessionContext {
    weak var session: URLSession?
    let context: LoadContext
  }

  /// The configuration for what lies beneath: without this installation's own protocol class.
  private func innerConfiguration() -> URLSessionConfiguration {
    let inner = configuration.withLock { $0.copied }
    let own = protocolClass.withLock { $0 }
    inner.protocolClasses?.removeAll { $0 == own }
    return inner
  }

  /// The transport: the registry's, or the platform's, which is made on the first use.
  func transport(for url: URL?) throws -> any Transport {
    if let shared = registry.transport { return shared }
    let scheme = url?.scheme?.lowercased()
    return try state.withLock { state in
      guard !state.isInvalidated else { throw InterceptorRegistry.invalidatedError(url: url) }
      guard scheme == "http" || scheme == "https" else {
        let session = state.session ?? URLSessionTransport(configuration: innerConfiguration(), limits: registry.limits)
        state.session = session
        return session
      }
      if let transport = state.transport { return transport }
      let transport = PlatformTransport.make(innerConfiguration(), limits: registry.limits, logger: registry.logger)
      state.transport = transport
      return transport
    }
  }

  func invalidate() {
    // What the loading system still sends here is heard of by whoever wants to know.
    core.invalidate(leaving: registry.afterInvalidation)
  }
}

extension Installation.Core {
  func invalidate(leaving listener: InterceptorRegistry.LateListener? = nil) {
    let (transport, session) = state.withLock { state in
      state.isInvalidated = true
      defer {
        state.transport = nil
        state.session = nil
        state.sessions = [:]
      }
      return (state.transport, state.session)
    }
    if let protocolClass = protocolClass.withLock({ $0 }) { ProtocolClasses.remove(protocolClass, leaving: listener) }
    transport?.invalidate()
    session?.invalidate()
  }
}
