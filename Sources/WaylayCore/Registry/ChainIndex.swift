import Foundation

/// The chains of a registry at one moment, newest first, arranged so that a look-up skips the chains of other hosts.
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
      let hosts = chain.scope.hosts.map(\.exactHost)
      if hosts.isEmpty || hosts.contains(nil) {
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

    init(_ chain: InterceptorChain) {
      self.chain = chain
    }
  }

  /// The chain that owns a request, and those of its interceptors that take part.
  struct Selection: Sendable {
    let chain: Entry
    let links: [any RequestInterceptor]
    let answersInline: Bool
  }

  func select(_ request: URLRequest) -> Selection? {
    guard let owner = owner(of: request) else { return nil }
    var links = owner.chain.interceptors
    var answersInline = true
    var declines = false
    for link in links {
      if !link.canInit(with: request) { declines = true } else if !link.answersInline { answersInline = false }
    }
    if declines { links.removeAll { !$0.canInit(with: request) } }
    return links.isEmpty ? nil : Selection(chain: owner, links: links, answersInline: answersInline)
  }

  /// The first chain that accepts: its scope covers the request and one of its interceptors says `canInit` (rule 1).
  func owner(of request: URLRequest) -> Entry? {
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
      let entry = entries[position]
      if entry.chain.scope.covers(&target), entry.chain.interceptors.contains(where: { $0.canInit(with: request) }) {
        return entry
      }
    }
    return nil
  }
}
