extension Inspector {
  /// How much an ``Inspector`` keeps. Beyond a limit the oldest exchanges are removed first; open ones stay as long as
  /// possible.
  ///
  /// ```swift
  /// let inspector = Inspector(limits: Inspector.Limits(exchanges: 500, bytes: 16 << 20))
  /// ```
  public struct Limits: Sendable, Hashable {
    /// The maximum number of exchanges: 5 000 by default.
    public var exchanges: Int
    /// The maximum number of bytes of all exchanges together, heads and bodies: 64 MiB by default.
    public var bytes: Int
    /// The number of bytes kept of each body, from its beginning: 512 KiB by default. The whole body still passes
    /// through, and its full length is known.
    public var bodyBytes: Int

    /// Makes limits. Negative numbers count as zero; one exchange may always be kept.
    public init(exchanges: Int = 5_000, bytes: Int = 64 << 20, bodyBytes: Int = 512 << 10) {
      self.exchanges = max(1, exchanges)
      self.bytes = max(0, bytes)
      self.bodyBytes = max(0, bodyBytes)
    }

    /// What one body may take, at most: not more than all together.
    var mostOfABody: Int { min(bodyBytes, bytes) }
  }
}
