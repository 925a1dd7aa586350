import Foundation

/// Threads for blocking disk I/O, so that the executors of callers do not block.
final class IOPool: Sendable {
  private let lanes: [DispatchQueue]
  private let last = Locked(0)

  init(lanes count: Int = 4) { lanes = (0..<count).map { DispatchQueue(label: "waylay.archive.io-\($0)") } }

  /// Runs work on one of the threads, in turn.
  func run(_ work: @escaping @Sendable () -> Void) {
    let lane = last.withLock { last in
      last = (last + 1) % lanes.count
      return last
    }
    lanes[lane].async(execute: work)
  }

  /// Waits until all work that runs now has ended. Blocks.
  func wait() { for lane in lanes { lane.sync {} } }

  /// Runs work and waits for its result.
  func perform<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    let promise = Promise<Value>()
    return try await promise.value { run { promise.settle(Result { try work() }) } }
  }
}
