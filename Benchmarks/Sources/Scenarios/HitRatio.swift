import Foundation
import Waylay
@_spi(Benchmarks) import WaylayArchive

/// How much of what is asked for an archive still has, beside a cache that evicts what was asked for longest ago.
public struct HitRatio: Sendable {
  /// How uneven the popularity of the keys is.
  public let exponent: Double
  /// The share of requests that the archive answers.
  public let archive: Double
  /// The share that the other one answers.
  public let leastRecentlyUsed: Double

  /// Asks for 10 000 keys 300 000 times, with room for 500.
  public static func measured() throws -> [HitRatio] {
    try [0.7, 0.9, 1.1].map { exponent in
      let trace = ZipfTrace(keys: 10_000, exponent: exponent).keys(300_000)
      var other = LeastRecentlyUsed(capacity: 500)
      let otherHits = trace.count { other.access($0) }
      let store = StoreBenchmark(limits: StoreLimits(bytes: 1 << 30, count: 500, evictionTarget: 1))
      let hits = try trace.count { number in
        let item = StoreBenchmark.Item("\(number)")
        if store.contains(item) == true { return true }
        try store.put(item, Data())
        return false
      }
      let count = Double(trace.count)
      return HitRatio(exponent: exponent, archive: Double(hits) / count, leastRecentlyUsed: Double(otherHits) / count)
    }
  }
}
