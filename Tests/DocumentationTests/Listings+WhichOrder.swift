import Foundation
import Logging
import Waylay
import WaylayInterceptors

// The listings of `WhichOrder.md`, each in a scope of its own.

private func apiKey() async throws {
  let registry = InterceptorRegistry {
    SetField(.xAPIKey, "…", for: .host("api.example.com"))
  }
  let session = URLSession(configuration: .default.intercepted(by: registry))
  _ = session
}

struct TokenListing {
  struct Account: Sendable {
    let token: @Sendable () async -> String?
    let renew: @Sendable () async throws -> String

    func session() -> URLSession {
      let registry = InterceptorRegistry()
      registry.register(
        InterceptorChain("api", for: .host("api.example.com")) {
          BearerToken(hosts: .host("api.example.com").excludingPath("/token")) {
            await token()
          } refresh: { _ in
            try await renew()
          }
        })
      return URLSession(configuration: .default.intercepted(by: registry))
    }
  }
}

private func retrying() {
  let registry = InterceptorRegistry {
    Intercept(request: { $0.options.deadline = $0.options.deadline ?? .now + .seconds(30) })
    Retry(attempts: 4)
  }
  let session = URLSession(configuration: .default.intercepted(by: registry))
  _ = session
}

private func logginglisting1() async throws {
  var logger = Logger(label: "app.network")
  logger.logLevel = .debug
  let registry = InterceptorRegistry(logger: logger)
  let session = URLSession(configuration: .default.intercepted(by: registry))
  _ = session
}

struct LoggingListing2 {
  func watch(_ registry: InterceptorRegistry) async {
    for await event in registry.events() where event.kind == .failed {
      print(event.id, event.url?.host ?? "", event.error ?? "")
    }
  }
}

private func logginglisting3() {
  let chatty = InterceptorRegistry {
    RequestLogger(.body, logger: Logger(label: "http"), at: .debug)
  }
  _ = chatty
}

#if Metrics
  private func logginglisting4() {
    let measured = InterceptorRegistry {
      TrafficMetrics()
    }
    _ = measured
  }
#endif

#if Tracing
  struct LoggingListing5 {
    func user(_ url: URL) async throws -> Data {
      let traced = InterceptorRegistry { Tracing(for: .host("api.example.com")) }
      let session = URLSession(configuration: .default.intercepted(by: traced))
      return try await session.data(for: URLRequest(url: url).carryingTraceContext()).0
    }
  }
#endif
