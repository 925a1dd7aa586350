import Foundation
import TestOrigin
import WaylayCore

/// Hands out the loads, and keeps count of what came of them.
final class Tally: Sendable {
  private struct State {
    var next = 0
    var done = 0
    var byKind: [String: Int] = [:]
    var faults: [String] = []
    var faultCount = 0
    /// Resident bytes after each hundredth of the loads.
    var samples: [Int] = []
    var running: Set<Int> = []
  }

  private let loads: Int
  private let seed: UInt64
  /// Each kind as often as its weight says.
  private let lots: [Kind]
  private let state = Locked(State())

  private let progress: ProgressLine

  init(loads: Int, seed: UInt64, kinds: [Kind], title: String) {
    progress = ProgressLine(title, of: loads)
    self.loads = loads
    self.seed = seed
    lots = kinds.flatMap { Array(repeating: $0, count: max(1, $0.weight)) }
  }

  /// The kind of a load, from its number alone.
  private func kind(of number: Int) -> Kind {
    var random = SplitMix(state: seed &+ UInt64(number))
    return lots[Int(random.next() % UInt64(lots.count))]
  }

  /// The next load, or `nil` when there are no more.
  func next() -> (Int, Kind)? {
    let number = state.withLock { state -> Int? in
      guard state.next < loads else { return nil }
      defer { state.next += 1 }
      state.running.insert(state.next)
      return state.next
    }
    return number.map { ($0, kind(of: $0)) }
  }

  func done(_ number: Int, _ kind: Kind, _ fault: String?) {
    progress.advance()
    let isSampleDue = state.withLock { state in
      state.done += 1
      state.running.remove(number)
      state.byKind[kind.name, default: 0] += 1
      if let fault {
        state.faultCount += 1
        if state.faults.count < 20 { state.faults.append("load \(number), \(kind.name): \(fault)") }
      }
      return state.done % max(1, loads / 100) == 0
    }
    guard isSampleDue, let bytes = Measurements.residentBytes else { return }
    state.withLock { $0.samples.append(bytes) }
  }

  /// Ends the process when nothing happens for a minute, and says which loads hang.
  func watch() async {
    await Measurements.watch {
      let (done, running) = self.state.withLock { ($0.done, $0.running) }
      let first = running.sorted().prefix(20)
      return (done, first.map { "\($0) (\(self.kind(of: $0).name))" }.joined(separator: ", "))
    }
  }

  /// Prints what happened, and returns what is wrong with it.
  func report(seconds: Double, growthLimit: Double) -> [String] {
    let state = state.withLock { $0 }
    for (name, count) in state.byKind.sorted(by: { $0.value > $1.value }) {
      print("\(name.padding(toLength: 34, withPad: " ", startingAt: 0)) \(count)")
    }
    print("")
    print(
      """
      loads                \(state.done) in \(String(format: "%.1f", seconds)) s, \
      \(Int(Double(state.done) / seconds)) per second
      """
    )
    print("wrong answers        \(state.faultCount)")
    var faults = state.faults
    if state.done != loads { faults.append("\(loads - state.done) loads never ended") }
    if let fault = growth(of: state.samples, limit: growthLimit) { faults.append(fault) }
    return faults
  }

  /// Compares the mean of the last tenth with that of the tenth after warm-up: single samples are noise.
  ///
  /// Warm-up is the first two fifths. An archive on the disk takes so long until the allocator has all sizes in store;
  /// from then on resident memory stays within a hundredth.
  private func growth(of samples: [Int], limit: Double) -> String? {
    guard samples.count >= 100 else {
      print("resident memory      not judged: too few samples")
      return nil
    }
    func mean(_ range: Range<Int>) -> Double { Double(samples[range].reduce(0, +)) / Double(range.count) }
    let (early, late) = (mean(40..<50), mean(90..<100))
    let growth = (late / early - 1) * 100
    let isJudged = loads >= 100_000
    print(
      String(
        format: "resident memory      %.1f MB after warm-up, %.1f MB at the end, %+.1f %%%@", early / 1e6, late / 1e6,
        growth,
        isJudged ? "" : " (not judged below 100 000 loads)"))
    return isJudged && growth > limit ? String(format: "resident memory grew by %.1f %%", growth) : nil
  }
}
