#if canImport(FoundationNetworking)
  import CLyingResolver
  import Foundation
  import HijackLab
  import TestOrigin
  import Waylay

  /// The servers, and what is done with them.
  struct Bench: Sendable {
    let lab: HijackLab
    let isSecure: Bool

    init(isSecure: Bool) async throws {
      lab = try await HijackLab.start(isSecure: isSecure)
      self.isSecure = isSecure
      lying_resolver_reset()
      // The lie: every name leads to a server that answers everything.
      let liar = isSecure ? Hijacker.rogueCertificate : .portal
      for name in HijackLab.names { _ = lying_resolver_lie(name, liar.address) }
    }

    func stop() async { await lab.stop() }

    /// A policy for loopback, where a connection takes a millisecond.
    func policy(_ stagger: Duration?) -> HostRewriter.Policy {
      var policy = HostRewriter.Policy.require
      policy.connectionAttemptDelay = stagger
      policy.initialDeadline = .milliseconds(600)
      policy.minimumDeadline = .milliseconds(600)
      policy.silenceTimeout = .milliseconds(250)
      if !isSecure { policy.responseCheck = .field("X-Served-By", equals: "good") }
      return policy
    }

    /// A registry and a transport of its own, which no other request has taught anything.
    func registry(_ addresses: [String], _ policy: HostRewriter.Policy) throws -> (InterceptorRegistry, HostRewriter) {
      var options = CurlTransport.Options()
      options.additionalAuthorities = [Data(lab.authority.pem.utf8)]
      let rewriter = HostRewriter(rules: try HostRules(["*.test": addresses]), policy: policy)
      let registry = InterceptorRegistry(
        transport: CurlTransport(configuration: .ephemeral, options: options), configuration: .ephemeral
      ) { rewriter }
      return (registry, rewriter)
    }

    /// One request; the time that it took, or why it was not answered by the good server.
    func ask(_ registry: InterceptorRegistry, _ url: URL? = nil) async -> Result<Duration, Failure> {
      let start = ContinuousClock.now
      do {
        let (data, _) = try await registry.data(for: URLRequest(url: url ?? lab.url()))
        let text = String(decoding: data, as: UTF8.self)
        guard text == HijackLab.answer else { return .failure(Failure(text: "answered by somebody else: \(text)")) }
        return .success(start.duration(to: .now))
      } catch {
        return .failure(Failure(text: (error as? URLError)?.loadError?.description ?? "\(error)"))
      }
    }

    struct Failure: Error {
      let text: String
    }

    // MARK: Control

    /// A plain session, and an interceptor that does nothing, are caught; the routed request is not.
    func control() async throws -> [String] {
      var faults: [String] = []
      let session = URLSession(configuration: .ephemeral)
      let caught: String
      do {
        let (data, _) = try await session.data(from: lab.url())
        caught = String(decoding: data, as: UTF8.self)
        if isSecure || caught != HijackLab.portalPage { faults.append("control: the plain session got \"\(caught)\"") }
      } catch {
        caught = "no response: \(error.localizedDescription)"
        if !isSecure { faults.append("control: the plain session failed over http: \(error)") }
      }
      print("plain URLSession     \(caught)")
      let lookups = lying_resolver_count("api.test")
      if lookups == 0 { faults.append("control: the plain session did not ask the resolver") }
      print("its lookups          \(lookups)")
      let (registry, _) = try registry(["127.0.0.1"], policy(.milliseconds(250)))
      switch await ask(registry) {
      case .success: print("routed               \(HijackLab.answer)")
      case .failure(let failure): faults.append("control, routed: \(failure.text)")
      }
      let more = lying_resolver_count("api.test") - lookups
      if more > 0 { faults.append("the routed request asked the resolver \(more) times") }
      registry.invalidate()
      session.invalidateAndCancel()
      return faults
    }

    /// What hijackers got, and what the resolver was asked since the control.
    func leaks() -> [String] {
      let shown = isSecure ? lab.leaks() : []
      print(
        "lookups of names    \(HijackLab.names.map { "\($0) \(lying_resolver_count($0))" }.joined(separator: ", "))")
      print(
        isSecure
          ? "leaks                \(shown.count)"
          : "leaks                not counted without TLS: nothing is verified there")
      let asked = lying_resolver_count("other.test") + lying_resolver_count("www.test")
      return shown + (asked > 0 ? ["the resolver was asked for routed hosts \(asked) times"] : [])
    }
  }
#endif
