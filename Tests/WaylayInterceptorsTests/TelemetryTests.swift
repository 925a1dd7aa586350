#if Tracing && Metrics
  import CoreMetrics
  import Foundation
  import InMemoryTracing
  import MetricsTestKit
  import TestOrigin
  import TestSupport
  import Testing
  import Tracing
  import WaylayCore
  import WaylayInterceptors
  import WaylayMocks

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  /// The example trees are those of OpenTelemetry's conventions for HTTP spans, section "Examples"
  /// (https://github.com/open-telemetry/semantic-conventions/blob/main/docs/http/http-spans.md#examples).
  @Suite("Tracing and TrafficMetrics", .timeLimit(.minutes(5)))
  struct TelemetryTests {
    private let tracer = InMemoryTracer()

    private func run(
      _ path: String, in origin: TestOrigin, @InterceptorBuilder _ links: () -> [any RequestInterceptor] = { [] }
    ) async throws {
      let links = links()
      let registry = InterceptorRegistry {
        links
        Tracing(for: .host("127.0.0.1"), tracer: tracer)
      }
      let parent = tracer.startSpan("request", ofKind: .server)
      await ServiceContext.withValue(parent.context) {
        _ = try? await registry.data(for: URLRequest(url: origin.url(path)))
      }
      parent.end()
      let clients = tracer.finishedSpans.filter { $0.kind == .client }
      #expect(clients.allSatisfy { $0.parentSpanID == parent.spanID && $0.traceID == parent.traceID })
      // Each request carries the context of its own span.
      let ids = origin.requests.compactMap { $0["in-memory-span-id"].first }
      #expect(ids == clients.map(\.spanID))
    }

    @Test("a session's request has the span of the task that made it for its parent, if it carries the context")
    func session() async throws {
      try await withOrigin { origin in
        let session = URLSession(
          configuration: .ephemeral.intercepted(
            by: InterceptorRegistry { Tracing(for: .host("127.0.0.1"), tracer: tracer) }))
        let parent = tracer.startSpan("request", ofKind: .server)
        try await ServiceContext.withValue(parent.context) {
          let plain = URLRequest(url: origin.url("/hello"))
          _ = try await session.data(for: plain)
          _ = try await session.data(for: plain.carryingTraceContext(of: tracer))
        }
        parent.end()
        let spans = tracer.finishedSpans.filter { $0.kind == .client }
        #expect(spans.last?.parentSpanID == parent.spanID && spans.last?.traceID == parent.traceID)
        #expect(origin.requests.last?["in-memory-span-id"] == spans.last.map { [$0.spanID] })
        let outside = URLRequest(url: origin.url("/hello")).carryingTraceContext(of: tracer)
        #expect(outside == URLRequest(url: origin.url("/hello")))
      }
    }

    @Test(
      "url.full has no user, no fragment, no value of a query or a parameter, and no credential by its shape",
      arguments: [
        ShownURL(
          "https://u:s3cret@a.test:8443/b;id=s3cret;c/d=e?x=s3cret&y&z=s3cret?s3cret=1&&=s3cret#s3cret",
          "https://a.test:8443/b;id=REDACTED;c/d=e?x=REDACTED&REDACTED&z=REDACTED&&=REDACTED"),
        ShownURL("https://s3cret@u;v=s3cret@a.test", "https://a.test"),
        ShownURL("http://a.test?k=s3cret", "http://a.test?k=REDACTED"),
        ShownURL("https://[2001:db8::1]:81/%40;%3D=s3cret/", "https://[2001:db8::1]:81/%40;%3DREDACTED/"),
        ShownURL("https://a.test/b//c@d;e", "https://a.test/b//c@d;e"),
        ShownURL("https://a.test/v1/ghp_pl4ntedA1b2C3d4E5f6G7/x", "https://a.test/v1/REDACTED/x"),
      ])
    func shownURL(_ row: ShownURL) async throws {
      let request = InterceptedRequest(.get, try #require(URL(string: row.url)))
      _ = try await Tracing(for: .http, tracer: tracer).load(request, Script(.ok))
      let span = try #require(tracer.finishedSpans.first)
      #expect(text(span, "url.full") == row.shown)
    }

    @Test("retries are siblings that are counted")
    func retries() async throws {
      try await withOrigin { origin in
        let count = Locked(0)
        origin.reply(to: "/") { _ in
          .text(
            "",
            status: count.withLock {
              $0 += 1; return $0
            } < 3 ? 500 : 200)
        }
        try await run("/", in: origin) { Retry(clock: MockClock(isAutomatic: true)) }
        #expect(statuses == [500, 500, 200] && resends == [0, 1, 2])
        #expect(tracer.finishedSpans.prefix(2).allSatisfy { $0.status?.code == .error })
        #expect(tracer.finishedSpans[2].status == nil)
      }
    }

    @Test("an authorization is a span of its own, and so is a redirect")
    func authorizationAndRedirect() async throws {
      try await withOrigin { origin in
        origin.reply(to: "/hello") { .text("", status: $0["Authorization"] == ["Bearer new"] ? 200 : 401) }
        try await run("/hello", in: origin) {
          BearerToken(hosts: .host("127.0.0.1")) {
            "old"
          } refresh: { _ in
            "new"
          }
        }
        #expect(statuses == [401, 200] && resends == [0, 1])
      }
      tracer.clearAll()
      try await withOrigin { origin in
        try await run("/redirect/302?to=/echo", in: origin)
        #expect(statuses == [302, 200] && resends == [0, 1])
      }
    }

    private var statuses: [Int64] {
      tracer.finishedSpans.filter { $0.kind == .client }.map { int($0, "http.response.status_code") }
    }
    private var resends: [Int64] {
      tracer.finishedSpans.filter { $0.kind == .client }.map { int($0, "http.request.resend_count") }
    }

    private func int(_ span: FinishedInMemorySpan, _ key: String) -> Int64 {
      if case .int64(let value)? = span.attributes.get(key) {
        value
      } else if case .int32(let value)? = span.attributes.get(key) {
        Int64(value)
      } else {
        0
      }
    }

    private func text(_ span: FinishedInMemorySpan?, _ key: String) -> String? {
      if case .string(let value)? = span?.attributes.get(key) { value } else { nil }
    }

    @Test("without a trace that was started before, each attempt is a trace of its own")
    func noParent() async throws {
      try await withOrigin { origin in
        let registry = InterceptorRegistry { Tracing(for: .host("127.0.0.1"), tracer: tracer) }
        _ = try await registry.data(for: URLRequest(url: origin.url("/redirect/302?to=/echo")))
        let clients = tracer.finishedSpans
        #expect(Set(clients.map(\.traceID)).count == 2 && clients.allSatisfy { $0.parentSpanID == nil })
        #expect(resends == [0, 1])
      }
    }

    @Test("the attributes are those of the conventions, without user, values of the query and user info")
    func attributes() async throws {
      try await withOrigin { origin in
        try await run("/echo?s=1&token=pl4nted", in: origin)
        let span = tracer.finishedSpans.first
        #expect(span?.operationName == "GET" && text(span, "http.request.method") == "GET")
        #expect(
          text(span, "server.address") == "127.0.0.1" && span.map { int($0, "server.port") } == Int64(origin.port))
        #expect(text(span, "url.full") == "\(origin.url("/echo"))?s=REDACTED&token=REDACTED")
        #expect(text(span, "network.protocol.version") == "1.1" && text(span, "network.peer.address") == "127.0.0.1")
        #expect(span.map { int($0, "network.peer.port") } == Int64(origin.port))
        #expect(span.map { int($0, "http.response.status_code") } == 200 && text(span, "error.type") == nil)
      }
    }

    @Test("a name that is not known, and a 500")
    func errors() async throws {
      let link = Tracing(for: .http, tracer: tracer)
      let unknown = Script { request, _ in throw try #require(NetworkFault.hostNotFound.error(for: request)) }
      _ = try? await link.load(InterceptedRequest(.get, "https://does-not-exist-123.com"), unknown)
      _ = try? await link.load(InterceptedRequest(.get, "https://example.com"), Script(.internalServerError))
      _ = try? await link.load(
        InterceptedRequest(try #require(HTTPRequest.Method(rawValue: "FETCH")), "https://example.com"), Script(.ok))
      let spans = tracer.finishedSpans
      #expect(text(spans[0], "url.full") == "https://does-not-exist-123.com")
      #expect(
        text(spans[0], "server.address") == "does-not-exist-123.com" && text(spans[0], "error.type") == "hostNotFound")
      #expect(text(spans[1], "error.type") == "500" && int(spans[1], "http.response.status_code") == 500)
      #expect(spans[0].status?.code == .error && spans[1].status?.code == .error)
      #expect(spans[2].operationName == "HTTP" && text(spans[2], "http.request.method") == "_OTHER")
      #expect(text(spans[2], "http.request.method_original") == "FETCH")
    }

    @Test("the trace context reaches the hosts of the scope alone, whoever put it in")
    func scope() async throws {
      let link = Tracing(for: .host("api.example.com"), tracer: tracer)
      let script = Script(.ok)
      let name = try #require(HTTPField.Name("traceparent"))
      let baggage = try #require(HTTPField.Name("baggage"))
      for url in ["https://api.example.com/", "https://other.example/"] {
        let request = InterceptedRequest(
          .get, try #require(URL(string: url)), fields: [name: "00-a-b-01", baggage: "user=ada"])
        _ = try await link.load(request, script)
      }
      let sent = script.requests.all.map { request in request.fields.map(\.name.rawName) }
      #expect(sent[0].contains("in-memory-span-id") && sent[0].contains("traceparent"))
      #expect(sent[1].isEmpty)
    }

    @Test("durations, sizes and active requests have the names and dimensions of the conventions")
    func metrics() async throws {
      let metrics = TestMetrics()
      let link = TrafficMetrics(factory: metrics)
      let request = InterceptedRequest(.post, "https://api.example.com/users/1?token=pl4nted", body: .text("hello"))
      _ = try await link.load(request, Script(.ok, .ok))
      _ = try await link.load(request, Script(.serviceUnavailable))
      _ = try? await link.load(request, Script { _, _ in throw CancellationError() })
      let labels = Set(metrics.recorders.map(\.label))
      #expect(
        labels == ["http.client.request.duration", "http.client.request.body.size", "http.client.response.body.size"])
      let durations = metrics.recorders(label: "http.client.request.duration")
      let dimensions = Set(durations.map { $0.dimensions.map { "\($0.0)=\($0.1)" }.joined(separator: " ") })
      let common = "http.request.method=POST server.address=api.example.com server.port=443"
      #expect(
        dimensions == [
          "\(common) http.response.status_code=200", "\(common) http.response.status_code=503 error.type=503",
          "\(common) error.type=cancelled",
        ])
      #expect(metrics.recorders(label: "http.client.request.body.size").first?.values == [5])
      #expect(metrics.meters(label: "http.client.active_requests").first?.values.last == 0)
      #expect(metrics.meters(label: "http.client.active_requests").first?.values.first == 1)
    }

    @Test("requests that are under way together are counted together")
    func together() async throws {
      let metrics = TestMetrics()
      let link = TrafficMetrics(factory: metrics)
      let script = Script { request, number in
        if number == 1 { _ = try await link.load(.example, Script(.ok)) }
        return InterceptedResponse(to: request)
      }
      _ = try await link.load(.example, script)
      #expect(metrics.meters(label: "http.client.active_requests").first?.values == [1, 2, 1, 0])
    }

    @Test("methods that somebody makes up share one dimension, and are named in spans alone")
    func methods() async throws {
      let metrics = TestMetrics()
      for name in ["BREW", "WHEN"] {
        let method = try #require(HTTPRequest.Method(name))
        let request = InterceptedRequest(method, "https://api.example.com/")
        _ = try await TrafficMetrics(factory: metrics).load(request, Script(.ok))
        _ = try await Tracing(for: .http, tracer: tracer).load(request, Script(.ok))
      }
      let durations = metrics.recorders(label: "http.client.request.duration")
      #expect(
        Set(durations.map { $0.dimensions.map { "\($0.0)=\($0.1)" }.joined(separator: " ") }) == [
          "http.request.method=_OTHER server.address=api.example.com server.port=443 http.response.status_code=200"
        ])
      let named = tracer.finishedSpans.map { $0.attributes.get("http.request.method_original") }
      #expect(named == [.string("BREW"), .string("WHEN")])
    }
  }
#endif
