// On Apple platforms there is no CurlTransport: this file is empty there.
#if canImport(FoundationNetworking)
  import Foundation
  import HijackLab
  import TestOrigin
  import WaylayCore
  import WaylayHosts

  extension CurlTransport {
    /// A transport that trusts a test's authority.
    convenience init(trusting authority: TestAuthority?) {
      var options = Options()
      if let authority { options.additionalAuthorities = [Data(authority.pem.utf8)] }
      self.init(configuration: .ephemeral, options: options)
    }
  }

  extension HijackLab {
    /// Runs a test with the servers, and stops them.
    static func with(isSecure: Bool, _ body: (HijackLab) async throws -> Void) async throws {
      let lab = try await HijackLab.start(isSecure: isSecure)
      do {
        try await body(lab)
      } catch {
        await lab.stop()
        throw error
      }
      await lab.stop()
    }

    /// A rewriter and a registry around it; all names lead to the addresses.
    func routed(
      _ addresses: [String], _ policy: HostRewriter.Policy = .patient
    ) throws -> (InterceptorRegistry, HostRewriter) {
      let rewriter = HostRewriter(rules: try HostRules(["*.test": addresses]), policy: policy)
      let registry = InterceptorRegistry(
        transport: CurlTransport(trusting: authority), configuration: .ephemeral
      ) { rewriter }
      return (registry, rewriter)
    }
  }

  extension HostRewriter.Policy {
    /// For servers that may be silent for seconds because the machine is busy: none is asked beside another for that.
    static var patient: Self {
      var policy = Self.require
      policy.silenceTimeout = nil
      return policy
    }
  }

  extension InterceptorRegistry {
    /// The body of an answer as text.
    func text(_ url: URL, _ method: String = "GET") async throws -> String {
      var request = URLRequest(url: url)
      request.httpMethod = method
      return String(decoding: try await data(for: request).0, as: UTF8.self)
    }
  }
#endif
