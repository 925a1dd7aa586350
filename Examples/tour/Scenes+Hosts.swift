import Foundation
import HijackLab
import TestOrigin
import Waylay

#if canImport(FoundationNetworking)
  import CLyingResolver

  extension Scene {
    /// The tour's own process has a `getaddrinfo` that lies about the names it is told to lie about.
    static let hijack = Scene(title: "A hijacked resolver: a plain URLSession is caught, a routed one is not") {
      _, report in
      for isSecure in [false, true] {
        let lab = try await HijackLab.start(isSecure: isSecure)
        lying_resolver_reset()
        let liar = isSecure ? Hijacker.rogueCertificate : .portal
        _ = lying_resolver_lie("api.test", liar.address)
        report.note(
          isSecure ? "https" : "http",
          "the resolver says that api.test is \(liar.address), which is a \(isSecure ? "rogue" : "portal")")
        do {
          let (data, _) = try await URLSession(configuration: .ephemeral).data(from: lab.url())
          report.note("plain session got", String(decoding: data, as: UTF8.self))
          report.expect("it is caught", String(decoding: data, as: UTF8.self), HijackLab.portalPage)
        } catch {
          report.note("plain session got", "no response: \(error.localizedDescription)")
          report.expect("it is caught", isSecure, true)
        }
        try await Self.routed(lab, isSecure: isSecure, report)
        await lab.stop()
      }
      lying_resolver_reset()
    }

    private static func routed(_ lab: HijackLab, isSecure: Bool, _ report: Report) async throws {
      var policy = HostRewriter.Policy.require
      policy.silenceTimeout = .milliseconds(250)
      if !isSecure { policy.responseCheck = .field("X-Served-By") }
      // Four addresses that the app's list still names and that somebody else has by now, and a good one.
      let rewriter = HostRewriter(
        rules: try HostRules(["api.test": ["127.0.0.2", "127.0.0.6", "127.0.0.8", "127.0.0.9", "127.0.0.1"]]),
        policy: policy)
      var options = CurlTransport.Options()
      options.additionalAuthorities = [Data(lab.authority.pem.utf8)]
      let registry = InterceptorRegistry(transport: CurlTransport(options: options)) { rewriter }
      let session = URLSession(configuration: .ephemeral.intercepted(by: registry))
      let lookups = lying_resolver_count("api.test")
      let events = rewriter.events()
      let (data, response) = try await session.data(from: lab.url())
      report.note(
        "routed session got", "\(String(decoding: data, as: UTF8.self)), from \(response.url?.absoluteString ?? "")")
      var attempts: [HostAttempt] = []
      for await event in events {
        if let attempt = event.attempt { attempts.append(attempt) }
        if event.attempt?.outcome == .responded { break }
      }
      report.note("attempts", attempts.table)
      report.note("what was learnt", await rewriter.explain(lab.url()).description)
      report.expect("the real response", String(decoding: data, as: UTF8.self), HijackLab.answer)
      report.expect("no lookup of a routed host", lying_resolver_count("api.test") - lookups, 0)
      if isSecure { report.expect("no byte of the request at a hijacker", lab.leaks(), []) }
      registry.invalidate()
    }
  }
#endif
