import Foundation
public import Logging

/// The ordered chains that handle a session's requests.
///
/// Make a registry, add it to a session configuration, and use `URLSession` as before:
///
/// ```swift
/// let registry = InterceptorRegistry {
///   LoopGuard()
///   AddLanguage()
/// }
/// let session = URLSession(configuration: .default.intercepted(by: registry))
/// let (data, response) = try await session.data(from: url)
/// ```
///
/// The registry asks chains newest first; the first that accepts a request owns it. A request that no chain accepts
/// stays untouched. Registering is thread-safe while requests run, and takes effect for the next request.
///
/// An installation in a session's configuration keeps its registry alive until ``invalidate()``, so a registry made
/// inline does not die before its session. If you make sessions by the thousand, for example in tests, call it for
/// each. On Linux, connections and their thread end with the last session that has used them, unless you gave the
/// registry its transport. A registry used only for direct loads ends when it is released, and closes its connections.
public final class InterceptorRegistry: Sendable {
  struct State {
    var index = ChainIndex.empty
    var installations: [Installation] = []
    /// The classes of `intercepted(by:)`, by the header fields that apply before the session is known. The runtime never
    /// frees a class.
    var classes: [[String: String]: URLProtocol.Type] = [:]
    /// The state that direct loads share. Not the installation, which retains its registry: that would be a retain
    /// cycle.
    var direct: Installation.Core?
    var isInvalidated = false
    /// The number of chains replaced so far.
    var replacements = 0
  }

  /// Settings that the package changes after initialization.
  private struct Settings {
    var coversItself = false
    var afterInvalidation: LateListener?
  }

  /// The state that a load reads once, at its start.
  struct Snapshot: Sendable {
    let index: ChainIndex
    let subscribers: [EventHub<LoadEvent>.Subscriber]
  }

  let transport: (any Transport)?
  let hasForeignTransport: Bool
  let configuration: Locked<URLSessionConfiguration>
  let logger: Logger?
  let redirectPolicy: RedirectPolicy
  let limits: MessageLimits
  let security: TransportSecurity
  let clock: TimerClock
  let watch: LoadWatch
  let lineageEntry: Lineage.Entry
  private let settings = Locked(Settings())
  private let hub = EventHub<LoadEvent>()
  let state = Locked(State())

  /// Makes a registry.
  ///
  /// - Parameters:
  ///   - transport: The transport for every session and for direct loads. Default: one per installation, with the
  ///     configuration of its session; `CurlTransport` on Linux, ``URLSessionTransport`` on Apple platforms.
  ///   - configuration: The storages, header fields and timeouts of direct loads, such as ``load(_:body:)``.
  ///   - logger: Receives one line per load, at `.debug`. Default: none; then faults in the set-up go to standard error.
  ///   - redirects: How redirects are followed.
  ///   - limits: The limits for heads and cookies, for the transports that the registry makes itself.
  ///   - security: Pins and client certificates, for the transports that the registry makes itself.
  ///   - interceptors: If there are any, they form one chain named `default`, for every `http` and `https` request.
  public convenience init(
    transport: (any Transport)? = nil, configuration: URLSessionConfiguration = .default, logger: Logger? = nil,
    redirects: RedirectPolicy = RedirectPolicy(), limits: MessageLimits = MessageLimits(),
    security: TransportSecurity = TransportSecurity(),
    @InterceptorBuilder _ interceptors: () -> [any RequestInterceptor] = { [] }
  ) {
    self.init(
      clock: .system, transport: transport, configuration: configuration, logger: logger, redirects: redirects,
      limits: limits, security: security, interceptors)
  }

  /// Makes a registry with a clock for its timeouts.
  package init(
    clock: TimerClock, transport: (any Transport)? = nil, configuration: URLSessionConfiguration = .default,
    logger: Logger? = nil,
    redirects: RedirectPolicy = RedirectPolicy(), limits: MessageLimits = MessageLimits(),
    security: TransportSecurity = TransportSecurity(),
    @InterceptorBuilder _ interceptors: () -> [any RequestInterceptor] = { [] }
  ) {
    self.clock = clock
    watch = LoadWatch(clock: clock)
    self.transport = transport
    hasForeignTransport = transport?.isForeign ?? false
    self.configuration = Locked(configuration.copied)
    self.logger = logger ?? FallbackLogger.current
    redirectPolicy = redirects
    (self.limits, self.security) = (limits, security)
    let origin = Lineage.nextOrigin()
    lineageEntry = Lineage.Entry(origin: origin, label: "registry \(origin)")
    let list = interceptors()
    guard !list.isEmpty else { return }
    let coversEveryScheme = list.contains { ($0 as? any GuardingInterceptor)?.coversEveryScheme == true }
    register(InterceptorChain(.default, for: coversEveryScheme ? .any : .http) { list })
  }

