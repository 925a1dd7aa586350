import ArgumentParser
import Foundation
import TestOrigin
import Waylay

/// Loads without end, of all kinds at once, and counts what went wrong.
@main
struct Stress: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stress",
    abstract: "Runs loads of all kinds side by side: tasks, handlers, delegates, suspends, cancels, direct loads.",
    discussion: """
      Prints loads per second, wrong answers, the growth of resident memory over the last 60 % of the loads, and open \
      descriptors. Exits \
      with 1 when an answer is wrong, missing or given twice, when memory grows by more than the limit, when \
      descriptors stay open, or \
      when nothing happens for a minute.
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

  func run() async throws {
    let kinds = Kind.all.filter { only.isEmpty ? $0.weight > 0 : $0.name.contains(only) }
    guard !kinds.isEmpty else {
      throw ValidationError("no kind is named \"\(only)\": there are \(Kind.all.map(\.name).joined(separator: ", "))")
    }
    let grounds = try await Grounds(keepsOnDisk: disk)
    // What is made once for all, in here or in Foundation, is there after some loads of each kind.
    await run(Tally(loads: min(loads, 1000), seed: seed, kinds: kinds, title: "warm-up"), on: grounds)
    await grounds.closeSessions()
    let descriptors = Measurements.descriptors
    grounds.openSessions()

    let tally = Tally(loads: loads, seed: seed, kinds: kinds, title: "loads")
    let watchdog = Task { await tally.watch() }
    let started = ContinuousClock.now
    await run(tally, on: grounds)
    let seconds = started.duration(to: .now) / .seconds(1)
    watchdog.cancel()
    await grounds.closeSessions()
    let left = await Measurements.settled { $0.count <= descriptors?.count ?? .max }
    await grounds.close()

    let faults = tally.report(seconds: seconds, growthLimit: growth) + Self.faults(before: descriptors, after: left)
    guard faults.isEmpty else {
      for fault in faults { print("FAULT  \(fault)") }
      throw ExitCode(1)
    }
    print("No faults.")
  }

  private func run(_ tally: Tally, on grounds: Grounds) async {
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<inFlight {
        group.addTask {
          while let (number, kind) = tally.next() {
            let fault = await kind.fault(in: grounds, number: number)
            tally.done(number, kind, fault)
          }
        }
      }
    }
  }

  private static func faults(before: [String]?, after: [String]?) -> [String] {
    guard let before, let after else {
      print("descriptors          not measured on this platform")
      return []
    }
    print("descriptors          \(before.count) before, \(after.count) after")
    guard after.count > before.count else { return [] }
    let new = after.filter { !before.contains($0) }
    return ["\(after.count - before.count) descriptors stayed open: \(new.joined(separator: ", "))"]
  }
}
