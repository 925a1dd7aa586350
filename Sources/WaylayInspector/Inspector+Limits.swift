extension Inspector {
  /// How much an ``Inspector`` keeps. Whatever it is too much for goes, the oldest first; what is open stays as long as
  /// it can.
  ///
  /// ```swift
  /// let inspector = Inspector(limits: Inspector.Limits(exchanges: 500, bytes: 16 << 20))
  /// ```
  public struct Limits: Sendable, Hashable {
    /// How many exchanges are kept: 5 000 by default.
    public var exchanges: Int
    /// How many bytes all of them together may take, heads and bodies: 64 MiB by default.
    public var bytes: Int
    /// How many bytes of one body are kept, from its beginning: 512 KiB by default. All of the body still goes through,
    /// and its whole length is known.
    public var bodyBytes: Int

    /// Makes limits. Numbers below zero are zero; one exchange may always be kept.
    public init(exchanges: Int = 5_000, bytes: Int = 64 << 20, bodyBytes: Int = 512 << 10) {
      self.exchanges = max(1, exchanges)
      self.bytes = max(0, bytes)
      self.bodyBytes = max(0, bodyBytes)
    }

    /// What one body may take, at most: not more than all together.
    var mostOfABody: Int { min(bodyBytes, bytes) }
  }
}
