/// Finds the addresses of hosts.
///
/// ### Use an existing resolver
///
/// ``StaticResolver`` uses a table, ``DoHResolver`` DNS over HTTPS, ``HTTPDNSResolver`` a vendor's service, and
/// ``SystemResolver`` the system; ``ResolverChain`` combines several in order. ``ResolutionCache`` caches the answers.
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
/// A resolver keeps no answers: the cache does. It throws ``HostError``: ``HostError/Code/notListed`` if it does not
/// know the host, ``HostError/Code/noSuchHost`` if it knows that the host does not exist, another code if it failed. It
/// ends when its task is cancelled.
public protocol HostResolver: Sendable {
  /// The name in events and logs. Default: the type's name.
  var name: String { get }

  /// Finds the addresses of a host. It never returns an answer without candidates: it throws.
  func resolve(_ query: HostQuery) async throws -> HostResolution

  /// Tells the resolver that the network has changed, which invalidates its connections and measured times. Default:
  /// does nothing.
  func networkChanged()
}

extension HostResolver {
  /// The type's name.
  public var name: String { String(describing: Self.self) }

  /// Does nothing.
  public func networkChanged() {}
}
