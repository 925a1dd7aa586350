#if CORELIBS_FOUNDATION
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayCore

  @Suite("What ends the process of a plain session", .timeLimit(.minutes(10)))
  struct SaferTests {
    /// A plain session: https://github.com/swiftlang/swift-corelibs-foundation/issues/5445.
    @Test("64 redirects at once over HTTP/2 are followed", .exitTest)
    func redirects() async {
      await #expect(processExitsWith: .success) {
        Process.limit()
        let authority = try TestAuthority()
        let origin = try await TestOrigin.start(tls: TestOrigin.TLS(authority: authority))
        var options = CurlTransport.Options()
        options.additionalAuthorities = [Data(authority.pem.utf8)]
        let registry = InterceptorRegistry(transport: CurlTransport(configuration: .ephemeral, options: options)) {
          Link.pass()
        }
        let session = URLSession.intercepted(by: registry)
        try await withThrowingTaskGroup(of: String.self) { group in
          for _ in 0..<64 {
            group.addTask { try await session.text(from: origin.url("/redirect/303?to=/hello")).1 }
          }
          for try await text in group { Process.require(text == "hello", text) }
        }
        registry.invalidate()
        await origin.stop()
      }
    }
  }
#endif
