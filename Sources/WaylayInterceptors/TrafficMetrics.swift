#if Metrics
  public import CoreMetrics
  public import WaylayCore

  /// An interceptor that measures requests by OpenTelemetry's conventions for HTTP clients, with swift-metrics.
  /// Requires the trait `Metrics` of this package.
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
  /// The dimensions follow the conventions (https://opentelemetry.io/docs/specs/semconv/http/http-metrics/): method,
  /// server, status, kind of error, version of the protocol. Each attempt and each hop is measured separately.
  public struct TrafficMetrics: OrderedInterceptor {
    private let chosen: (any MetricsFactory)?
    private let active = Locked<[Server: Active]>([:])

    /// Makes the interceptor.
    ///
    /// - Parameter factory: The metrics factory. Default: that of the `MetricsSystem`.
    public init(factory: (any MetricsFactory)? = nil) {
      chosen = factory
    }

    /// `true`: requests of interceptors are measured, too.
    public var takesPartInNestedRequests: Bool { true }

    /// Measures the request, and passes it on.
    public func startLoading(
      _ request: InterceptedRequest, next: InterceptorChain.Next
    ) async throws -> InterceptedResponse {
      let factory = chosen ?? MetricsSystem.factory
      func record(_ label: String, _ value: Double, _ dimensions: [(String, String)]) {
        Recorder(label: label, dimensions: dimensions, aggregate: true, factory: factory).record(value)
      }
      let facts = TrafficFacts.attributes(of: request)
      let server = Server(method: TrafficFacts.spanName(of: request), authority: request.url.authority)
      let start = ContinuousClock.now
      let meter = begin(server, facts, factory)
      meter.increment()
      defer {
        meter.decrement()
        end(server)
      }
      do {
        let response = try await next(request)
        let all = Self.dimensions(facts + TrafficFacts.attributes(of: response, withPeer: false))
        record("http.client.request.duration", (ContinuousClock.now - start) / .seconds(1), all)
        if let size = request.body.length { record("http.client.request.body.size", Double(size), all) }
        if let size = response.body.length { record("http.client.response.body.size", Double(size), all) }
        return response
      } catch {
        let all = Self.dimensions(facts) + [("error.type", TrafficFacts.type(of: error))]
        record("http.client.request.duration", (ContinuousClock.now - start) / .seconds(1), all)
        throw error
      }
    }

    private static func dimensions(_ facts: [TrafficFacts.Attribute]) -> [(String, String)] {
      facts.map { ($0.key, $0.value.text) }
    }

    /// The requests in progress to one server share a meter: a metrics system that emulates meters counts the updates
    /// of each meter separately.
    private struct Active {
      var count: Int
      let meter: Meter
    }

    /// The dimensions of a meter.
    private struct Server: Hashable {
      let method: String
      let authority: Authority
    }

    private func begin(_ server: Server, _ facts: [TrafficFacts.Attribute], _ factory: any MetricsFactory) -> Meter {
      if let known = add(server, nil) { return known }
      let made = Meter(
        label: "http.client.active_requests", dimensions: Self.dimensions(facts), factory: factory)
      return add(server, made) ?? made
    }

    private func add(_ server: Server, _ made: Meter?) -> Meter? {
      active.withLock { active in
        guard let meter = active[server]?.meter ?? made else { return nil }
        active[server, default: Active(count: 0, meter: meter)].count += 1
        return meter
      }
    }

    private func end(_ server: Server) {
      active.withLock { active in
        guard let entry = active[server] else { return }
        active[server] = entry.count == 1 ? nil : Active(count: entry.count - 1, meter: entry.meter)
      }
    }
  }
#else
  public import WaylayCore

  /// Measurements of requests, which require the trait `Metrics` of this package.
  @available(*, unavailable, message: "Enable the trait Metrics of the package waylay to measure requests.")
  public struct TrafficMetrics: RequestInterceptor {
    /// Unavailable: names the missing trait.
    public init(factory: Any? = nil) {}

    /// Passes the request on.
    public func startLoading(
      _ request: InterceptedRequest, next: InterceptorChain.Next
    ) async throws -> InterceptedResponse { try await next(request) }
  }
#endif
