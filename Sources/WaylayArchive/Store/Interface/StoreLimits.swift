/// The limits of a store, enforced at every write: the least valuable entries are evicted before the new entry is
/// written.
public struct StoreLimits: Hashable, Sendable {
  /// The maximum number of bytes, including heads and bookkeeping.
  public var bytes: Int64
  /// The maximum number of entries.
  public var count: Int
  /// The maximum number of bytes of one entry.
  public var entryBytes: Int64
  /// The level at which an eviction stops, as a fraction of the limit.
  public var lowWater: Double

  /// Makes limits.
  ///
  /// - Parameters:
  ///   - bytes: The maximum number of bytes of all entries.
  ///   - count: The maximum number of entries.
  ///   - entryBytes: The maximum number of bytes of one entry: an eighth of `bytes` by default.
  ///   - lowWater: What remains after an eviction, as a fraction of the limit, from 0 to 1.
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
