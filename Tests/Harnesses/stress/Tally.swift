import ArgumentParser
import Foundation
import TestOrigin
import WaylayCore

/// Hands out numbered loads, and counts what came of them.
final class Tally: Sendable {
  private struct State {
    var next = 0
    var done = 0
    var running: Set<Int> = []
    var faults: [String] = []
    var faultCount = 0
    var rate = ""
    /// Resident bytes after each hundredth of the loads.
    var samples: [Int] = []
  }

  private let numbers: ClosedRange<Int>
  private let name: @Sendable (Int) -> String
  private let progress: ProgressLine
  private let state = Locked(State())

  /// - Parameter name: A load's name in reports, from its number.
  init(_ numbers: ClosedRange<Int>, title: String, name: @escaping @Sendable (Int) -> String) {
    (self.numbers, self.name) = (numbers, name)
    progress = ProgressLine(title, of: numbers.count)
  }

  var faults: [String] { state.withLock { $0.faults } }

  /// Resident bytes after each hundredth of the loads; fewer samples of fewer loads.
  var samples: [Int] { state.withLock { $0.samples } }

  /// Runs all loads. Ends the process, with the loads that hang, when nothing happens for a minute.
  ///
  /// - Parameters:
  ///   - once: How many run at a time.
  ///   - load: Runs a load, and returns its faults.
  func run(at once: Int, _ load: @escaping @Sendable (Int) async -> [String]) async {
    let watchdog = Task {
      await Measurements.watch {
        let (done, running) = self.state.withLock { ($0.done, $0.running) }
        return (done, running.sorted().prefix(20).map(self.name).joined(separator: ", "))
      }
    }
    let start = ContinuousClock.now
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<once {
        group.addTask { while let number = self.next() { self.done(number, await load(number)) } }
      }
    }
    watchdog.cancel()
    let seconds = start.duration(to: .now) / .seconds(1)
    let rate = "\(numbers.count) in \(String(format: "%.1f", seconds)) s, \(Int(Double(numbers.count) / seconds))"
    state.withLock { $0.rate = rate }
  }

  private func next() -> Int? {
    state.withLock { state in
      guard state.next < numbers.count else { return nil }
      defer { state.next += 1 }
      let number = numbers.lowerBound + state.next
      state.running.insert(number)
      return number
    }
  }

  private func done(_ number: Int, _ faults: [String]) {
    progress.advance()
    let isSampleDue = state.withLock { state in
      state.done += 1
      state.running.remove(number)
      state.faultCount += faults.count
      for fault in faults where state.faults.count < 50 { state.faults.append("\(name(number)): \(fault)") }
      return state.done % max(1, numbers.count / 100) == 0
    }
    guard isSampleDue, let bytes = Measurements.residentBytes else { return }
    state.withLock { $0.samples.append(bytes) }
  }

  /// Prints the counts, the memory and the descriptors; fails when there was a fault.
  ///
  /// - Parameters:
  ///   - faults: What else was wrong.
  ///   - descriptors: What was open before the loads and after them.
  ///   - again: Options that repeat the loads.
  func end(_ faults: [String], descriptors: (before: [String]?, after: [String]?), again: String) throws {
    let state = state.withLock { $0 }
    say("loads                \(state.rate) per second")
    say("wrong outcomes       \(state.faultCount)")
    var faults = state.faults + faults
    if let before = descriptors.before, let after = descriptors.after {
      say("descriptors          \(before.count) before, \(after.count) after")
      if after.count > before.count {
        let new = after.filter { !before.contains($0) }
        faults.append("\(after.count - before.count) descriptors stayed open: \(new.joined(separator: ", "))")
      }
    } else {
      say("descriptors          not measured on this platform")
    }
    guard faults.isEmpty else {
      for fault in faults { say("FAULT  \(fault)") }
      say("Again: \(again)")
      throw ExitCode(1)
    }
    say("No faults.")
  }
}

/// Says a line at once: it is there whatever becomes of the process.
func say(_ line: String) {
  FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
