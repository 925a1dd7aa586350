#if Tracing
  public import Tracing
  public import WaylayCore

  /// An interceptor that creates a span for each request sent, by OpenTelemetry's conventions for HTTP clients.
  /// Requires the trait `Tracing` of this package.
  ///
  /// ```swift
  /// Tracing(for: .host("*.example.com"))
  /// ```
  ///
  /// Each attempt and each hop has its own span; they are siblings, numbered by `http.request.resend_count`. A span
  /// ends with the head of the response, or with the failure. Its attributes follow the conventions for spans of HTTP
  /// clients, version 1.23 and later (https://opentelemetry.io/docs/specs/semconv/http/http-spans/); `url.full` has
  /// neither the user nor the values of the query.
  ///
  /// The hosts of the scope get the trace context (`traceparent` and the tracer's other fields). For all other hosts it
  /// is removed, even if another interceptor or the app has set it.
  ///
  /// The parent is the current `ServiceContext`. A direct load keeps it. A session does not: it starts loads on its own
  /// queue, without task-locals. Attach the context to the request instead:
  ///
  /// ```swift
  /// let (data, _) = try await session.data(for: URLRequest(url: url).carryingTraceContext())
  /// ```
  public struct Tracing: OrderedInterceptor {
    private let hosts: InterceptorChain.Scope
    private let chosen: (any Tracer)?
    private let resends = Resends()

    private var tracer: any Tracer { chosen ?? InstrumentationSystem.tracer }

    /// Makes the interceptor.
    ///
    /// - Parameters:
    ///   - hosts: The requests that get the trace context.
    ///   - tracer: The tracer; by default the one of the `InstrumentationSystem`.
    public init(for hosts: InterceptorChain.Scope, tracer: (any Tracer)? = nil) {
      (self.hosts, chosen) = (hosts, tracer)
    }

    /// `true`: requests of interceptors have spans, too.
    public var takesPartInNestedRequests: Bool { true }

    /// Creates the span, and passes the request on.
    public func startLoading(
      _ request: InterceptedRequest, next: InterceptorChain.Next
    ) async throws -> InterceptedResponse {
      let tracer = tracer
      var (request, context) = (request, ServiceContext.current ?? .topLevel)
      if ServiceContext.current == nil { tracer.extract(request.fields, into: &context, using: Fields()) }
      let span = tracer.startAnySpan(TrafficFacts.spanName(of: request), context: context, ofKind: .client)
      defer { span.end() }
      let resend = resends.next(of: request.id)
      if span.isRecording {
        note(TrafficFacts.attributes(of: request), on: span)
        let method = request.method.rawValue
        if !TrafficFacts.methods.contains(method) { span.attributes["http.request.method_original"] = method }
        span.attributes["url.full"] = request.url.redacted
        if resend > 0 { span.attributes["http.request.resend_count"] = resend }
      }
      propagate(span.context, with: &request, by: tracer)
      do {
        let response = try await ServiceContext.withValue(span.context) { [request] in try await next(request) }
        if span.isRecording { note(TrafficFacts.attributes(of: response, withPeer: true), on: span) }
        if response.status.code >= 400 { span.setStatus(SpanStatus(code: .error)) }
        return response
      } catch {
        span.attributes["error.type"] = TrafficFacts.type(of: error)
        span.setStatus(SpanStatus(code: .error))
        throw error
      }
    }

    private func note(_ facts: [TrafficFacts.Attribute], on span: any Span) {
      span.updateAttributes { attributes in
        for (key, value) in facts { attributes[key] = value.attribute }
      }
    }

    private func propagate(
      _ context: ServiceContext, with request: inout InterceptedRequest, by tracer: any Tracer
    ) {
      var injected = HTTPFields()
      tracer.inject(context, into: &injected, using: Fields())
      guard !hosts.covers(request.url) else {
        for field in injected { request.fields[field.name] = field.value }
        return
      }
      for name in injected.map(\.name) + Self.standard where request.fields.contains(name) {
        request.fields[name] = nil
      }
    }

    /// The fields of the W3C specifications of trace context and baggage.
    private static let standard = ["traceparent", "tracestate", "baggage"].compactMap { HTTPField.Name($0) }

    /// Returns the invalid parts of the scope, and the interceptors that must precede this one but follow it.
    public func problems(in chain: InterceptorChain) -> [String] {
      hosts.problems.map { "has an invalid scope: \($0.message)" } + misplaced(in: chain)
    }
  }

  extension URLRequest {
    /// Returns the request with the trace context of the current task in its fields, for a session whose chain has
    /// ``Tracing``: hosts outside its scope do not get them.
    ///
    /// - Parameter tracer: The tracer of that ``Tracing``; by default the one of the `InstrumentationSystem`.
    public func carryingTraceContext(of tracer: (any Tracer)? = nil) -> URLRequest {
      guard let context = ServiceContext.current else { return self }
      var fields = HTTPFields()
      (tracer ?? InstrumentationSystem.tracer).inject(context, into: &fields, using: Fields())
      var request = self
      for field in fields { request.setValue(field.value, forHTTPHeaderField: field.name.rawName) }
      return request
    }
  }

  private struct Fields: Injector, Extractor {
    func inject(_ value: String, forKey key: String, into carrier: inout HTTPFields) {
      if let name = HTTPField.Name(key) { carrier[name] = value }
    }

    func extract(key: String, from carrier: HTTPFields) -> String? { HTTPField.Name(key).flatMap { carrier[$0] } }
  }

  extension TrafficFacts.Value {
    fileprivate var attribute: SpanAttribute {
      switch self {
      case .text(let text): .string(text)
      case .number(let number): .int64(Int64(number))
      }
    }
  }

  /// The number of times that each load has sent its request, for the newest thousand loads.
  private final class Resends: Sendable {
    private let counts = Locked<(counts: [InterceptedRequest.ID: Int], order: [InterceptedRequest.ID])>(([:], []))

    /// How often the load has sent its request before.
    func next(of id: InterceptedRequest.ID) -> Int {
      counts.withLock { state in
        if let count = state.counts[id] {
          state.counts[id] = count + 1
          return count
        }
        state.counts[id] = 1
        state.order.append(id)
        if state.order.count > 2000 {
          for old in state.order.prefix(1000) { state.counts[old] = nil }
          state.order.removeFirst(1000)
        }
        return 0
      }
    }
  }
#else
  public import WaylayCore

  /// Spans of requests, which require the trait `Tracing` of this package.
  @available(*, unavailable, message: "Enable the trait Tracing of the package waylay for spans of requests.")
  public struct Tracing: RequestInterceptor {
    /// Unavailable: names the missing trait.
    public init(for hosts: InterceptorChain.Scope, tracer: Any? = nil) {}

    /// Passes the request on.
    public func startLoading(
      _ request: InterceptedRequest, next: InterceptorChain.Next
    ) async throws -> InterceptedResponse { try await next(request) }
  }
#endif
