#if Tunnel
  import Foundation
  import HijackLab
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore
  import WaylayHAR
  import WaylayHosts

  @testable import WaylayTunnel

  #if os(Linux)
    /// A browser that nobody here wrote: `https` by CONNECT, `http` in absolute form, credentials as it was told them,
    /// the lab's authority in its own database of certificates.
    @Suite(
      "Chromium through a tunnel", .enabled(if: Browser.path != nil, "no Chromium is installed (.ci/run does)"),
      .enabled(if: access("/usr/bin/certutil", X_OK) == 0, "no certutil is installed (libnss3-tools)"),
      .timeLimit(.minutes(5)))
    struct BrowserTests {
      /// What is in front of two hosts that one browser visits.
      static let fronts: [[[Hijacker]]] = {
        let alone = Hijacker.allCases.map { [$0] }
        let long: [[Hijacker]] = [[.rogueCertificate, .reset], [.silence, .close, .portal, .blackHole, .refusal]]
        let pairs = stride(from: 0, to: alone.count, by: 2).map { [alone[$0], alone[$0 + 1]] }
        return Sizes.isWhole ? pairs + [long] : [long]
      }()

      @Test(
        "pages come from the good server, over certificates that the browser has verified; plain http sees no secret",
        .heavy, arguments: fronts)
      func pages(_ fronts: [[Hijacker]]) async throws {
        let plain = try await HijackLab.start(isSecure: false)
        try await TunnelRig.with { rig in
          func addresses(_ front: [Hijacker]) -> [String] { front.map(\.address) + ["127.0.0.1"] }
          let rules = [
            "api.test:\(rig.lab.port)": addresses(fronts[0]), "www.test:\(rig.lab.port)": addresses(fronts[1]),
            "other.test:\(plain.port)": addresses([.refusal]),
          ]
          rig.rewriter.ruleSource.replace(with: try HostRules(rules))
          let visits = [
            (rig.lab.url(), fronts[0]), (rig.lab.url(host: "www.test"), fronts[1]), (plain.url(host: "other.test"), []),
          ]
          let resolver = NameServer()
          let tries = visits.map { ($0.0, 1 + 6 * $0.1.filter { [.rogueCertificate, .wrongName].contains($0) }.count) }
          for texts in try await visit(rig, tries, by: resolver) { #expect(texts.last == HijackLab.answer, "\(texts)") }
          // It has asked for no name of theirs; without a proxy it does.
          #expect(resolver.queries().filter { $0.contains(".test") } == [])
          if Namespace.hasResolver {
            _ = try await visit(rig, [(rig.lab.url(), 1)], by: resolver, usesProxy: false)
            #expect(resolver.queries().contains { $0.contains("api.test") })
          }
          #expect(rig.lab.leaks() == [])
          #expect(plain.good.requests.count > 0)
          #expect(plain.good.rawBytes.allSatisfy { !$0.lowercased().contains("proxy") && !$0.contains(rig.secret) })
        }
        await plain.stop()
      }

      /// What each page says, or the browser's error, for each of so many tries until one gets the answer.
      private func visit(
        _ rig: TunnelRig, _ visits: [(url: URL, tries: Int)], by resolver: NameServer, usesProxy: Bool = true
      ) async throws -> [[String]] {
        let home = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-home-\(UUID().uuidString)")
        let database = home.appendingPathComponent(".pki/nssdb")
        try FileManager.default.createDirectory(at: database, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: home) }
        let certutil = Program(path: "/usr/bin/certutil")
        _ = try await certutil.run(["-N", "-d", "sql:\(database.path)", "--empty-password"])
        let file = try rig.lab.authority.file().path
        let added = try await certutil.run(["-A", "-d", "sql:\(database.path)", "-n", "lab", "-t", "C,,", "-i", file])
        try #require(added.code == 0, "\(added.output)")
        let proxy = usesProxy ? "--proxy-server=http://127.0.0.1:\(rig.tunnel.port ?? 0)" : "--no-proxy-server"
        let secret = rig.secret
        let place = Namespace.isAllowed ? Namespace.command(trusting: file, by: resolver) : []
        return try await Browser.withPage([proxy], environment: ["HOME": home.path], in: place) { page in
          page.browser.listen { [browser = page.browser] session, event, parameters in
            let id = parameters["requestId"]?.string ?? ""
            switch event {
            case "Fetch.authRequired":
              let answer: [String: Any] = ["response": "ProvideCredentials", "username": "rules", "password": secret]
              let command: [String: Any] = ["requestId": id, "authChallengeResponse": answer]
              Browser.post(browser, "Fetch.continueWithAuth", command, session)
            case "Fetch.requestPaused": Browser.post(browser, "Fetch.continueRequest", ["requestId": id], session)
            default: break
            }
          }
          try await page.call("Fetch.enable", ["handleAuthRequests": true])
          var all: [[String]] = []
          for (url, tries) in visits {
            var texts: [String] = []
            while texts.count < tries, texts.last != HijackLab.answer {
              let problem = try await page.call("Page.navigate", ["url": url.absoluteString])["errorText"]?.string
              if let problem, !problem.isEmpty {
                texts.append(problem)
                continue
              }
              try await page.until("document.readyState === 'complete' && location.href === '\(url.absoluteString)'")
              texts.append(try await page.evaluate("document.body.innerText").string ?? "")
            }
            all.append(texts)
          }
          return all
        }
      }
    }

    extension Browser {
      /// Sends a command whose result nobody waits for.
      fileprivate static func post(
        _ browser: Browser, _ method: String, _ parameters: [String: Any], _ session: String?
      ) {
        guard let data = try? JSONSerialization.data(withJSONObject: parameters) else { return }
        Task {
          guard let parameters = try? JSONSerialization.jsonObject(with: data) as? [String: Any] else { return }
          _ = try? await browser.call(method, parameters, session: session)
        }
      }
    }
  #endif
#endif
