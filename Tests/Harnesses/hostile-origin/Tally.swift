import Foundation
import TestOrigin
import WaylayCore

/// Hands out the exchanges, and keeps count of what came of them.
final class Tally: Sendable {
  private struct State {
    var next = 0
    var done = 0
    var running: Set<Int> = []
    var faults: [String] = []
    var faultCount = 0
    var probes = 0
    var hits = 0
    /// Resident bytes after each fiftieth of the exchanges.
    var samples: [Int] = []
  }

  let seed: UInt64
  private let numbers: [Int]
  private let state = Locked(State())

  private let progress: ProgressLine

  init(seed: UInt64, numbers: [Int], title: String) {
    progress = ProgressLine(title, of: numbers.count)
    self.seed = seed
    self.numbers = numbers
  }

  var faults: [String] { state.withLock { $0.faults } }

  /// Runs all of them, so many at once.
  func run(
    at once: Int, _ exchange: @escaping @Sendable (Int) async -> (faults: [String], probes: Int, hits: Int)
  ) async {
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<once {
        group.addTask {
          while let number = self.next() {
            let result = await exchange(number)
            self.done(number, result.faults, result.probes, result.hits)
          }
        }
      }
    }
  }

  private func next() -> Int? {
    state.withLock { state in
      guard state.next < numbers.count else { return nil }
      defer { state.next += 1 }
      state.running.insert(numbers[state.next])
      return numbers[state.next]
    }
  }

  private func done(_ number: Int, _ faults: [String], _ probes: Int, _ hits: Int) {
    progress.advance()
    let isSampleDue = state.withLock { state in
      state.done += 1
      state.running.remove(number)
      state.probes += probes
      state.hits += hits
      state.faultCount += faults.count
      for fault in faults where state.faults.count < 50 { state.faults.append("exchange \(number): \(fault)") }
      return state.done % max(1, numbers.count / 50) == 0
    }
    guard isSampleDue, let bytes = Measurements.residentBytes else { return }
    state.withLock { $0.samples.append(bytes) }
  }

  /// Ends the process when nothing happens for a minute, and says which exchanges hang.
  func watch() async {
    await Measurements.watch {
      let (done, running) = self.state.withLock { ($0.done, $0.running) }
      let first = running.sorted().prefix(20)
      return (done, "seed \(self.seed), " + first.map(String.init).joined(separator: ", "))
    }
  }

  /// Prints what happened, and returns what is wrong with it.
  func report(growthLimit: Int) -> [String] {
    let state = state.withLock { $0 }
    say("exchanges            \(state.done)")
    say("wrong outcomes       \(state.faultCount)")
    say("archive without net  \(state.hits) of \(state.probes) answered")
    var faults = state.faults
    if numbers.count >= 1_000, state.hits * 10 < state.probes { faults.append("the archive answers hardly anything") }
    guard state.samples.count >= 50, let most = state.samples.dropFirst(10).max() else { return faults }
    let grown = (most - state.samples[10]) >> 20
    say("resident memory      \(state.samples[10] >> 20) MB after a fifth, \(most >> 20) MB at most")
    if Measurements.measuresMemory, grown > growthLimit { faults.append("resident memory grew by \(grown) MB") }
    return faults
  }
}

/// Says a line at once: it is there whatever becomes of the process.
func say(_ line: String) {
  FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
