import Foundation
import WaylayHosts
import WaylayTunnel

/// A tunnel for `Scripts/tunnel_cost.py`: prints how long its start has taken and where it is, and goes on until its
/// input ends.
///
///     tunnel-cost bench.test:8000 127.0.0.1
@main
enum TunnelCost {
  static func main() async throws {
    #if Tunnel
      let arguments = CommandLine.arguments.dropFirst()
      guard let pattern = arguments.first else { return }
      let rewriter = HostRewriter(rules: try HostRules([pattern: Array(arguments.dropFirst())]), policy: .require)
      let tunnel = HostTunnel(rewriter)
      let start = ContinuousClock.now
      try await tunnel.start()
      let time = ContinuousClock.now - start
      let line = "\(time / .milliseconds(1)) \(tunnel.proxyVariables["http_proxy"] ?? "")\n"
      FileHandle.standardOutput.write(Data(line.utf8))
      while readLine() != nil {}
      await tunnel.stop()
    #else
      print("tunnel-cost needs the trait Tunnel: swift run --enable-all-traits tunnel-cost")
    #endif
  }
}
