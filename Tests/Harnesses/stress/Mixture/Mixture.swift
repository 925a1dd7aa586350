import ArgumentParser
import Foundation
import TestOrigin
import Waylay

/// Loads of all kinds at once from a server that behaves.
struct Mixture: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Runs loads of all kinds side by side: tasks, handlers, delegates, suspends, cancels, direct loads.",
    discussion: """
      Faults are responses that are wrong, missing or given twice, descriptors that stay open, and resident memory that \
      grows by more than the limit over the last 60 % of the loads.
      """)

  @Option(help: "How many loads.") var loads = 1_000_000
  @Option(help: "How many of them at once.") var inFlight = 64
  @Option(help: "Which mixture: the same number gives the same loads.") var seed: UInt64 = 1
  @Option(help: "Only kinds whose name contains this.") var only = ""
  @Flag(help: "Keep the archive on the disk, rather than in memory.") var disk = false
  @Option(
    help:
      "Growth of resident memory that is allowed, in per cent. Judged from 100 000 loads on; fewer show warm-up alone.")
  var growth = 4.0

  func validate() throws {
    if kinds.isEmpty {
      throw ValidationError("no kind is named \"\(only)\": there are \(Kind.all.map(\.name).joined(separator: ", "))")
    }
  }

  private var kinds: [Kind] { Kind.all.filter { only.isEmpty ? $0.weight > 0 : $0.name.contains(only) } }

  func run() async throws {
    // Each kind as often as its weight says.
    let lots = kinds.flatMap { Array(repeating: $0, count: max(1, $0.weight)) }
    let kind = { @Sendable [seed] (number: Int) in
      var random = SplitMix(state: seed &+ UInt64(number))
      return lots[Int(random.next() % UInt64(lots.count))]
    }
    let grounds = try await Grounds(keepsOnDisk: disk)
    let run = { @Sendable [inFlight] (tally: Tally) in
      await tally.run(at: inFlight) { await kind($0).fault(in: grounds, number: $0).map { [$0] } ?? [] }
    }
    let name = { @Sendable (number: Int) in "load \(number), \(kind(number).name)" }
    // What is made once for all, in here or in Foundation, is there after some loads of each kind.
    await run(Tally(0...max(0, min(loads, 1000) - 1), title: "warm-up", name: name))
    await grounds.closeSessions()
    let before = Measurements.descriptors
    grounds.openSessions()

    let tally = Tally(0...max(0, loads - 1), title: "loads", name: name)
    await run(tally)
    await grounds.closeSessions()
    let after = await Measurements.settled { $0.count <= before?.count ?? .max }
    await grounds.close()

    let counts = (0..<loads).reduce(into: [:]) { $0[kind($1).name, default: 0] += 1 }
    for (name, count) in counts.sorted(by: { $0.value > $1.value }) {
      say("\(name.padding(toLength: 34, withPad: " ", startingAt: 0)) \(count)")
    }
    try tally.end(
      growth(of: tally.samples).map { [$0] } ?? [], descriptors: (before, after),
      again: "stress mixture --seed \(seed) --loads \(loads)")
  }

  /// Compares the mean of the last tenth with that of the tenth after warm-up: single samples are noise.
  ///
  /// Warm-up is the first two fifths. An archive on the disk takes so long until the allocator has all sizes in store;
  /// from then on resident memory stays within a hundredth.
  private func growth(of samples: [Int]) -> String? {
    guard samples.count >= 100 else {
      say("resident memory      not judged: too few samples")
      return nil
    }
    func mean(_ range: Range<Int>) -> Double { Double(samples[range].reduce(0, +)) / Double(range.count) }
    let (early, late) = (mean(40..<50), mean(90..<100))
    let growth = (late / early - 1) * 100
    let isJudged = loads >= 100_000
    say(
      String(
        format: "resident memory      %.1f MB after warm-up, %.1f MB at the end, %+.1f %%%@", early / 1e6, late / 1e6,
        growth,
        isJudged ? "" : " (not judged below 100 000 loads)"))
    return isJudged && growth > self.growth ? String(format: "resident memory grew by %.1f %%", growth) : nil
  }
}
