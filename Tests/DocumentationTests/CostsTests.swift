import Foundation
import Testing

/// What the guide says that a load costs, which is what the benchmarks allow.
@Suite("The costs in the guide")
struct CostsTests {
  private struct Limit: Decodable {
    let wall: Double
  }

  private struct Thresholds: Decodable {
    let limits: [String: Limit]
  }

  /// The scenario that a row of the table is about.
  private static let scenarios = [
    "an inline response": "one inline interceptor",
    "an asynchronous response": "one asynchronous interceptor",
    "a response from a mock": "mock: one stub",
    "a response that a mock's closure makes": "mock: one stub with a closure",
    "a response from an archive's memory": "archive: hit in memory",
    "a forwarded request, intercepted session": "network: intercepted session",
    "a forwarded request, direct load": "network: direct load",
    "a routed request": "hosts: direct load, routed, one address",
  ]

  @Test("are the limits of the benchmarks", arguments: scenarios.keys.sorted())
  func limits(row: String) throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
    let scenario = try #require(Self.scenarios[row])
    let limits = try JSONDecoder().decode(
      Thresholds.self, from: Data(contentsOf: root.appending(path: "Benchmarks/Thresholds/6.3.json"))
    ).limits
    let page = try String(contentsOf: root.appending(path: "Documentation.docc/HowAChainRuns.md"), encoding: .utf8)
    let cells = try #require(
      page.split(separator: "\n").map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
        .first { $0.first == row && $0.count == 4 }, "the table of the guide has no such row")
    for (cell, inFlight) in [(cells[1], 1), (cells[2], 64)] {
      let limit = try #require(limits["\(scenario), \(inFlight) in flight"])
      #expect(cell == String(format: "%.2f", limit.wall), "\(scenario) with \(inFlight) in flight")
    }
  }
}
