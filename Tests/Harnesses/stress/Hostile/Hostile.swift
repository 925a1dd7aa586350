import ArgumentParser
import Foundation
import TestOrigin
import WaylayCore

/// Loads what a hostile server says, in all ways at once, and compares what an app sees with what may be made of it.
struct Hostile: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Loads from a server that lies about lengths, ranges, codings and everything else.",
    discussion: """
      A server on raw TCP makes up its responses by chance, right ones and wrong ones: lengths, chunks, codings, interim \
      responses, ranges, validators, redirects, challenges, heads, closed and reset connections. They are asked for \
      through intercepted sessions (tasks, completion handlers, delegates), direct loads (data, load, bytes) and an \
      archive on disk. For each a model says what may come of it. Faults are other outcomes, and growth of memory or \
      descriptors.

      The same seed makes the same exchanges; --only runs one of them again.
      """)

  @Option(help: "How many exchanges.") var exchanges = 100_000
  @Option(help: "How many of them at once.") var inFlight = 32
  @Option(help: "The seed of all chance. Default: the environment's WAYLAY_FUZZ_SEED, else one that the clock makes.")
  var seed: UInt64?
  @Option(help: "Run this exchange alone.") var only: Int?
  @Option(help: "Growth of resident memory after the first fifth that is allowed, in megabytes.") var growth = 64

  func run() async throws {
    let environment = ProcessInfo.processInfo.environment["WAYLAY_FUZZ_SEED"].flatMap { UInt64($0) }
    let seed = seed ?? environment ?? UInt64(Date().timeIntervalSince1970 * 1000)
    say("seed                 \(seed)")
    // Redirects lead anywhere, and must not get there.
    setenv("no_proxy", "*", 1)
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("hostile-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let site = Site(seed: seed)
    let origin = try await ScriptedOrigin.start { site.script($0) }
    site.port.withLock { $0 = origin.port }

    let name = { @Sendable (number: Int) in "exchange \(number) of seed \(seed)" }
    let asked = Locked((probes: 0, hits: 0))
    /// Runs exchanges with a client of their own, and returns the faults of its delegates.
    func run(_ tally: Tally) async -> [String] {
      let client = Client(folder: folder.appendingPathComponent(UUID().uuidString))
      await tally.run(at: inFlight) { number in
        let plan = Plan(seed, number)
        let result = await Exchange(plan: plan, site: site, client: client, base: origin.url()).run()
        asked.withLock { $0 = ($0.probes + result.probes, $0.hits + result.hits) }
        return result.faults
      }
      await client.close()
      let strays = client.deliveries.strays
      return strays > 0 ? ["\(strays) events of delegates came out of order"] : []
    }

    // What is made once for all, in here or in Foundation, is there after a few exchanges.
    let warmUp = Tally(only.map { $0...$0 } ?? 0...200, title: "warm-up", name: name)
    var faults = await run(warmUp) + warmUp.faults
    let before = await Self.descriptors(besides: folder)
    asked.withLock { $0 = (0, 0) }
    let tally = Tally(only.map { $0...$0 } ?? 0...max(0, exchanges - 1), title: "exchanges", name: name)
    faults += await run(tally)
    let after = await Self.descriptors(besides: folder, atMost: before?.count ?? 0)
    await origin.stop()

    let (probes, hits) = asked.withLock { $0 }
    say("archive without net  \(hits) of \(probes) answered")
    if only == nil, exchanges >= 1_000, hits * 10 < probes { faults.append("the archive answers hardly anything") }
    faults += grown(tally.samples).map { ["resident memory grew by \($0) MB"] } ?? []
    try tally.end(
      faults, descriptors: (before, after), again: "stress hostile --seed \(seed) --only <exchange>")
  }

  /// What is open when the archive is not any more, and there is not more than before; or after 10 seconds.
  private static func descriptors(besides folder: URL, atMost count: Int = .max) async -> [String]? {
    await Measurements.settled { $0.count <= count && !$0.contains { $0.hasPrefix(folder.path) } }
  }

  /// How many megabytes the most that was resident is above what was after the first fifth, where that is too much.
  private func grown(_ samples: [Int]) -> Int? {
    guard samples.count >= 100, let most = samples.dropFirst(20).max() else { return nil }
    let grown = (most - samples[20]) >> 20
    say("resident memory      \(samples[20] >> 20) MB after a fifth, \(most >> 20) MB at most")
    return Measurements.measuresMemory && grown > growth ? grown : nil
  }
}
