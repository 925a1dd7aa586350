import ArgumentParser
import Foundation
import HijackLab
import Waylay

/// Hijackers of every kind between a client and one good server, many times over.
@main
struct Hijack: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hijack-lab",
    abstract: "Shows that routed requests survive a lying resolver and hijackers of every kind, over http and https.",
    discussion: """
      First the control: a plain session is caught by the lying resolver. Then each kind of hijacker alone in front of \
      the good address, \
      with the time that it costs, then all of them in random order, many at once. Exits with 1 when a request is not \
      answered by the good \
      server, when a hijacker gets more than the first message of TLS, when the resolver is asked for a routed host, \
      or when a hijacker \
      costs more time than it may. Linux only.
      """)

  @Option(help: "How many runs with all hijackers in random order.") var runs = 1000
  @Option(help: "How many of them at once.") var inFlight = 32
  @Option(help: "Which orders: the same number gives the same ones.") var seed: UInt64 = 1
  @Flag(help: "Leave out the measurements: they mean little on a machine that is busy with something else.")
  var withoutTimes = false

  func run() async throws {
    #if canImport(FoundationNetworking)
      var faults: [String] = []
      for isSecure in [true, false] {
        let scheme = isSecure ? "https" : "http"
        print("── \(scheme)")
        let bench = try await Bench(isSecure: isSecure)
        faults += try await bench.control()
        if !withoutTimes { faults += try await bench.eachAlone() + bench.allInFront(seed: seed) }
        faults += await bench.chaos(runs: runs, inFlight: inFlight, seed: seed)
        faults += bench.leaks()
        await bench.stop()
        print("")
      }
      for fault in faults { print("FAULT  \(fault)") }
      guard faults.isEmpty else { throw ExitCode(1) }
      print("No faults.")
    #else
      print("Linux only: other systems have no addresses beyond 127.0.0.1 on loopback.")
    #endif
  }
}
