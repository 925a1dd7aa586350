import Foundation
import Logging
import TestSupport
import Testing
import WaylayCore

@Suite("What is wrong with a chain is said when it is registered", .timeLimit(.minutes(5)))
struct RegistrationTests {
  /// An interceptor that answers everything.
  private struct Last: GuardingInterceptor {
    let isFinal = true

    func startLoading(
      _ request: InterceptedRequest, next: InterceptorChain.Next
    ) async throws -> InterceptedResponse { InterceptedResponse(to: request) }
  }

  private static func chains() -> [(chain: InterceptorChain, complaint: String?)] {
    func chain(_ scope: InterceptorChain.Scope) -> InterceptorChain {
      InterceptorChain("api", for: scope) { Link.pass() }
    }
    return [
      (chain(.host("api.example.com")), nil),
      (chain(.http.host("api.example.com").excludingHost("other.example.com")), nil),
      (chain(.scheme("app")), nil),
      (chain(.host("https://api.example.com/v1?token=secret")), "has an invalid scope"),
      (chain(.path("/a%20b")), "so write \"/a b\""),
      (chain(.host()), "it has no host"),
      (chain(.path()), "it has no path"),
      (chain(.scheme()), "it has no scheme"),
      (chain(.scheme("wss")), "WebSocket requests bypass chains"),
      (chain(.scheme("app://")), "is not a scheme"),
      (chain(.host("api.example.com").excludingHost("api.example.com")), "all its hosts are excluded"),
      (InterceptorChain("api") {}, "has no interceptors"),
      (
        InterceptorChain("api") {
          Last()
          Link.pass()
        }, "has interceptors after Last, which never calls next: put it last"
      ),
      (
        InterceptorChain("api") {
          Link.pass()
          Last()
        }, nil
      ),
    ]
  }

  @Test("to the logger, once for each fault, and never for what is right")
  func logged() {
    for (chain, complaint) in Self.chains() {
      let lines = Log<String>()
      InterceptorRegistry(logger: .recording(lines)).register(chain)
      #expect(lines.all.count == (complaint == nil ? 0 : 1), "\(lines.all)")
      #expect(
        lines.all.allSatisfy { $0.contains("the chain \"api\" ") && $0.contains(complaint ?? "") }, "\(lines.all)")
      #expect(!lines.all.joined().contains("secret"))
    }
  }

  @Test("a chain that replaces another one of its name")
  func replaced() {
    let lines = Log<String>()
    let registry = InterceptorRegistry(logger: .recording(lines)) { Link.pass() }
    registry.register(InterceptorChain(.default) { Link.pass() })
    #expect(lines.all.count == 1 && lines.all[0].contains("the chain \"default\" replaces another one of that name"))
    registry.unregister(.default)
    registry.register(InterceptorChain(.default) { Link.pass() })
    #expect(lines.all.count == 1)
  }

  @Test("to standard error where there is no logger", .exitTest)
  func printed() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      FallbackLogger.current = nil
      InterceptorRegistry().register(InterceptorChain("api", for: .host()) { Link.pass() })
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(text.contains("waylay: the chain \"api\" covers nothing: it has no host.\n"))
  }
}
