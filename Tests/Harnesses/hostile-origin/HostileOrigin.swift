import ArgumentParser
import Foundation
import TestOrigin
import WaylayCore

/// Loads what a hostile server says, in all ways at once, and compares what an app sees with what may be made of it.
@main
struct HostileOrigin: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hostile-origin",
    abstract: "Loads from a server that lies about lengths, ranges, codings and everything else.",
    discussion: """
      A server on raw TCP makes up its answers by chance, right ones and wrong ones: lengths, chunks, codings, interim \
      responses, ranges, \
      validators, redirects, challenges, heads, closed and reset connections. They are asked for through intercepted \
      sessions (tasks, completion \
      handlers, delegates), direct loads (data, load, bytes) and an archive on disk. For each a model says what may \
      come of it. Exits with 1 when \
      something else did, when memory or descriptors grow, or when nothing happens for a minute.

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
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("hostile-origin-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let site = Site(seed: seed)
    let origin = try await ScriptedOrigin.start { site.script($0) }
    site.port.withLock { $0 = origin.port }

    // What is made once for all, in here or in Foundation, is there after a few exchanges.
    let warmUp = Tally(seed: seed, numbers: Array(only.map { $0...$0 } ?? 0...200), title: "warm-up")
    var faults = await run(warmUp, site, origin, folder).faults
    let before = await Self.descriptors(besides: folder)
    let numbers = Array(only.map { $0...$0 } ?? 0...max(0, exchanges - 1))
    let tally = Tally(seed: seed, numbers: numbers, title: "exchanges")
    let strays = await run(tally, site, origin, folder).strays
    let after = await Self.descriptors(besides: folder, atMost: before?.count ?? 0)
    await origin.stop()

    faults += tally.report(growthLimit: growth)
    if strays > 0 { faults.append("\(strays) events of delegates came out of order") }
    if let before, let after, after.count > before.count {
      faults.append("\(after.count - before.count) descriptors stayed open: \(after.filter { !before.contains($0) })")
    }
    guard faults.isEmpty else {
      for fault in faults { say("FAULT  \(fault)") }
      say("Again: --seed \(seed) --only <exchange>")
      throw ExitCode(1)
    }
    say("No faults.")
  }

  /// What is open when the archive is not any more, and there is not more than before; or after 10 seconds.
  private static func descriptors(besides folder: URL, atMost count: Int = .max) async -> [String]? {
    await Measurements.settled { $0.count <= count && !$0.contains { $0.hasPrefix(folder.path) } }
  }

  /// Runs exchanges with a client of their own.
  private func run(
    _ tally: Tally, _ site: Site, _ origin: ScriptedOrigin, _ folder: URL
  ) async -> (faults: [String], strays: Int) {
    let client = Client(folder: folder.appendingPathComponent(UUID().uuidString))
    let watchdog = Task { await tally.watch() }
    await tally.run(at: inFlight) {
      await Exchange(plan: Plan(tally.seed, $0), site: site, client: client, base: origin.url()).run()
    }
    watchdog.cancel()
    await client.close()
    return (tally.faults, client.deliveries.strays)
  }
}
