import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore
import WaylayInterceptors
import WaylayMocks

@Suite("Retry", .timeLimit(.minutes(5)))
struct RetryTests {
  private let clock = MockClock(isAutomatic: true)

  @Test(
    "statuses that may pass are retried for idempotent methods, others are not",
    arguments: [
      (HTTPRequest.Method.get, 503, 3), (.get, 429, 3), (.put, 500, 3), (.delete, 504, 3), (.head, 502, 3),
      (HTTPRequest.Method("QUERY")!, 503, 3), (.get, 501, 1), (.get, 404, 1), (.get, 200, 1), (.post, 503, 1),
      (.patch, 503, 1),
    ])
  func statuses(method: HTTPRequest.Method, status: Int, sent: Int) async throws {
    let script = Script(HTTPResponse.Status(code: status))
    let request = InterceptedRequest(method, "http://api.example.com/", body: method == .put ? .text("a") : .empty)
    let response = try await Retry(clock: clock).load(request, script)
    #expect(response.status.code == status)
    #expect(script.requests.all.count == sent)
  }

  @Test(
    "a failure before anything was sent is retried for every method, one after it for idempotent ones, a certificate never",
    arguments: [
      (NetworkFault.connectionRefused, HTTPRequest.Method.post, 3), (.hostNotFound, .post, 3), (.offline, .patch, 3),
      (.connectionReset, .get, 3), (.connectionReset, .post, 1), (.timedOut, .put, 3), (.tls(.expired), .get, 1),
      (.tls(.untrusted), .get, 1), (.tls(.clientCertificateRequired), .get, 1), (.malformedResponse, .get, 3),
    ])
  func failures(fault: NetworkFault, method: HTTPRequest.Method, sent: Int) async throws {
    let script = Script { request, _ in throw try #require(fault.error(for: request)) }
    let request = InterceptedRequest(method, "http://api.example.com/")
    let error = await failure { try await Retry(clock: clock).load(request, script) }
    #expect(error is TransportError && script.requests.all.count == sent)
    var oneShot = request
    oneShot.body = .stream(AsyncStream<Data> { $0.finish() })
    _ = await failure { try await Retry(clock: clock).load(oneShot, script) }
    #expect(script.requests.all.count == sent + 1)
  }

  @Test("a request with an Idempotency-Key is retried whatever its method")
  func key() async throws {
    var request = InterceptedRequest(.post, "http://api.example.com/")
    request.fields[try #require(HTTPField.Name("idempotency-key"))] = "7"
    let refused = Script(.serviceUnavailable)
    _ = try await Retry(clock: clock).load(request, refused)
    #expect(refused.requests.all.count == 3)
    let reset = Script { request, _ in throw try #require(NetworkFault.connectionReset.error(for: request)) }
    _ = await failure { try await Retry(clock: clock).load(request, reset) }
    #expect(reset.requests.all.count == 3)
  }

  @Test("a stored response is not retried, a mock's is")
  func sources() async throws {
    for (source, sent) in [(InterceptedResponse.Source("archive", storesCookies: false), 1), (.interceptor, 3)] {
      let script = Script { request, _ in
        InterceptedResponse(to: request, status: .serviceUnavailable, source: source)
      }
      _ = try await Retry(clock: clock).load(.example, script)
      #expect(script.requests.all.count == sent)
    }
  }

  @Test(
    "Retry-After is kept in both forms, as a date by the server's clock, in its three spellings",
    arguments: [
      ("7", 7.0), ("0", 0), ("Sun, 06 Nov 1994 08:49:47 GMT", 10), ("Sunday, 06-Nov-94 08:49:47 GMT", 10),
      ("Sun Nov  6 08:49:47 1994", 10), ("Sun, 06 Nov 1994 08:49:30 GMT", 0),
    ])
  func retryAfter(value: String, seconds: Double) async throws {
    let clock = MockClock(isAutomatic: true)
    let script = Script(
      .serviceUnavailable, .ok, fields: [.retryAfter: value, .date: "Sun, 06 Nov 1994 08:49:37 GMT"])
    let retry = Retry(initialDelay: .milliseconds(400), clock: clock)
    #expect(try await retry.load(.example, script).status == .ok)
    let waited = clock.now.offset / .seconds(1)
    #expect(waited >= seconds && waited <= seconds + 0.1, "\(waited)")
  }

  @Test("a wait that is too long, or over the deadline, is not begun: the app gets what there is")
  func tooLong() async throws {
    let cases: [(String, Duration?)] = [
      ("21", nil), ("99999999999999999999", nil), ("5", .seconds(3)), ("x", .zero),
    ]
    for (field, deadline) in cases {
      let clock = MockClock(isAutomatic: true)
      let script = Script(.serviceUnavailable, fields: [.retryAfter: field])
      var request = InterceptedRequest.example
      request.options.deadline = deadline.map { .now + $0 }
      #expect(try await Retry(clock: clock).load(request, script).status == .serviceUnavailable)
      #expect(script.requests.all.count == 1 && clock.now.offset == .zero)
    }
  }

  @Test("waits are random up to a limit that doubles")
  func backOff() async throws {
    var (most, sum) = (0.0, 0.0)
    for _ in 1...50 {
      let clock = MockClock(isAutomatic: true)
      _ = try await Retry(attempts: 5, initialDelay: .seconds(1), maximumDelay: .seconds(4), clock: clock)
        .load(.example, Script(.serviceUnavailable))
      let waited = clock.now.offset / .seconds(1)
      // 1 + 2 + 4 + 4
      #expect(waited <= 11)
      (most, sum) = (max(most, waited), sum + waited)
    }
    #expect(most > 5 && (4...7).contains(sum / 50))
  }

  @Test("64 requests at once to a server that is down are no storm, and the budget comes back")
  func budget() async throws {
    let retry = Retry(attempts: 5, clock: clock)
    let script = Script(.serviceUnavailable)
    await withTaskGroup(of: Void.self) { group in
      for _ in 1...64 { group.addTask { _ = try? await retry.load(.example, script) } }
    }
    #expect(script.requests.all.count > 64 && script.requests.all.count <= 64 + 10 + 13)
    let before = script.requests.all.count
    for _ in 1...10 { _ = try await retry.load(.example, Script(.ok)) }
    _ = try await retry.load(.example, script)
    #expect(script.requests.all.count > before + 1)
  }

  @Test("a retry is resent with its body, is counted, and does not use up idle time")
  func live() async throws {
    try await withOrigin { origin in
      let failed = Locked(false)
      origin.reply(to: "/flaky") { request in
        let isSecond = failed.withLock { failed in
          defer { failed = true }
          return failed
        }
        return .text(String(decoding: request.body, as: UTF8.self), status: isSecond ? 200 : 503)
      }
      let clock = MockClock()
      let registry = InterceptorRegistry { Retry(clock: clock) }
      let events = registry.events()
      var request = URLRequest(url: origin.url("/flaky"))
      request.httpMethod = "PUT"
      let load = Task { [request] in try await registry.upload(for: request, from: Data("again".utf8)) }
      try await clock.waitForSleepers()
      clock.advance(by: .seconds(20))
      let (data, head) = try await load.value
      #expect(head.statusCode == 200 && data == Data("again".utf8))
      registry.invalidate()
      let kinds = await events.reduce(into: []) { $0.append($1.kind) }
      #expect(kinds.filter { $0 == .retried }.count == 1)
      #expect(origin.requests(to: "/flaky").map(\.body) == [Data("again".utf8), Data("again".utf8)])
    }
  }

  @Test("a load that is cancelled while it waits ends at once, and sends nothing")
  func cancellation() async throws {
    let clock = MockClock()
    let script = Script(.serviceUnavailable)
    let load = Task { try await Retry(clock: clock).load(.example, script) }
    try await clock.waitForSleepers()
    load.cancel()
    #expect(await failure { try await load.value } is CancellationError)
    #expect(script.requests.all.count == 1 && clock.sleepers == 0)
  }
}
