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

  /// A chain behind a reference, which is cheaper to pass on than the chain.
  final class Entry: Sendable {
    let chain: InterceptorChain
    private let links: [any RequestInterceptor]
    private let inline: InlineLinks
    private let isPlainHTTP: Bool

    init(_ chain: InterceptorChain) {
      self.chain = chain
      links = chain.interceptors
      inline = InlineLinks(links)
      isPlainHTTP = chain.scope.isPlainHTTP
    }

    /// The chain's links that take part in a request; `nil` when the scope does not cover it or none does.
    func select(_ request: URLRequest, _ target: inout InterceptorChain.Scope.Target) -> Selection? {
      guard isPlainHTTP ? target.isHTTP : chain.scope.covers(&target) else { return nil }
      let accepting = links.count { $0.canInit(with: request) }
      guard accepting > 0 else { return nil }
      if accepting == links.count { return Selection(chain: self, links: links, inline: inline) }
      // `canInit` is to be pure; one that changes its mind leaves the chain without links, which is the bare transport.
      let participants = links.filter { $0.canInit(with: request) }
      return Selection(chain: self, links: participants, inline: InlineLinks(participants))
    }
  }

  /// The chain that owns a request, and those of its interceptors that take part.
  struct Selection: Sendable {
    let chain: Entry
    let links: [any RequestInterceptor]
    /// Those of them that may answer inside the loading system's call.
    let inline: InlineLinks
  }

  /// The links of the chain that would own a WebSocket task's handshake, were it a request of `http`: no chain serves
  /// such a task.
  func links(forWebSocket request: URLRequest) -> [any RequestInterceptor] {
    guard let url = request.url, InterceptorChain.Scope.Target(url).isWebSocket,
      var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
    else { return [] }
    components.scheme = components.scheme?.lowercased() == "wss" ? "https" : "http"
    guard let handshake = components.url else { return [] }
    var request = request
    request.url = handshake
    return select(request)?.links ?? []
  }

  /// The first chain that accepts: its scope covers the request and one of its interceptors says `canInit` (rule 1).
  func select(_ request: URLRequest) -> Selection? {
    guard let url = request.url else { return nil }
    var target = InterceptorChain.Scope.Target(url)
    guard !target.isWebSocket else { return nil }
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
