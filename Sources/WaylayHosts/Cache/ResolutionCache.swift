/// Keeps the answers of a resolver.
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

  /// What a cache can be told.
  public struct Options: Sendable {
    /// Makes the usual options.
    public init() {}
  }

  private let resolver: any HostResolver
  private let clock: HostClock

  /// Makes a cache in front of a resolver.
  public init(_ resolver: any HostResolver, options: Options = Options(), clock: HostClock = .system) {
    self.resolver = resolver
    self.clock = clock
  }

  /// The answer that is there now, without waiting: fresh ones only.
  public func cached(_ query: HostQuery) -> Answer? { nil }

  /// The answer that is there, or that the resolver gives.
  public func answer(_ query: HostQuery) async throws -> Answer {
    Answer(resolution: try await resolver.resolve(query), age: .zero, isStale: false, isCached: false)
  }

  /// The addresses of a host: ``answer(_:)`` without its story.
  public func resolve(_ query: HostQuery) async throws -> HostResolution { try await answer(query).resolution }

  /// Forgets that look-ups failed and asks anew for what is used: the network is another one.
  public func networkChanged() {}
}
