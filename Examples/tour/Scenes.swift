import Foundation
import TestOrigin
import Waylay

extension HTTPField.Name {
  fileprivate static let sentThrough = HTTPField.Name("X-Sent-Through")!
}

extension Scene {
  /// An interceptor of ten lines.
  private struct PolitelyRetry: RequestInterceptor {
    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      var request = request
      request.fields[.sentThrough] = "Waylay"
      let response = try await next(request)
      guard response.status == .serviceUnavailable else { return response }
      return try await next(request)
    }
  }

  static let retry = Scene(title: "An interceptor adds a header and retries once on 503") { origin, report in
    origin.reply(to: "/flaky") { request in
      let isFirst = origin.requests(to: "/flaky").count == 1
      return isFirst ? .text("busy", status: 503) : .text("here you are")
    }
    let registry = InterceptorRegistry { PolitelyRetry() }
    let session = URLSession(configuration: .default.intercepted(by: registry))
    let (data, response) = try await session.data(from: origin.url("/flaky"))
    for request in origin.requests(to: "/flaky") { report.note(request, fields: ["X-Sent-Through"]) }
    report.note("app got", "\(status(response)) \(String(decoding: data, as: UTF8.self))")
    report.expect(
      "two requests, both with the header", origin.requests(to: "/flaky").map { $0["X-Sent-Through"] },
      [["Waylay"], ["Waylay"]])
    report.expect("the second response", String(decoding: data, as: UTF8.self), "here you are")
    registry.invalidate()
  }

  /// Answers without the network.
  private struct Greeter: InlineResponding {
    func canInit(with request: URLRequest) -> Bool { request.url?.path == "/greeting" }

    func respondInline(_ request: InterceptedRequest) -> InlineResponse {
      .response(
        InterceptedResponse(
          to: request, fields: [.contentType: "application/json"], body: .text(#"{"greeting":"hello from the chain"}"#))
      )
    }
  }

  static let answer = Scene(title: "A chain answers by itself; what it does not accept goes its own way") {
    origin, report in
    let registry = InterceptorRegistry()
    registry.register(InterceptorChain("greetings", for: .host("127.0.0.1").path("/greeting/**")) { Greeter() })
    let session = URLSession(configuration: .default.intercepted(by: registry))
    let before = origin.requests.count
    let (greeting, head) = try await session.data(from: origin.url("/greeting"))
    report.note("app got", "\(status(head)) \(String(decoding: greeting, as: UTF8.self))")
    report.expect("no request at the server", origin.requests.count - before, 0)
    let (plain, _) = try await session.data(from: origin.url("/hello"))
    if let request = origin.requests.last { report.note(request) }
    report.note("app got", String(decoding: plain, as: UTF8.self))
    report.expect("the server's own response", String(decoding: plain, as: UTF8.self), "hello")
    registry.invalidate()
  }

  /// Brings equal requests into one form.
  private struct SortedQuery: RequestInterceptor {
    func canonicalRequest(for request: URLRequest) -> URLRequest {
      var request = request
      guard let url = request.url, var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else {
        return request
      }
      parts.queryItems = parts.queryItems?.filter { $0.name != "utm_source" }.sorted { $0.name < $1.name }
      request.url = parts.url
      return request
    }

    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      try await next(request)
    }
  }

  static let canonicalisation = Scene(title: "Canonicalisation: two spellings, one request") { origin, report in
    let registry = InterceptorRegistry { SortedQuery() }
    let session = URLSession(configuration: .default.intercepted(by: registry))
    for query in ["?b=2&a=1&utm_source=mail", "?a=1&b=2"] {
      report.note("app asked for", "/echo\(query)")
      _ = try await session.data(from: origin.url("/echo\(query)"))
      if let request = origin.requests.last { report.note(request) }
    }
    report.expect(
      "one form at the server", Set(origin.requests(to: "/echo").suffix(2).map(\.target)), ["/echo?a=1&b=2"])
    registry.invalidate()
  }

  /// Fetches a token through a session before each request: the session that it is itself part of.
  private struct TokenRefresh: RequestInterceptor {
    let session: URLSession
    let tokenURL: URL

    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      let (token, _) = try await session.data(from: tokenURL)
      var request = request
      request.fields[.authorization] = "Bearer \(String(decoding: token, as: UTF8.self))"
      return try await next(request)
    }
  }

  static let loopGuard = Scene(
    title: "The loop guard: an interceptor uses the session it intercepts, and one that loops is caught"
  ) {
    origin, report in
    let registry = InterceptorRegistry()
    let session = URLSession(configuration: .default.intercepted(by: registry))
    registry.register(InterceptorChain("token") { TokenRefresh(session: session, tokenURL: origin.url("/hello")) })
    _ = try await session.data(from: origin.url("/echo"))
    for request in origin.requests.suffix(2) { report.note(request, fields: ["Authorization"]) }
    report.expect("the token was fetched once", origin.requests.suffix(2).map(\.path), ["/hello", "/echo"])
    report.expect("no tag on the wire", origin.rawBytes.contains { $0.contains("waylay-") }, false)

    let gate = LoopGuard(name: "Gate")
    let other = InterceptorRegistry { gate }
    let otherSession = URLSession(configuration: .default.intercepted(by: other))
    let ring = InterceptorRegistry {
      gate
      TokenRefresh(session: otherSession, tokenURL: origin.url("/hello"))
    }
    do {
      _ = try await URLSession(configuration: .default.intercepted(by: ring)).data(from: origin.url("/echo"))
      report.expect("the recursion is caught", was: "a response", false)
    } catch {
      let cause = (error as? URLError)?.cause(as: WaylayError.self)
      report.note("app got", cause?.message ?? "\(error)")
      report.expect("the recursion is caught", cause?.code, .loopDetected)
    }
    for registry in [registry, other, ring] { registry.invalidate() }
  }

  static let redirect = Scene(title: "A redirect to another origin leaves the credentials behind") { origin, report in
    let second = try await TestOrigin.start()
    let registry = InterceptorRegistry { PolitelyRetry() }
    let session = URLSession(configuration: .ephemeral.intercepted(by: registry))
    var request = URLRequest(url: origin.url("/redirect/302?to=\(second.url("/echo").absoluteString)"))
    request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
    let (_, response) = try await session.data(for: request)
    for request in origin.requests.suffix(1) + second.requests {
      report.note(request, fields: ["Authorization", "X-Sent-Through"])
    }
    report.expect("the second server's response", response.url?.port, second.port)
    report.expect("no secret there", second.rawBytes.joined().contains("secret"), false)
    registry.invalidate()
    await second.stop()
  }

  static let stream = Scene(title: "A body streamed by a direct load: each chunk is read before the next is sent") {
    origin, report in
    let registry = InterceptorRegistry { PolitelyRetry() }
    let response = try await registry.load(URLRequest(url: origin.url("/gate/tour")))
    report.note("head", "\(response.status.code), from the \(response.source)")
    var chunks = response.body.makeAsyncIterator()
    var seen: [String] = []
    for text in ["one", "two", "three"] {
      origin.release(text, gate: "tour")
      let chunk = try await chunks.next().map { String(decoding: $0, as: UTF8.self) } ?? "(end)"
      report.note("chunk", chunk)
      seen.append(chunk)
    }
    origin.release(nil, gate: "tour")
    report.expect(
      "three chunks, one by one, then the end", was: "\(seen)",
      try await chunks.next() == nil && seen == ["one", "two", "three"])
    registry.invalidate()
  }

  private static func status(_ response: URLResponse) -> Int { (response as? HTTPURLResponse)?.statusCode ?? 0 }
}
