import ArgumentParser
import Foundation
import Scenarios
import TestOrigin

/// Prints how long each scenario takes compared with its reference, measured side by side.
///
/// Machines are noisy, so nothing is measured first and nothing last: in every round each scenario has a short batch,
/// and what counts is the median over the rounds of the ratio within a round.
@main
struct Ratios: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Times each scenario against its reference, in one run.")

  @Option(help: "Rounds; the median is taken over them.") var rounds = 100
  @Option(help: "Loads in a batch.") var batch = 256
  @Option(help: "How many loads at once, separated by commas.") var inFlight = "1,64"
  @Option(help: "Only scenarios whose name contains this, and their references.") var only = ""
  @Flag(help: "Fail when a ratio is over the limit stored for this version of Swift.") var check = false
  @Flag(help: "Store these ratios, and some tolerance, as the limits for this version of Swift.") var store = false

  func run() async throws {
    let origin = try await TestOrigin.start()
    let all = Scenario.all(origin)
    let wanted = all.filter { only.isEmpty || $0.name.contains(only) }
    let references = Set(wanted.map(\.reference))
    let scenarios = all.filter { scenario in
      references.contains(scenario.name) || wanted.contains { $0.name == scenario.name }
    }
    print("| scenario | in flight | µs per load | ratio | CPU µs per load | CPU ratio | reference |")
    print("|---|---|---|---|---|---|---|")
    var lines: [Line] = []
    for count in inFlight.split(separator: ",").compactMap({ Int($0) }) {
      let measured = try await measure(scenarios.filter { count == 1 || !$0.isLarge }, inFlight: count)
      for line in measured { print(line.row) }
      lines += measured
    }
    await origin.stop()
    if store { try Thresholds.store(lines) }
    guard check else { return }
    let exceeded = try Thresholds.stored().exceeded(by: lines)
    for line in exceeded { print("OVER THE LIMIT  \(line)") }
    guard exceeded.isEmpty else { throw ExitCode(1) }
    print("No ratio is over its limit in \(Thresholds.file.lastPathComponent).")
  }

  /// What one batch took, per load.
  private struct Sample {
    let wall: Double
    let cpu: Double
  }

  private func measure(_ scenarios: [Scenario], inFlight: Int) async throws -> [Line] {
    var samples: [String: [Sample]] = [:]
    for scenario in scenarios { try await scenario.run(size(scenario), inFlight: inFlight) }
    let progress = ProgressLine("rounds with \(inFlight) in flight", of: rounds)
    for _ in 0..<rounds {
      // A new order each round, so that nobody always follows the same neighbour.
      for scenario in scenarios.shuffled() {
        let cpu = await CPUTime.now()
        let loads = size(scenario)
        let wall = try await ContinuousClock().measure { try await scenario.run(loads, inFlight: inFlight) }
        let spent = await CPUTime.now() - cpu
        samples[scenario.name, default: []].append(
          Sample(wall: wall / .microseconds(1) / Double(loads), cpu: spent / Double(loads)))
      }
      progress.advance()
    }
    return scenarios.map { scenario in
      let own = samples[scenario.name] ?? []
      let reference = samples[scenario.reference] ?? []
      func ratio(_ value: (Sample) -> Double) -> Double { median(zip(own, reference).map { value($0) / value($1) }) }
      return Line(
        scenario: scenario.name, reference: scenario.reference, inFlight: inFlight, wall: median(own.map(\.wall)),
        wallRatio: ratio(\.wall),
        cpu: median(own.map(\.cpu)), cpuRatio: ratio(\.cpu))
    }
  }

  private func size(_ scenario: Scenario) -> Int { scenario.isLarge ? 1 : batch }

  private func median(_ values: [Double]) -> Double {
    values.isEmpty ? .nan : values.sorted()[values.count / 2]
  }
}

/// What was measured of one scenario: microseconds per load, and ratios to its reference.
struct Line {
  let scenario: String
  let reference: String
  let inFlight: Int
  let wall: Double
  let wallRatio: Double
  let cpu: Double
  let cpuRatio: Double

  var isReference: Bool { scenario == reference }

  /// A row of the table.
  var row: String {
    let figures = String(format: "%.1f | %.2f | %.1f | %.2f", wall, wallRatio, cpu, cpuRatio)
    return "| \(scenario) | \(inFlight) | \(figures) | \(isReference ? "" : reference) |"
  }
}

/// The time that all threads of the process, and the program that a scenario runs, have spent on a processor: unlike
/// wall-clock time it does not grow when a neighbour is busy.
private enum CPUTime {
  /// In microseconds.
  static func now() async -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return await Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3 + Scenario.programTime
  }
}