  /// Adds a chain in front of the existing ones. It replaces a chain of the same name in place.
  ///
  /// Reports problems of a chain to the logger, or else to standard error: a scope that matches nothing, a chain that
  /// replaces another one, an interceptor that is never reached.
  public func register(_ chain: InterceptorChain) {
    for problem in chain.problems { complain("the chain \"\(chain.name)\" \(problem)") }
    var isReplaced = false
    changeChains { chains in
      if let position = chains.firstIndex(where: { $0.name == chain.name }) {
        chains[position] = chain
        isReplaced = true
      } else {
        chains.insert(chain, at: 0)
      }
    }
    guard isReplaced else { return }
    let count = state.withLock { state in
      state.replacements += 1
      return state.replacements
    }
    guard count <= Self.reportedReplacements else { return }
    complain(
      "the chain \"\(chain.name)\" replaces another one of that name: give it another name to keep both"
        + (count == Self.reportedReplacements ? "; this registry reports no further replacements" : ""))
  }

  /// The number of replacements to report: an app may replace a chain with each change of its settings.
  private static let reportedReplacements = 5

  /// Reports a configuration error: to the logger, or else to standard error, where the developer sees it.
  func complain(_ problem: String) {
    if let logger { return logger.error("\(problem)") }
    // Ignore a closed standard error.
    try? FileHandle.standardError.write(contentsOf: Data("waylay: \(problem).\n".utf8))
  }

  /// Removes the chain with the given name, if any. Its loads in progress continue.
  public func unregister(_ name: InterceptorChain.Name) {
    changeChains { $0.removeAll { $0.name == name } }
  }

  /// The registered chains, in the order in which the registry asks them.
  public var chains: [InterceptorChain] { state.withLock { $0.index }.chains }

  private func changeChains(_ change: (inout [InterceptorChain]) -> Void) {
    state.withLock { state in
      var chains = state.index.chains
      change(&chains)
      state.index = ChainIndex(chains, of: lineageEntry.origin)
    }
  }

  /// The current chains and subscribers. The locks are held for a copy of one reference each.
  var snapshot: Snapshot { Snapshot(index: state.withLock { $0.index }, subscribers: hub.subscribers) }

  /// The events of loads that start from now on.
  ///
  /// - Parameter limit: The number of events buffered for a slow reader; beyond it, the oldest events are dropped.
  public func events(bufferingNewest limit: Int = 256) -> AsyncStream<LoadEvent> {
    hub.subscribe(bufferingNewest: limit)
  }

  /// Whether a request of code with the lineage `outer` is nested in a load of this registry, and how (rule 7).
  func nesting(from outer: Lineage) -> Lineage.Nesting? {
    guard let nesting = outer.nesting(in: lineageEntry.origin) else { return nil }
    return settings.withLock { $0.coversItself } ? nil : nesting
  }

  /// Runs requests of the registry's own interceptors through the whole chains, too, up to the maximum nesting depth:
  /// for a registry that must let no request reach the network.
  package func coverOwnRequests() { settings.withLock { $0.coversItself = true } }

  /// Invalidates the registry: its loads in progress fail, and its protocol classes fail all later loads instead of
  /// passing them through.
  ///
  /// Connections close, and installations release their resources. A transport that you passed to the registry remains
  /// usable: on Linux it closes its connections and ends its thread as soon as it is idle.
  public func invalidate() {
    let (installations, direct) = state.withLock { state in
      state.isInvalidated = true
      state.index = .empty
      return (exchange(&state.installations, with: []), state.direct.take())
    }
    watch.close()
    direct?.invalidate()
    for installation in installations { installation.invalidate() }
    PlatformTransport.rest(transport)
    hub.close()
  }

  /// Called with a request of a session whose registry was invalidated; on Linux by the code that makes the request.
  package typealias LateListener = @Sendable (URLRequest) -> Void

  /// Called with later requests of this registry's sessions after ``invalidate()``. It is retained until the process
  /// ends, so it should retain little.
  package var afterInvalidation: LateListener? {
    get { settings.withLock { $0.afterInvalidation } }
    set { settings.withLock { $0.afterInvalidation = newValue } }
  }

  package static func invalidatedError(url: URL?) -> WaylayError {
    WaylayError(
      .registryInvalidated,
      "the registry of this session was invalidated: make a new session from a configuration that a live registry "
        + "intercepts.",
      url: url)
  }
}

extension URLSessionConfiguration {
  /// A copy with its static type.
  var copied: URLSessionConfiguration {
    // `copy()` returns a configuration by Foundation's documentation.
    (copy() as? URLSessionConfiguration) ?? self
  }
}

/// The logger of registries, archives and rewriters without a logger of the app: none. Tests set one, and search its
/// output.
package enum FallbackLogger {
  private static let logger = Locked<Logger?>(nil)

  /// The logger for objects that are made from now on.
  package static var current: Logger? {
    get { logger.withLock { $0 } }
    set { logger.withLock { $0 = newValue } }
  }
}
