import ArgumentParser
import Foundation
import Scenarios
import TestOrigin

/// Prints how long each scenario takes compared with its reference, measured side by side.
///
/// Machines are noisy, so nothing is measured first and nothing last: in every round each scenario has a short batch, and what counts is the
/// median over the rounds of the ratio within a round.
@main
struct Ratios: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Times each scenario against its reference, in one run.")

  @Option(help: "Rounds; the median is taken over them.") var rounds = 100
  @Option(help: "Loads in a batch.") var batch = 256
  @Option(help: "How many loads at once, separated by commas.") var inFlight = "1,64"
  @Option(help: "Only scenarios whose name contains this, and their references.") var only = ""

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
    for count in inFlight.split(separator: ",").compactMap({ Int($0) }) {
      for line in try await measure(scenarios, inFlight: count) { print(line) }
    }
    await origin.stop()
  }

  /// What one batch took, per load.
  private struct Sample {
    let wall: Double
    let cpu: Double
  }

  private func measure(_ scenarios: [Scenario], inFlight: Int) async throws -> [String] {
    var samples: [String: [Sample]] = [:]
    for scenario in scenarios { try await scenario.run(batch, inFlight: inFlight) }
    for _ in 0..<rounds {
      // A new order each round, so that nobody always follows the same neighbour.
      for scenario in scenarios.shuffled() {
        let cpu = CPUTime.now
        let wall = try await ContinuousClock().measure { try await scenario.run(batch, inFlight: inFlight) }
        let sample = Sample(wall: wall / .microseconds(1) / Double(batch), cpu: (CPUTime.now - cpu) / Double(batch))
        samples[scenario.name, default: []].append(sample)
      }
    }
    return scenarios.map { scenario in
      let own = samples[scenario.name] ?? []
      let reference = samples[scenario.reference] ?? []
      func column(_ value: (Sample) -> Double) -> String {
        let ratio = median(zip(own, reference).map { value($0) / value($1) })
        return String(format: "%.1f | %.2f", median(own.map(value)), ratio)
      }
      let name = scenario.reference == scenario.name ? "" : scenario.reference
      return "| \(scenario.name) | \(inFlight) | \(column(\.wall)) | \(column(\.cpu)) | \(name) |"
    }
  }

  private func median(_ values: [Double]) -> Double {
    values.isEmpty ? .nan : values.sorted()[values.count / 2]
  }
}

/// The time that all threads of the process have spent on a processor: unlike wall-clock time it does not grow when a neighbour is busy.
private enum CPUTime {
  /// In microseconds.
  static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
  }
}
