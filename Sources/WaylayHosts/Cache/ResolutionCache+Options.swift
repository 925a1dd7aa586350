extension ResolutionCache {
  /// What a cache can be told. The usual values are those that the documents recommend; there is hardly a reason to
  /// change them outside of tests.
  public struct Options: Sendable {
    /// The least and the most time that an answer is used, whatever its server says.
    public var timeToLive: ClosedRange<Duration> = .seconds(10)...(.seconds(60 * 60))
    /// The least and the most time for which a host is taken not to exist (RFC 2308, section 5).
    public var negativeTimeToLive: ClosedRange<Duration> = .seconds(10)...(.seconds(5 * 60))
    /// For how long a lookup that failed is not tried again, when there is nothing else to answer with.
    public var failureTimeToLive = Duration.seconds(5)
    /// The part of its time after which an answer that is in use is looked up again, behind the scenes; `nil` for
    /// never.
    public var refreshFraction: Double? = 0.75
    /// For how long an answer may be used after its time, when no other can be had (RFC 8767, section 5: one to three
    /// days); zero for never.
    public var maximumStaleness = Duration.seconds(24 * 60 * 60)
    /// How long to wait for a lookup before the stale answer is used (RFC 8767, section 5).
    public var staleDelay = Duration.milliseconds(1_800)
    /// For how long a stale answer that was used is used again at once, and a lookup that failed is not tried again
    /// (RFC 8767, sections 4 and 5).
    public var staleTimeToLive = Duration.seconds(30)
    /// Whether stale answers of one network may be used in another.
    public var keepsStaleAcrossNetworks = false
    /// The most answers that are kept; those that were not used for the longest time go first.
    public var capacity = 1_000
    /// Where answers are kept for the next start of the app; `nil` for nowhere. The file is readable for its owner
    /// only.
    public var file: URL?
    /// Where the cache reports what it ignores, such as a damaged file.
    public var logger: Logger?

    /// Makes the usual options.
    public init() {}
  }
}
