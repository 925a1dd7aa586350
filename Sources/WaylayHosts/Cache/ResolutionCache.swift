/// Keeps the answers of a resolver, so that hardly any request waits for one.
///
/// ```swift
/// var options = ResolutionCache.Options()
/// options.file = URL.cachesDirectory.appending(path: "hosts.json")
/// let cache = ResolutionCache(ResolverChain([doh, SystemResolver()]), options: options)
/// cache.prefetch([HostQuery(try HostName("api.example.com"))])
/// ```
///
/// Answers are used as long as their server says, within limits, and looked up again behind the scenes before their
/// time is over. When no lookup succeeds, an answer whose time is over is used (RFC 8767). Lookups of the same host
/// at the same time are one; who stops waiting does not disturb the others, and when nobody waits any more the lookup
/// ends. That a host does not exist is kept too.
///
/// The cache goes with its last reference, and with it every lookup that is under way. A cache in front of a cache
/// keeps answers too long.
public final class ResolutionCache: HostResolver {
  /// An answer, and how the cache came by it.
  public struct Answer: Sendable, Hashable {
    /// The answer.
    public let resolution: HostResolution
    /// How long ago the resolver gave it.
    public let age: Duration
    /// Whether its time is over, and it is used because nothing better could be had (RFC 8767).
    public let isStale: Bool
    /// Whether it was there already: no resolver was waited for.
    public let isCached: Bool
  }

  private let engine: CacheEngine

  /// Makes a cache in front of a resolver. The file of the options is read now.
  public init(
    _ resolver: any HostResolver, options: Options = Options(), clock: any Clock<Duration> = ContinuousClock()
  ) {
    engine = CacheEngine(resolver, options: options, clock: HostClock(clock))
    engine.load()
  }

  deinit {
    engine.stop()
  }

  /// The name of the resolver behind it.
  public var name: String { engine.resolver.name }

  /// The answer that can be used now, without waiting, if there is one; looks it up again behind the scenes when it is
  /// time to. `nil` for a host whose lookup failed, too: ``answer(_:)`` throws the error, without waiting either.
  public func cached(_ query: HostQuery) -> Answer? { engine.cached(query) }

  /// The answer that is there, or that the resolver gives.
  ///
  /// - Throws: ``HostError``, or `CancellationError` when the caller's task is cancelled; the lookup goes on for
  ///   others who wait for it.
  public func answer(_ query: HostQuery) async throws -> Answer { try await engine.answer(query) }

  /// The addresses of a host: ``answer(_:)`` without its story.
  public func resolve(_ query: HostQuery) async throws -> HostResolution { try await answer(query).resolution }

  /// Looks hosts up now and keeps their answers fresh from now on, whether anybody asks or not. Replaces the hosts of
  /// an earlier call; an empty list ends it.
  public func prefetch(_ queries: [HostQuery]) { engine.prefetch(queries) }

  /// Forgets one host.
  public func remove(_ query: HostQuery) { engine.remove(query) }

  /// Forgets everything: the network is another one. Lookups that are under way begin anew, and so do those of the
  /// prefetch list.
  public func networkChanged() { engine.networkChanged() }

  /// Writes the file of the options now. Otherwise it is written a second after an answer has come.
  ///
  /// - Throws: What the file system says.
  public func save() throws { try engine.save() }
}
