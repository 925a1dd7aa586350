/// How much a store may hold. Kept at every write: what is least worth keeping makes room before the new entry is
/// written.
public struct StoreLimits: Hashable, Sendable {
  /// The most bytes, heads and bookkeeping included.
  public var bytes: Int64
  /// The most entries.
  public var count: Int
  /// The most bytes of one entry.
  public var entryBytes: Int64
  /// How far eviction goes once it has begun, as a share of the limit.
  public var lowWater: Double

  /// Sets limits.
  ///
  /// - Parameters:
  ///   - bytes: The most bytes of all entries.
  ///   - count: The most entries.
  ///   - entryBytes: The most bytes of one entry: an eighth of `bytes` unless you say otherwise.
  ///   - lowWater: What is left after an eviction, as a share of the limit, from 0 to 1.
  public init(bytes: Int64 = 512 << 20, count: Int = 1_000_000, entryBytes: Int64? = nil, lowWater: Double = 0.9) {
    self.bytes = max(bytes, 0)
    self.count = max(count, 0)
    self.entryBytes = min(entryBytes ?? self.bytes / 8, self.bytes)
    self.lowWater = lowWater.isNaN ? 0.9 : min(max(lowWater, 0), 1)
  }

  /// Whether so much is too much.
  func isExceeded(by usage: StoreUsage) -> Bool {
    usage.bytes > bytes || usage.count > count
  }

  /// The limits that eviction goes down to.
  var low: StoreLimits {
    var low = self
    low.bytes = Self.share(lowWater, of: bytes)
    low.count = Int(clamping: Self.share(lowWater, of: Int64(clamping: count)))
    return low
  }

  /// A share of a limit, whatever the two are set to: a `Double` cannot hold all that an `Int64` can, and has values
  /// that are no numbers.
  private static func share(_ share: Double, of limit: Int64) -> Int64 {
    guard share < 1 else { return limit }
    guard share > 0 else { return 0 }
    return min(limit, Int64(exactly: (Double(limit) * share).rounded(.down)) ?? limit)
  }
}
