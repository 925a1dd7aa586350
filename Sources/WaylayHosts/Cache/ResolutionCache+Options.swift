extension ResolutionCache {
  /// The options of a cache. The default values are those recommended by the RFCs; there is hardly a reason to change
  /// them outside tests.
  public struct Options: Sendable {
    /// The minimum and maximum time to use an answer, whatever its server says.
    public var timeToLive: ClosedRange<Duration> = .seconds(10)...(.seconds(60 * 60))
    /// The minimum and maximum time to remember that a host does not exist (RFC 2308, section 5).
    public var negativeTimeToLive: ClosedRange<Duration> = .seconds(10)...(.seconds(5 * 60))
    /// How long not to repeat a failed lookup if there is no other answer.
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
    /// The file that keeps answers for the app's next launch; `nil` for none. Only its owner can read it.
    public var file: URL?
    /// The logger for what the cache ignores, such as a damaged file.
    public var logger: Logger?

    /// Makes the default options.
    public init() {}
  }
}
