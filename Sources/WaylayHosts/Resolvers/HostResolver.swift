/// Finds the addresses of hosts.
///
/// ### Use an existing resolver
///
/// ``StaticResolver`` for a table, ``DoHResolver`` for DNS over HTTPS, ``HTTPDNSResolver`` for a vendor's service,
/// ``SystemResolver`` for what the system says; several of them in order as ``ResolverChain``. ``ResolutionCache``
/// keeps the answers.
///
/// ### Implement a custom resolver
///
/// ```swift
/// struct FixedResolver: HostResolver {
///   let address: HostAddress
///
///   func resolve(_ query: HostQuery) async throws -> HostResolution {
///     HostResolution([.init(address)], timeToLive: .seconds(60), source: name)
///   }
/// }
/// ```
///
/// A resolver keeps no answers: the cache does. It throws ``HostError``: ``HostError/Code/notListed`` when it does not
/// know the host, ``HostError/Code/noSuchHost`` when it knows that there is none, another code when it failed. It ends
/// when its task is cancelled.
public protocol HostResolver: Sendable {
  /// What events and logs call it. Default: the type's name.
  var name: String { get }

  /// Finds the addresses of a host. Never answers with no candidates: it throws.
  func resolve(_ query: HostQuery) async throws -> HostResolution

  /// The network is another one: connections and measured times belonged to the one before. Default: nothing.
  func networkChanged()
}

extension HostResolver {
  /// The type's name.
  public var name: String { String(describing: Self.self) }

  /// Nothing.
  public func networkChanged() {}
}
