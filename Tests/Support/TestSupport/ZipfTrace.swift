import Foundation

/// Keys as people ask for them: the first one most, the thousandth a thousandth as often, or so.
package struct ZipfTrace {
  private let sums: [Double]

  package init(keys: Int, exponent: Double) {
    var sum = 0.0
    sums = (1...keys).map { rank in
      sum += 1 / pow(Double(rank), exponent)
      return sum
    }
  }

  package func keys(_ count: Int) -> [Int] {
    var state: UInt64 = 7
    return (0..<count).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let point = Double(state >> 11) / Double(1 << 53) * (sums.last ?? 0)
      var (low, high) = (0, sums.count - 1)
      while low < high {
        let middle = (low + high) / 2
        if sums[middle] < point { low = middle + 1 } else { high = middle }
      }
      return low
    }
  }
}

/// A cache that evicts what was asked for longest ago: the policy to beat.
package struct LeastRecentlyUsed {
  private let capacity: Int
  private var last: [Int: Int] = [:]
  private var queue: [(key: Int, time: Int)] = []
  private var oldest = 0
  private var time = 0

  package init(capacity: Int) {
    self.capacity = capacity
  }

  /// Whether the key is there; it is afterwards.
  package mutating func access(_ key: Int) -> Bool {
    time += 1
    let isHit = last[key] != nil
    last[key] = time
    queue.append((key, time))
    while last.count > capacity {
      let (key, time) = queue[oldest]
      oldest += 1
      if last[key] == time { last[key] = nil }
    }
    return isHit
  }
}
