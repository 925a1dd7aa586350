#if Metrics
  public import CoreMetrics
  public import WaylayCore

  /// An interceptor that measures requests by OpenTelemetry's conventions for HTTP clients, for swift-metrics. Requires
  /// the trait `Metrics` of this package.
  ///
  /// ```swift
  /// TrafficMetrics()
  /// ```
  ///
  /// | name | kind | unit |
  /// |---|---|---|
  /// | `http.client.request.duration` | recorder, aggregating | seconds, until the head of the response |
  /// | `http.client.active_requests` | meter | requests |
  /// | `http.client.request.body.size`, `http.client.response.body.size` | recorder, aggregating | bytes, where known |
  ///
  /// The dimensions are those of the conventions (https://opentelemetry.io/docs/specs/semconv/http/http-metrics/):
  /// method, server, status, kind of error, version of the protocol. Each attempt and each hop is measured on its own.
  public struct TrafficMetrics: ShelfLink {
    private let chosen: (any MetricsFactory)?
    private let active = Locked<[String: Int]>([:])

    private var factory: any MetricsFactory { chosen ?? MetricsSystem.factory }

    /// Makes the interceptor.
    ///
    /// - Parameter factory: Where to; by default that of the `MetricsSystem`.
    public init(factory: (any MetricsFactory)? = nil) {
      chosen = factory
    }

    /// Passes the request on, and measures.
    public func startLoading(
      _ request: InterceptedRequest, next: InterceptorChain.Next
    ) async throws -> InterceptedResponse {
      let known = TrafficFacts(request).attributes.map { ($0.key, $0.value.text) }
      let start = ContinuousClock.now
      count(request, 1, known)
      defer { count(request, -1, known) }
      do {
        let response = try await next(request)
        let answered = TrafficFacts.attributes(of: response).filter { !$0.key.hasPrefix("network.peer") }
        let all = known + answered.map { ($0.key, $0.value.text) }
        record("http.client.request.duration", (ContinuousClock.now - start) / .seconds(1), all)
        if let size = request.body.length { record("http.client.request.body.size", Double(size), all) }
        if let size = response.body.length { record("http.client.response.body.size", Double(size), all) }
        return response
      } catch {
        let all = known + [("error.type", TrafficFacts.type(of: error))]
        record("http.client.request.duration", (ContinuousClock.now - start) / .seconds(1), all)
        throw error
      }
    }

    private func record(_ label: String, _ value: Double, _ dimensions: [(String, String)]) {
      Recorder(label: label, dimensions: dimensions, aggregate: true, factory: factory).record(value)
    }

    private func count(_ request: InterceptedRequest, _ change: Int, _ dimensions: [(String, String)]) {
      let key = dimensions.map(\.1).joined(separator: " ")
      let number = active.withLock { active in
        let number = active[key, default: 0] + change
        active[key] = number == 0 ? nil : number
        return number
      }
      Meter(label: "http.client.active_requests", dimensions: dimensions, factory: factory).set(number)
    }
  }
#else
  public import WaylayCore

  /// Measurements of requests, which need the trait `Metrics` of this package.
  @available(*, unavailable, message: "Enable the trait Metrics of the package waylay to measure requests.")
  public struct TrafficMetrics: RequestInterceptor {
    /// Says which trait is missing.
    public init(factory: Any? = nil) {}

    /// Passes the request on.
    public func startLoading(
      _ request: InterceptedRequest, next: InterceptorChain.Next
    ) async throws -> InterceptedResponse { try await next(request) }
  }
#endif
