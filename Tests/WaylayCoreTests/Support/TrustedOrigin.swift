// On Apple platforms there is no CurlTransport: this file is empty there.
#if canImport(FoundationNetworking)
  import Foundation
  import TestOrigin
  import TestSupport
  import WaylayCore

  /// Runs a test with a server with TLS, and a registry on libcurl that trusts its authority.
  func withTrustedOrigin(
    hosts: [String] = ["127.0.0.1"], tls: (TestAuthority) -> TestOrigin.TLS = { TestOrigin.TLS(authority: $0) },
    options: CurlTransport.Options = CurlTransport.Options(),
    _ body: (TestOrigin, InterceptorRegistry) async throws -> Void
  ) async throws {
    let authority = try TestAuthority()
    try await withOrigin(hosts: hosts, tls: tls(authority)) { origin in
      var options = options
      options.additionalAuthorities = [Data(authority.pem.utf8)]
      let registry = InterceptorRegistry(
        transport: CurlTransport(configuration: .ephemeral, options: options), configuration: .ephemeral
      ) { Link.pass() }
      try await body(origin, registry)
      registry.invalidate()
    }
  }
#endif
