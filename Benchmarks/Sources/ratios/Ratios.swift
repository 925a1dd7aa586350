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

  @Option(help: "Rounds; the median is taken over them.") var rounds = 200
  @Option(help: "Loads in a batch.") var batch = 64
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
    print("| scenario | in flight | µs per load | ratio | reference |")
    print("|---|---|---|---|---|")
    for count in inFlight.split(separator: ",").compactMap({ Int($0) }) {
      for line in try await measure(scenarios, inFlight: count) { print(line) }
    }
    await origin.stop()
  }

  private func measure(_ scenarios: [Scenario], inFlight: Int) async throws -> [String] {
    var times: [String: [Double]] = [:]
    for scenario in scenarios { try await scenario.run(batch, inFlight: inFlight) }
    for round in 0..<rounds {
      // Each round begins elsewhere, so that nobody always follows the same neighbour.
      for offset in scenarios.indices {
        let scenario = scenarios[(round + offset) % scenarios.count]
        let clock = ContinuousClock()
        let time = try await clock.measure { try await scenario.run(batch, inFlight: inFlight) }
        times[scenario.name, default: []].append(time / .microseconds(1) / Double(batch))
      }
    }
    return scenarios.map { scenario in
      let own = times[scenario.name] ?? []
      let ratios = zip(own, times[scenario.reference] ?? []).map { $0 / $1 }
      let ratio = String(format: "%.2f", median(ratios))
      let reference = scenario.reference == scenario.name ? "" : scenario.reference
      return "| \(scenario.name) | \(inFlight) | \(String(format: "%.1f", median(own))) | \(ratio) | \(reference) |"
    }
  }

  private func median(_ values: [Double]) -> Double {
    values.isEmpty ? .nan : values.sorted()[values.count / 2]
  }
}
