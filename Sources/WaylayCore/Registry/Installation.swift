import Foundation

/// One place a registry is installed in: a session configuration, or the direct way.
///
/// It knows whose loads these are (the context) and has one transport for all of them.
final class Installation: Sendable {
  fileprivate struct State {
    var transport: (any Transport)?
    /// For what is neither `http` nor `https`, which the system may know.
    var session: URLSessionTransport?
    var isInvalidated = false
  }

  let registry: InterceptorRegistry
  let context: LoadContext
  let challenges: ChallengeDesk
  /// Its protocol class; none for the direct way.
  let protocolClass: Locked<URLProtocol.Type?>
  private let configuration: Locked<URLSessionConfiguration>
  private let state: Locked<State>

  /// All of it but the registry, which may hold this.
  struct Core: Sendable {
    fileprivate let context: LoadContext
    fileprivate let challenges: ChallengeDesk
    fileprivate let protocolClass: Locked<URLProtocol.Type?>
    fileprivate let configuration: Locked<URLSessionConfiguration>
    fileprivate let state: Locked<State>
  }

  var core: Core {
    Core(context: context, challenges: challenges, protocolClass: protocolClass, configuration: configuration, state: state)
  }

  /// The same installation again.
  init(_ registry: InterceptorRegistry, _ core: Core) {
    self.registry = registry
    context = core.context
    challenges = core.challenges
    protocolClass = core.protocolClass
    configuration = core.configuration
    state = core.state
  }

  /// - Parameter configuration: The session's configuration without this installation's own protocol class.
  init(_ registry: InterceptorRegistry, configuration: URLSessionConfiguration) {
    self.registry = registry
    self.configuration = Locked(configuration)
    challenges = ChallengeDesk()
    protocolClass = Locked(nil)
    state = Locked(State())
    context = LoadContext(configuration, limits: registry.limits)
  }

  /// The transport: the registry's, or the platform's, which is made on the first use.
  func transport(for url: URL?) throws -> any Transport {
    if let shared = registry.transport { return shared }
    let scheme = url?.scheme?.lowercased()
    return try state.withLock { state in
      guard !state.isInvalidated else { throw InterceptorRegistry.invalidatedError(url: url) }
      guard scheme == "http" || scheme == "https" else {
        let session = state.session ?? configuration.withLock { URLSessionTransport(configuration: $0, limits: context.limits) }
        state.session = session
        return session
      }
      if let transport = state.transport { return transport }
      let transport = configuration.withLock { PlatformTransport.make($0, limits: context.limits, logger: registry.logger) }
      state.transport = transport
      return transport
    }
  }

  func invalidate() {
    core.invalidate()
  }

  /// What is to become of a request.
  ///
  /// Made once per task, where the loading system asks whether we take the request, and used where it is loaded.
  final class Decision: Sendable {
    let installation: Installation
    /// The protocol class that was asked; none in the direct way.
    let owner: ObjectIdentifier?
    let snapshot: InterceptorRegistry.Snapshot
    /// The request without a tag and with the session's header fields and cookies.
    let request: URLRequest
    /// The lineage of the code that the request comes from.
    let outer: Lineage?
    /// The chain that owns the request. None: it came from inside this registry's own chain, or no chain accepts it.
    let selection: ChainIndex.Selection?
    /// Whether the request's `Cookie` is the storage's, and so to be made anew for another hop.
    let hasStoredCookies: Bool
    /// Whether we take the request: a chain accepts it, or its tag must not reach the system (rule 7).
    let isAccepted: Bool

    /// - Parameter bySession: Whether a session has put its cookies into the request already.
    init(_ request: URLRequest, in installation: Installation, for owner: URLProtocol.Type? = nil, bySession: Bool) {
      self.installation = installation
      self.owner = owner.map { ObjectIdentifier($0) }
      snapshot = installation.registry.snapshot
      var request = request
      let tagged = RequestTag.lineage(of: request)
      if tagged != nil { RequestTag.strip(&request) }
      hasStoredCookies = installation.context.prepare(
        &request, origin: PlatformClient.origin(of: request), bySession: bySession)
      self.request = request
      let current = Lineage.current
      outer = (current?.depth ?? 0) < (tagged?.depth ?? 0) ? tagged : current
      let isReentry = installation.registry.isReentry(from: outer)
      selection = isReentry ? nil : snapshot.index.select(request)
      isAccepted = isReentry || selection != nil
    }
  }
}

extension Installation.Core {
  func invalidate() {
    let (transport, session) = state.withLock { state in
      state.isInvalidated = true
      defer {
        state.transport = nil
        state.session = nil
      }
      return (state.transport, state.session)
    }
    if let protocolClass = protocolClass.withLock({ $0 }) { ProtocolClasses.remove(protocolClass) }
    transport?.invalidate()
    session?.invalidate()
  }
}
