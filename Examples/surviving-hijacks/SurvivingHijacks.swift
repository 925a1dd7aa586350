import ArgumentParser
import Foundation
import HijackLab
import Waylay

/// Hijackers of every kind between a client and one good server, many times over.
@main
struct SurvivingHijacks: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "surviving-hijacks",
    abstract: "Shows that routed requests survive a lying resolver and hijackers of every kind, over http and https.",
    discussion: """
      First the control: a plain session is caught by the lying resolver. Then each kind of hijacker alone in front of \
      the good address, with what it costs, then all of them in random order, many at once. Exits with 1 when a \
      request is not answered by the good server, when a hijacker gets more than the first message of TLS, when the \
      resolver is asked for a routed host, when an address is dialled twice for one request, or when a hijacker is \
      dialled again by a request after it was found out. Times are printed and not judged: they are the machine's, \
      too. Linux only.
      """)

  @Option(help: "How many runs with all hijackers in random order.") var runs = 1000
  @Option(help: "How many of them at once.") var inFlight = 32
  @Option(help: "Which orders: the same number gives the same ones.") var seed: UInt64 = 1
  @Flag(help: "Leave out what each hijacker costs, attempts and times.")
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
