import Foundation

/// The ratios that a scenario may reach, stored for each version of Swift, because a toolchain's Foundation is most of
/// what is measured.
struct Thresholds: Codable {
  /// How much worse than on the day it was stored a ratio may get: what runs on one machine differ by.
  static let tolerance = 1.15

  /// The ratios of a scenario, by wall-clock and by processor time.
  struct Limit: Codable {
    let wall: Double
    let cpu: Double
  }

  /// By the scenario's name and the number of loads in flight.
  var limits: [String: Limit] = [:]

  private static func key(_ line: Line) -> String { "\(line.scenario), \(line.inFlight) in flight" }

  /// `Thresholds/6.3.json` beside the manifest, for the compiler that built this.
  static var file: URL {
    #if compiler(>=6.4)
      let version = "6.4"
    #elseif compiler(>=6.3)
      let version = "6.3"
    #else
      let version = "6.2"
    #endif
    return URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
      .appendingPathComponent("Thresholds/\(version).json")
  }

  static func stored() throws -> Thresholds {
    try JSONDecoder().decode(Thresholds.self, from: Data(contentsOf: file))
  }

  /// Stores what was measured, with the tolerance, in place of what was stored for the same scenarios.
  static func store(_ lines: [Line]) throws {
    var thresholds = (try? stored()) ?? Thresholds()
    for line in lines where !line.isReference {
      func limit(_ ratio: Double) -> Double { (ratio * tolerance * 100).rounded() / 100 }
      thresholds.limits[key(line)] = Limit(wall: limit(line.wallRatio), cpu: limit(line.cpuRatio))
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try (encoder.encode(thresholds) + Data("\n".utf8)).write(to: file)
  }

  /// What is over its limit by both clocks: by one alone it is the machine's noise.
  func exceeded(by lines: [Line]) -> [String] {
    lines.compactMap { line in
      guard !line.isReference, let limit = limits[Self.key(line)], line.wallRatio > limit.wall,
        line.cpuRatio > limit.cpu
      else { return nil }
      return String(
        format: "%@: %.2f by the wall clock (limit %.2f), %.2f by processor time (limit %.2f)", Self.key(line),
        line.wallRatio,
        limit.wall, line.cpuRatio, limit.cpu)
    }
  }
}
