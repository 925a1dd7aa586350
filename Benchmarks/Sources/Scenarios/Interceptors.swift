import Foundation
import Logging
import Waylay
import WaylayInterceptors

/// What each ready-made interceptor costs a load, and all of them together.
extension Scenario {
  static func interceptors() -> [Scenario] {
    let plain = "direct load, one interceptor"
    let lines = Logger(label: "lines") { _ in Lines() }
    let interceptors: [(String, any RequestInterceptor)] = [
      ("Intercept", Intercept(request: { $0.options.allowsHedging = false })),
      ("SetField", SetField(.xAPIKey, "key", for: .http)),
      ("ValidateStatus", ValidateStatus()),
      ("Retry", Retry()),
      (
        "BearerToken",
        BearerToken(hosts: .http) {
          "token"
        } refresh: { _ in
          "token"
        }
      ),
      ("RequestLogger, lines", RequestLogger(.basic, logger: lines)),
      ("ConcurrencyLimit", ConcurrencyLimit(perHost: 1000)),
      ("RateLimit", RateLimit(perHost: 1_000_000_000, every: .seconds(1))),
      ("Tracing", Tracing(for: .http)),
      ("TrafficMetrics", TrafficMetrics()),
      ("NetworkConditions, none", NetworkConditions()),
    ]
    let single = interceptors.map { name, interceptor in load("interceptor: \(name)", against: plain, [interceptor]) }
    return single + [load("interceptor: all of them", against: plain, interceptors.map(\.1))]
  }

  private static func load(
    _ name: String, against reference: String, _ interceptors: [any RequestInterceptor]
  ) -> Scenario {
    let registry = InterceptorRegistry {
      interceptors
      Told()
    }
    return Scenario(name, against: reference) {
      let response = try await registry.load(URLRequest(url: Answer.url))
      guard response.body.length == Int64(Answer.body.count) else { throw URLError(.cannotDecodeContentData) }
    }
  }
}

/// Takes every line, and drops it.
private struct Lines: LogHandler {
  var metadata = Logger.Metadata()
  var logLevel = Logger.Level.trace

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {}
}

private struct Told: RequestInterceptor {
  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    InterceptedResponse(to: request, body: .data(Answer.body))
  }
}
