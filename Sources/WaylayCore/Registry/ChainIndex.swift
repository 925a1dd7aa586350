import Foundation

/// The chains of a registry at one moment, newest first, arranged so that a lookup skips the chains of other hosts.
final class ChainIndex: Sendable {
  let chains: [InterceptorChain]
  private let entries: [Entry]
  /// For each host that a scope names exactly, the positions of the chains that may cover it.
  private let byHost: [String: [Int]]
  /// The positions of the chains whose hosts cannot be listed.
  private let anyHost: [Int]

  init(_ chains: [InterceptorChain]) {
    self.chains = chains
    entries = chains.map(Entry.init)
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

  /// A chain, and what of it is the same for all requests.
  private final class Entry: Sendable {
    private let scope: InterceptorChain.Scope
    /// The chain with all its interceptors, which is what most requests get.
    private let whole: Selection
    private let isPlainHTTP: Bool

    init(_ chain: InterceptorChain) {
      scope = chain.scope
      whole = Selection(chain, interceptors: chain.interceptors)
      isPlainHTTP = chain.scope.isPlainHTTP
    }

    /// The chain's interceptors that take part in a request; `nil` when the scope does not cover it or none does.
    func select(_ request: URLRequest, _ target: inout InterceptorChain.Scope.Target) -> Selection? {
      guard isPlainHTTP ? target.isHTTP : scope.covers(&target) else { return nil }
      let accepting = whole.interceptors.count { $0.canInit(with: request) }
      guard accepting > 0 else { return nil }
      if accepting == whole.interceptors.count { return whole }
      // `canInit` is to be pure; one that changes its mind leaves the chain without interceptors, which is the bare
      // transport.
      return Selection(whole.chain, interceptors: whole.interceptors.filter { $0.canInit(with: request) })
    }
  }

  /// The chain that owns a request, and those of its interceptors that take part.
  final class Selection: Sendable {
    let chain: InterceptorChain
    let interceptors: [any RequestInterceptor]
    /// Those of them that may answer inside the loading system's call.
    let inline: InlineInterceptors

    init(_ chain: InterceptorChain, interceptors: [any RequestInterceptor]) {
      self.chain = chain
      self.interceptors = interceptors
      inline = InlineInterceptors(interceptors)
    }
  }

  /// The interceptors of the chain that would own a WebSocket task's handshake, were it a request of `http`: no chain
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

  /// The first chain that accepts: its scope covers the request and one of its interceptors says `canInit` (rule 1).
  func select(_ request: URLRequest) -> Selection? {
    request.url.flatMap { select(request, InterceptorChain.Scope.Target($0)) }
  }

  /// The same, of a request whose URL has been taken apart.
  func select(_ request: URLRequest, _ target: InterceptorChain.Scope.Target) -> Selection? {
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
