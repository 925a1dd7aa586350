import Foundation

/// A few threads for work that waits for a disk, so that callers' executors do not.
final class IOPool: Sendable {
  private let lanes: [DispatchQueue]
  private let loads: Locked<[Int]>

  init(lanes count: Int = 4) {
    lanes = (0..<count).map { DispatchQueue(label: "waylay.archive.io-\($0)") }
    loads = Locked([Int](repeating: 0, count: count))
  }

  /// Runs work on the lane that has least to do.
  func run(_ work: @escaping @Sendable () -> Void) {
    let lane = loads.withLock { loads in
      let lane = loads.indices.min { loads[$0] < loads[$1] } ?? 0
      loads[lane] += 1
      return lane
    }
    lanes[lane].async {
      work()
      self.loads.withLock { $0[lane] -= 1 }
    }
  }

  /// Waits until everything that runs by now has come to its end.
  func settle() async {
    for lane in lanes { await withCheckedContinuation { continuation in lane.async { continuation.resume() } } }
  }

  /// Runs work and waits for what it gives.
  func perform<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    let promise = Promise<Value>()
    return try await promise.value { run { promise.settle(Result { try work() }) } }
  }
}
