import Foundation
import Logging
import Waylay

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

struct LoggingListing3 {
  struct Measure: RequestInterceptor {
    let record: @Sendable (_ route: String, _ status: Int, _ time: Duration) -> Void

    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      let clock = ContinuousClock(), start = clock.now
      let response = try await next(request)
      record(request.url.host ?? "", response.status.code, clock.now - start)
      return response
    }
  }
}

struct LoggingListing4 {
  struct Trace: RequestInterceptor {
    /// The current trace, as W3C Trace Context writes it.
    let parent: @Sendable () -> String?

    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      var request = request
      if let name = HTTPField.Name("traceparent"), let parent = parent() { request.fields[name] = parent }
      return try await next(request)
    }
  }
}
