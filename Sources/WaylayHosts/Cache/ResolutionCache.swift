/// Caches the answers of a resolver, so that few requests wait for a lookup.
///
/// ```swift
/// var options = ResolutionCache.Options()
/// options.file = URL.cachesDirectory.appending(path: "hosts.json")
/// let cache = ResolutionCache(ResolverChain([doh, SystemResolver()]), options: options)
/// cache.prefetch([try HostName("api.example.com")])
/// ```
///
/// The cache uses an answer for as long as its server allows, within limits, and looks the host up again in the
/// background before the answer expires. If every lookup fails, the cache uses the expired answer (RFC 8767).
/// Concurrent lookups of the same host are coalesced: a cancelled caller does not affect the other callers, and the
/// cancellation of the last caller cancels the lookup. The cache also remembers that a host does not exist.
///
/// Releasing the last reference to the cache cancels every lookup in progress. Do not put a cache in front of another
/// one: it would keep answers too long.
public final class ResolutionCache: HostResolver {
  private let engine: CacheEngine

  /// Makes a cache in front of a resolver, and reads the file of the options.
  public init(
    _ resolver: any HostResolver, options: Options = Options(), clock: any Clock<Duration> = ContinuousClock()
  ) {
    engine = CacheEngine(resolver, options: options, clock: HostClock(clock))
    engine.load()
  }

  deinit {
    engine.stop()
  }

  /// The name of the underlying resolver.
  public var name: String { engine.resolver.name }

  /// The answer that is available without waiting, if any; a due answer is refreshed in the background. Also `nil` for
  /// a host whose lookup failed recently: ``lookUp(_:)`` then throws that error at once.
  func cached(_ authority: HostAuthority) -> CachedResolution? { engine.cached(authority) }

  /// The names that may have private addresses.
  var privateHosts: [HostPattern] { engine.options.privateHosts }

  /// Returns the cached answer, or that of the resolver.
  func lookUp(_ authority: HostAuthority) async throws -> CachedResolution {
    try await engine.lookUp(authority)
  }

  /// Returns the cached addresses of a host, or those of the resolver.
  ///
  /// - Throws: ``HostError``, or `CancellationError` when the caller's task is cancelled; the lookup continues for
  ///   other callers.
  public func resolve(_ host: HostName, port: Int) async throws -> HostResolution {
    try await lookUp(HostAuthority(host, port: port)).resolution
  }

  /// Looks up hosts now and keeps their answers fresh from now on, even without requests. Replaces the hosts of an
  /// earlier call; an empty list ends prefetching.
  public func prefetch(_ hosts: [HostName], port: Int = 443) {
    engine.prefetch(hosts.map { HostAuthority($0, port: port) })
  }

  /// Removes the answer for one host.
  public func remove(_ host: HostName, port: Int = 443) { engine.remove(HostAuthority(host, port: port)) }

  /// Removes all answers, because the network has changed. Lookups in progress start over, and so do those of the
  /// prefetch list.
  public func networkChanged() { engine.networkChanged() }

  /// Writes the file of the options now. Otherwise the cache writes it a second after an answer arrives.
  ///
  /// - Throws: Errors of the file system.
  public func save() throws { try engine.save() }
}

/// An answer of the cache.
struct CachedResolution: Sendable, Hashable {
  let resolution: HostResolution
  /// The time since the resolver gave the answer; `nil` for the addresses of a rule.
  let age: Duration?
  /// Whether the answer has expired and is used because no fresh one is available (RFC 8767).
  let isStale: Bool
}

extension ResolutionCache {
  /// The options of a cache. The default values are those that the RFCs recommend; outside of tests, there is rarely a
  /// reason to change them.
  public struct Options: Sendable {
    /// The minimum and maximum time to use an answer, regardless of the time that its server allows.
    public var timeToLive: ClosedRange<Duration> = .seconds(10)...(.seconds(60 * 60))
    /// The minimum and maximum time to remember that a host does not exist (RFC 2308, section 5).
    public var negativeTimeToLive: ClosedRange<Duration> = .seconds(10)...(.seconds(5 * 60))
    /// How long not to repeat a failed lookup if no cached answer exists.
    public var failureTimeToLive = Duration.seconds(5)
    /// The fraction of its lifetime after which an answer in use is looked up again in the background; `nil` for never.
    public var refreshFraction: Double? = 0.75
    /// How long an answer may be used after its expiry if no other is available (RFC 8767, section 5: one to three
    /// days); zero for never.
    public var maximumStaleness = Duration.seconds(24 * 60 * 60)
    /// How long to wait for a lookup before using the stale answer (RFC 8767, section 5).
    public var staleDelay = Duration.milliseconds(1_800)
    /// How long to reuse a stale answer at once, and not to repeat a failed lookup (RFC 8767, sections 4 and 5).
    public var staleTimeToLive = Duration.seconds(30)
    /// Whether stale answers from one network may be used in another.
    public var keepsStaleAcrossNetworks = false
    /// The maximum number of answers kept; the least recently used are removed first. Failed lookups count separately.
    public var capacity = 1_000
    /// The public names that may have private, loopback and other special addresses, because you own them; `*` allows
    /// all names. The cache removes such addresses from the answers for other public names; if no address is left, the
    /// lookup fails. Otherwise an attacker who registers a name could lead the app into a private network (DNS
    /// rebinding).
    ///
    /// Names that are not public (single labels and names below `local`, `localhost`, `internal` and `home.arpa`) may
    /// always have them, and so may the hosts of a rule with addresses.
    public var privateHosts: [HostPattern] = []
    /// The file that keeps answers for the app's next launch; `nil` for none. Only its owner can read it. A file that
    /// belongs to another user, or is writable by other users, is ignored with a warning.
    public var file: URL?
    /// The logger for ignored input, such as a damaged file.
    public var logger: Logger?

    /// Makes the default options.
    public init() {}
  }
}
