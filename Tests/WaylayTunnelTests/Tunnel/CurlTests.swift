#if Tunnel
  import Foundation
  import HijackLab
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore
  import WaylayHosts

  @testable import WaylayTunnel

  /// Hijackers in front of the good address, and `curl`, which knows nothing of them.
  @Suite(
    "curl through a tunnel", .enabled(if: Platform.hasLoopbackRange, "loopback has one address"),
    .enabled(if: TunnelRig.hasCurl, "no curl is installed"), .timeLimit(.minutes(10))
  )
  struct CurlTests {
    struct Cell: CustomTestStringConvertible {
      let hijackers: [Hijacker]
      let isSecure: Bool
      let way: TunnelRig.Way

      var testDescription: String { "\(hijackers.map(\.rawValue)), \(isSecure ? "https" : "http"), \(way)" }
    }

    static let cells: [Cell] = {
      let kinds = Hijacker.allCases
      let fronts = kinds.indices.flatMap { start in
        (1...5).map { count in (0..<count).map { kinds[(start + $0 * 3) % kinds.count] } }
      }
      let all = fronts.flatMap { front in
        [
          Cell(hijackers: front, isSecure: true, way: .connect), Cell(hijackers: front, isSecure: true, way: .socks),
          Cell(hijackers: front, isSecure: false, way: .absolute),
          Cell(hijackers: front, isSecure: false, way: .connect),
          Cell(hijackers: front, isSecure: false, way: .socks),
        ]
      }
      // One for each way, and what the tunnel has to find by itself.
      let some = [
        Cell(hijackers: [.close, .blackHole, .portal], isSecure: true, way: .connect),
        Cell(hijackers: [.silence, .reset], isSecure: true, way: .socks),
        Cell(hijackers: [.refusal, .blackHole], isSecure: false, way: .absolute),
      ]
      return Sizes.isWhole ? all : some
    }()

    @Test(
      "the good server answers as soon as what only the client or the response can tell is known", .heavy,
      arguments: cells)
    func matrix(_ cell: Cell) async throws {
      var policy = HostRewriter.Policy.require
      if !cell.isSecure { policy.responseCheck = .field("X-Served-By", equals: "good") }
      try await TunnelRig.with(isSecure: cell.isSecure, cell.hijackers.map(\.address) + ["127.0.0.1"], policy: policy) {
        rig in
        // With TLS the tunnel sees all but a wrong certificate, which the client has to find twice. Without, nothing is
        // sent twice: who takes a request and does not answer it is found by that request.
        let hidden: Set<Hijacker> =
          cell.isSecure
          ? [.rogueCertificate, .wrongName]
          : [.rogueCertificate, .wrongName, .portal, .close, .reset, .silence]
        let most = cell.hijackers.filter(hidden.contains).count * 2 + 2
        var outcomes: [String] = []
        while outcomes.count <= most, outcomes.last != HijackLab.answer {
          let (code, output) = try await rig.curl(cell.way, seconds: cell.isSecure ? 20 : 3)
          outcomes.append(code == 0 ? output : "\(code)")
          if cell.way == .absolute {
            #expect(output.hasPrefix(HijackLab.answer) || !output.contains(HijackLab.portalPage))
          }
          if !cell.isSecure, cell.way != .absolute, output == HijackLab.portalPage { return }
        }
        #expect(outcomes.last == HijackLab.answer, "\(outcomes)")
        if cell.isSecure { #expect(rig.lab.leaks() == []) }
        #expect(rig.rewriter.counters.systemFallbacks == 0)
      }
    }

    @Test(
      "a post reaches the server whole, and no other", .heavy,
      arguments: Sizes.isWhole ? TunnelRig.Way.allCases : [.absolute, .socks], Sizes.isWhole ? [true, false] : [false])
    func post(_ way: TunnelRig.Way, _ isSecure: Bool) async throws {
      try await TunnelRig.with(isSecure: isSecure, ["127.0.0.8", "127.0.0.1"]) { rig in
        let body = String(repeating: "0123456789", count: 5000)
        try await Program.withTemporaryFile { file in
          try Data(body.utf8).write(to: file)
          for more in [
            ["--data-binary", "@\(file.path)"], ["-H", "Transfer-Encoding: chunked", "--data-binary", "@\(file.path)"],
          ] {
            try await rig.expectAnswer(way, more)
          }
        }
        let requests = rig.lab.good.requests
        #expect(requests.map(\.method) == ["POST", "POST"])
        #expect(requests.allSatisfy { $0.body == Data(body.utf8) })
        #expect(rig.lab.good.rawBytes.allSatisfy { !$0.lowercased().contains("proxy-") && !$0.contains(rig.secret) })
      }
    }

    #if os(Linux)
      @Test(
        "no name of a routed host is asked for, whichever way; without the tunnel, or with socks5, it is", .heavy,
        .enabled(if: Namespace.hasResolver, "no namespace with a resolver can be made here"), arguments: [true, false])
      func asksNobody(_ isSecure: Bool) async throws {
        try await TunnelRig.with(isSecure: isSecure, ["127.0.0.8", "127.0.0.1"]) { rig in
          func queries(
            _ way: TunnelRig.Way?, _ change: ([String: String]) -> [String: String] = { $0 }
          ) async throws -> (output: String, names: [String]) {
            let resolver = NameServer()
            let (arguments, environment) = try rig.command(way)
            let output = try await Namespace.run(
              "/usr/bin/curl", arguments + [rig.lab.url().absoluteString], trusting: rig.lab.authority.file().path,
              by: resolver, environment: change(environment)
            ).output
            return (output, resolver.queries())
          }
          for way in TunnelRig.Way.allCases where way != .absolute || !isSecure {
            let (output, names) = try await queries(way)
            #expect(output == HijackLab.answer)
            #expect(names == [], "\(way)")
          }
          #expect(try await queries(nil).names.contains { $0.contains("api.test") })
          let (_, names) = try await queries(.socks) { variables in
            variables.mapValues { $0.replacingOccurrences(of: "socks5h:", with: "socks5:") }
          }
          #expect(names.contains { $0.contains("api.test") })
          if isSecure { #expect(rig.lab.leaks() == []) }
        }
      }
    #endif

    @Test("twice in a row to a good address, and the second goes there at once")
    func learns() async throws {
      try await TunnelRig.with(["127.0.0.6", "127.0.0.4", "127.0.0.1"], isPatient: true) { rig in
        try await rig.expectAnswer(.connect)
        // On a busy machine the good address is silent now and then, too.
        var others = 1
        for _ in 0..<5 where others > 0 {
          let before = rig.connections(.silence) + rig.connections(.close)
          try await rig.expectAnswer(.connect)
          others = rig.connections(.silence) + rig.connections(.close) - before
        }
        #expect(others == 0)
        let explanation = await rig.rewriter.explain(rig.lab.url())
        #expect(explanation.candidates.first?.address.literal == "127.0.0.1")
        #expect(rig.rewriter.counters.attempts >= 3)
      }
    }
  }
#endif
