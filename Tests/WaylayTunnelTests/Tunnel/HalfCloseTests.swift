#if Tunnel
  #if os(Linux)
    import Foundation
    import NIOCore
    import TestSupport
    import Testing
    import WaylayCore
    import WaylayHosts

    @testable import WaylayTunnel

    /// The ends of connections, in whatever order they come. `WAYLAY_SEED` chooses the first schedule.
    @Suite("Ends of connections through a tunnel", .timeLimit(.minutes(20)))
    struct HalfCloseTests {
      @Test("whoever ends first, and however slowly the other reads, what was said arrives whole")
      func schedules() async throws {
        let first = ProcessInfo.processInfo.environment["WAYLAY_SEED"].flatMap { Int($0) } ?? 1
        let count = Sizes.of(20_000, small: 100)
        var names: [String: [String]] = [:]
        let workers = try (0..<4).map { _ in try EndSchedule.listener() }
        defer { for worker in workers { close(worker.descriptor) } }
        for worker in workers { names["w.test:\(worker.port)"] = ["127.0.0.1"] }
        // A server that speaks first need not be waited for.
        var limits = TunnelLimits()
        limits.firstFlightTime = .milliseconds(1)
        let tunnel = HostTunnel(
          HostRewriter(rules: try HostRules(names), policy: .require), options: .init(), limits: limits)
        try await tunnel.start()
        let credentials =
          "Proxy-Authorization: Basic \(Data("rules:\(tunnel.server?.secret ?? "")".utf8).base64EncodedString())\r\n"
        let port = tunnel.port ?? 0
        let failures = await withTaskGroup(of: [String].self) { group in
          for (number, worker) in workers.enumerated() {
            group.addTask {
              await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                  let found = stride(from: first + number, to: first + count, by: workers.count).compactMap { seed in
                    var schedule = EndSchedule(seed: seed)
                    return schedule.run(
                      tunnel: port, host: "w.test", credentials: credentials, worker.descriptor, worker.port)
                  }
                  continuation.resume(returning: found)
                }
              }
            }
          }
          return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(failures.isEmpty, "\(failures.count) of \(count): \(failures.prefix(5).joined(separator: "; "))")
        await tunnel.stop()
      }
    }
  #endif
#endif
