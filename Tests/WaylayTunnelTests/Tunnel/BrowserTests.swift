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
    static let fronts: [[Hijacker]] = {
      let kinds = Hijacker.allCases
      let all = kinds.map { [$0] } + [[.silence, .close, .portal, .blackHole, .refusal], [.rogueCertificate, .reset]]
      return Sizes.isWhole ? all : [[.rogueCertificate], [.silence, .close, .portal, .blackHole, .refusal]]
    }()

    @Test(
      "a page comes from the good server, over a certificate that the browser has verified", .heavy, arguments: fronts)
    func page(_ front: [Hijacker]) async throws {
      try await TunnelRig.with(front.map(\.address) + ["127.0.0.1"]) { rig in
        let texts = try await visit(
          rig, tries: 1 + 2 * front.filter { [.rogueCertificate, .wrongName].contains($0) }.count)
        #expect(texts.last == HijackLab.answer, "\(texts)")
        #expect(rig.lab.leaks() == [])
      }
    }

    @Test("a page of plain http comes by the absolute form, and the server sees nothing of the secret", .heavy)
    func plain() async throws {
      try await TunnelRig.with(isSecure: false, ["127.0.0.8", "127.0.0.1"]) { rig in
        let texts = try await visit(rig, tries: 1)
        #expect(texts == [HijackLab.answer])
        #expect(rig.lab.good.rawBytes.allSatisfy { !$0.lowercased().contains("proxy") && !$0.contains(rig.secret) })
      }
    }

    /// What the page says, or the browser's error, for each try until one gets the answer.
    private func visit(_ rig: TunnelRig, tries: Int) async throws -> [String] {
      let home = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-home-\(UUID().uuidString)")
      let database = home.appendingPathComponent(".pki/nssdb")
      try FileManager.default.createDirectory(at: database, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: home) }
      let certutil = Program(path: "/usr/bin/certutil")
      _ = try await certutil.run(["-N", "-d", "sql:\(database.path)", "--empty-password"])
      let file = try rig.lab.authority.file().path
      let added = try await certutil.run(["-A", "-d", "sql:\(database.path)", "-n", "lab", "-t", "C,,", "-i", file])
      try #require(added.code == 0, "\(added.output)")
      let proxy = "--proxy-server=http://127.0.0.1:\(rig.tunnel.port ?? 0)"
      let secret = rig.secret
      return try await Browser.withPage([proxy], environment: ["HOME": home.path]) { page in
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
        var texts: [String] = []
        while texts.count < tries, texts.last != HijackLab.answer {
          let problem = try await page.call("Page.navigate", ["url": rig.lab.url().absoluteString])["errorText"]?.string
          if let problem, !problem.isEmpty {
            texts.append(problem)
            continue
          }
          try await page.until("document.readyState === 'complete' && location.href.includes('.test')")
          texts.append(try await page.evaluate("document.body.innerText").string ?? "")
        }
        return texts
      }
    }
  }

  extension Browser {
    /// Sends a command whose result nobody waits for.
    fileprivate static func post(_ browser: Browser, _ method: String, _ parameters: [String: Any], _ session: String?)
    {
      guard let data = try? JSONSerialization.data(withJSONObject: parameters) else { return }
      Task {
        guard let parameters = try? JSONSerialization.jsonObject(with: data) as? [String: Any] else { return }
        _ = try? await browser.call(method, parameters, session: session)
      }
    }
  }
#endif
