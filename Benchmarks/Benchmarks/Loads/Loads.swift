import Benchmark
import Foundation
import Scenarios
import TestOrigin

/// Every scenario under the benchmark tool, which keeps its percentiles and can compare them with a stored baseline.
let benchmarks: @Sendable () -> Void = {
  Benchmark.defaultConfiguration = .init(
    metrics: [.wallClock, .cpuTotal], scalingFactor: .kilo, maxDuration: .seconds(5), maxIterations: 50)
  let origin = Blocking.run { try await TestOrigin.start() }
  for scenario in Scenario.all(origin) {
    for inFlight in [1, 64] {
      Benchmark("\(scenario.name), \(inFlight) in flight") { benchmark in
        try await scenario.run(benchmark.scaledIterations.count, inFlight: inFlight)
      }
    }
  }
}

/// Waits for asynchronous set-up, which the tool's entry point does not allow for.
private enum Blocking {
  private final class Box<Value>: @unchecked Sendable {
    // Unchecked: written before the semaphore is signalled, read after.
    var result: Result<Value, any Error>?
  }

  static func run<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) -> Value {
    let box = Box<Value>()
    let done = DispatchSemaphore(value: 0)
    Task.detached {
      do { box.result = .success(try await work()) } catch { box.result = .failure(error) }
      done.signal()
    }
    done.wait()
    guard case .success(let value)? = box.result else { fatalError("set-up failed: \(String(describing: box.result))") }
    return value
  }
}
