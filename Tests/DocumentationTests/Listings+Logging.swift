import Foundation
import Logging
import Waylay
import WaylayInterceptors

// The listings of `Logging.md`, each in a scope of its own. Those that are tests run.

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
