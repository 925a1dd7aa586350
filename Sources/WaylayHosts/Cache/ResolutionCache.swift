/// Caches the answers of a resolver, so that hardly any request waits for one.
///
/// ```swift
/// var options = ResolutionCache.Options()
/// options.file = URL.cachesDirectory.appending(path: "hosts.json")
/// let cache = ResolutionCache(ResolverChain([doh, SystemResolver()]), options: options)
/// cache.prefetch([HostQuery(try HostName("api.example.com"))])
/// ```
///
/// The cache uses answers as long as their server says, within limits, and looks them up again in the background before
/// they expire. If no lookup succeeds, it uses an expired answer (RFC 8767). Concurrent lookups of the same host are
/// one; a caller that stops waiting does not affect the others, and the lookup ends when nobody waits for it. The cache
/// also remembers that a host does not exist.
///
/// The cache ends with its last reference, and with it every lookup in progress. Do not put a cache in front of
/// another: it would keep answers too long.
public final class ResolutionCache: HostResolver {
  /// An answer with its origin in the cache.
  public struct Answer: Sendable, Hashable {
    /// The answer.
    public let resolution: HostResolution
    /// The time since the resolver gave the answer.
    public let age: Duration
    /// Whether the answer has expired, and is used because nothing better is available (RFC 8767).
    public let isStale: Bool
    /// Whether the answer was cached, so that no resolver had to be waited for.
    public let isCached: Bool
  }

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

  /// Returns the answer that is available without waiting, if any, and looks it up again in the background when due.
  /// Also `nil` for a host whose lookup failed: ``answer(_:)`` throws that error, without waiting either.
  public func cached(_ query: HostQuery) -> Answer? { engine.cached(query) }

  /// Returns the cached answer, or that of the resolver.
  ///
  /// - Throws: ``HostError``, or `CancellationError` when the caller's task is cancelled; the lookup continues for
  ///   other waiters.
  public func answer(_ query: HostQuery) async throws -> Answer { try await engine.answer(query) }

  /// Returns the addresses of a host: the resolution of ``answer(_:)``.
  public func resolve(_ query: HostQuery) async throws -> HostResolution { try await answer(query).resolution }

  /// Looks up hosts now and keeps their answers fresh from now on, even without requests. Replaces the hosts of an
  /// earlier call; an empty list ends prefetching.
  public func prefetch(_ queries: [HostQuery]) { engine.prefetch(queries) }

  /// Removes the answer for one host.
  public func remove(_ query: HostQuery) { engine.remove(query) }

  /// Removes all answers, because the network has changed. Lookups in progress start over, and so do those of the
  /// prefetch list.
  public func networkChanged() { engine.networkChanged() }

  /// Writes the file of the options now. Otherwise the cache writes it a second after an answer arrives.
  ///
  /// - Throws: Errors of the file system.
  public func save() throws { try engine.save() }
}
