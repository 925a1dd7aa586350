import Foundation

/// A snapshot of a registry's chains, newest first, indexed so that a lookup skips the chains of other hosts.
final class ChainIndex: Sendable {
  let chains: [InterceptorChain]
  private let entries: [Entry]
  /// The positions of the chains that may cover a host, for each host that a scope names exactly.
  private let byHost: [String: [Int]]
  /// The positions of the chains without a list of exact hosts.
  private let anyHost: [Int]

  static let empty = ChainIndex([], of: 0)

  /// - Parameter registry: The number of the registry.
  init(_ chains: [InterceptorChain], of registry: UInt64) {
    self.chains = chains
    entries = chains.map { Entry($0, of: registry) }
    var byHost: [String: [Int]] = [:]
    var anyHost: [Int] = []
    for (position, chain) in chains.enumerated() where !chain.interceptors.isEmpty {
      let hosts = chain.scope.hosts?.map(\.exactHost) ?? [nil]
      if hosts.contains(nil) {
        anyHost.append(position)
      } else {
        for host in Set(hosts.compactMap { $0 }) { byHost[host, default: []].append(position) }
      }
    }
    self.byHost = byHost
    self.anyHost = anyHost
  }

  /// A chain, with its precomputed parts.
  private final class Entry: Sendable {
    private let scope: InterceptorChain.Scope
    /// The chain with all its interceptors: the selection for most requests.
    private let whole: Selection
    private let isPlainHTTP: Bool

    init(_ chain: InterceptorChain, of registry: UInt64) {
      scope = chain.scope
      whole = Selection(
        chain, chain.interceptors.enumerated().map { ($1, Member($1, at: $0, of: chain, in: registry)) })
      isPlainHTTP = chain.scope.isPlainHTTP
    }

    /// Selects the interceptors that take part in a request; `nil` if the scope does not cover it, or none takes part.
    func select(_ request: URLRequest, _ target: inout InterceptorChain.Scope.Target) -> Selection? {
      guard isPlainHTTP ? target.isHTTP : scope.covers(&target) else { return nil }
      let accepting = whole.interceptors.count { $0.canInit(with: request) }
      guard accepting > 0 else { return nil }
      if accepting == whole.interceptors.count { return whole }
      // `canInit` should be pure; if its result changes, the chain may have no interceptors left, and acts as the bare
      // transport.
      return whole.filter { interceptor, _ in interceptor.canInit(with: request) }
    }
  }

  /// The identity of an interceptor in a chain. It does not retain the interceptor, whose history may have the requests
  /// that carry it.
  struct Member: Sendable {
    private let type: ObjectIdentifier
    /// `nil` for a value, which is identified by its place.
    private let object: ObjectIdentifier?
    private let registry: UInt64
    private let chain: InterceptorChain.Name
    private let position: Int

    fileprivate init(
      _ interceptor: any RequestInterceptor, at position: Int, of chain: InterceptorChain, in registry: UInt64
    ) {
      let type = Swift.type(of: interceptor)
      self.type = ObjectIdentifier(type)
      object = type is AnyClass ? ObjectIdentifier(interceptor as AnyObject) : nil
      (self.registry, self.chain, self.position) = (registry, chain.name, position)
    }

    /// Text for a ``RequestTag`` that is the same for members that are the same.
    var text: String {
      if let object { return "\(UInt(bitPattern: object))" }
      return "\(UInt(bitPattern: type)).\(position).\(registry).\(RequestTag.escape("\(chain)"))"
    }

    /// Whether both are one object, or values of one type at one place.
    func isSame(as other: Member) -> Bool {
      guard type == other.type, object == other.object else { return false }
      return object != nil || position == other.position && registry == other.registry && chain == other.chain
    }
  }

  /// The chain that owns a request, and the interceptors that take part.
  final class Selection: Sendable {
    let chain: InterceptorChain
    let interceptors: [any RequestInterceptor]
    /// Their identities.
    let members: [Member]
    /// The interceptors that may respond inside the loading system's call.
    let inline: InlineInterceptors

    fileprivate init(_ chain: InterceptorChain, _ included: [(any RequestInterceptor, Member)]) {
      self.chain = chain
      (interceptors, members) = (included.map(\.0), included.map(\.1))
      inline = InlineInterceptors(interceptors)
    }

    /// The part of the selection whose interceptors satisfy a condition.
    func filter(_ isIncluded: (any RequestInterceptor, Member) -> Bool) -> Selection {
      Selection(chain, zip(interceptors, members).filter(isIncluded))
    }

    /// The part of the selection that gets a nested request (rule 7); `nil` if it is empty.
    func including(_ nesting: Lineage.Nesting) -> Selection? {
      let participants = filter(nesting.includes)
      return participants.interceptors.isEmpty ? nil : participants
    }
  }

  /// The interceptors of the chain that would own a WebSocket task's handshake if it were an `http` request: no chain
  /// serves such a task.
  func interceptors(forWebSocket request: URLRequest) -> [any RequestInterceptor] {
    guard let url = request.url, InterceptorChain.Scope.Target(url).isWebSocket,
      var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
    else { return [] }
    components.scheme = components.scheme?.lowercased() == "wss" ? "https" : "http"
    guard let handshake = components.url else { return [] }
    var request = request
    request.url = handshake
    return select(request)?.interceptors ?? []
  }

  /// The first chain that accepts the request: its scope covers it, and `canInit` of one of its interceptors is true
  /// (rule 1). Of a nested request, the part that takes part in it (rule 7).
  func select(_ request: URLRequest, nesting: Lineage.Nesting? = nil) -> Selection? {
    request.url.flatMap { select(request, InterceptorChain.Scope.Target($0), nesting) }
  }

  /// The same for a request with a parsed URL.
  func select(
    _ request: URLRequest, _ target: InterceptorChain.Scope.Target, _ nesting: Lineage.Nesting?
  ) -> Selection? {
    if case .transport = nesting { return nil }
    let owner = owner(of: request, target)
    return if let nesting { owner?.including(nesting) } else { owner }
  }

  private func owner(of request: URLRequest, _ target: InterceptorChain.Scope.Target) -> Selection? {
    guard !target.isWebSocket else { return nil }
    var target = target
    let named = byHost.isEmpty ? [] : byHost[target.host] ?? []
    var (next, nextNamed) = (0, 0)
    while next < anyHost.count || nextNamed < named.count {
      let position: Int
      if nextNamed == named.count || next < anyHost.count && anyHost[next] < named[nextNamed] {
        position = anyHost[next]
        next += 1
      } else {
        position = named[nextNamed]
        nextNamed += 1
      }
      if let selection = entries[position].select(request, &target) { return selection }
    }
    return nil
  }
}
