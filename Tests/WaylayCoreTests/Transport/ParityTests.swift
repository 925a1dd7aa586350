import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

/// One script of requests through a plain `URLSession` and through a registry that does nothing: what comes back is the
/// same.
@Suite(
  "Parity with a plain URLSession",
  .enabled(if: Platform.isLinux, "the script knows where Foundation's session on Linux differs"),
  .timeLimit(.minutes(2)))
struct ParityTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let path: String
    var method = "GET"
    var fields: [String: String] = [:]
    var body: String?
    /// What is better than with the plain session, and why.
    var wanted: (@Sendable (inout Outcome) -> Void)?

    init(
      _ path: String, _ method: String = "GET", fields: [String: String] = [:], body: String? = nil,
      wanted: (@Sendable (inout Outcome) -> Void)? = nil
    ) {
      testDescription = "\(method) \(path)"
      self.path = path
      self.method = method
      self.fields = fields
      self.body = body
      self.wanted = wanted
    }
  }

  static let script: [Case] =
    ["GET", "HEAD", "OPTIONS", "DELETE", "PATCH", "PUT", "POST"].map { Case("/hello", $0) } + [
      Case("/mirror", "POST", body: "a body"), Case("/mirror", "PUT", body: "a body"),
      Case("/mirror", "DELETE", body: "a body"),
      Case("/mirror", "POST", body: String(repeating: "long ", count: 100_000)),
      Case(
        "/mirror", "POST",
        fields: ["Content-Type": "application/json", "X-Empty": "", "X-Long": String(repeating: "x", count: 8000)]),
      Case("/status/204"), Case("/status/304"), Case("/status/404"), Case("/status/500"), Case("/status/599"),
      // Trailers are not among them: they end a process that uses URLSession (U16).
      Case("/bytes/1000000"), Case("/chunks/5"), Case("/sse/3"), Case("/gzip"), Case("/gzip", "HEAD"),
      Case("/early/103"), Case("/bytewise"), Case("/long"),
      Case("/cookies/set?a=1"), Case("/cookies?plain"), Case("/cookies?path"),
      // The plain session lets a server without TLS set a Secure cookie (RFC 6265bis).
      Case("/cookies?secure") { $0.cookies = [] },
      Case("/cookies?expired"),
      Case("/cookies?domain"),
      Case("/redirect/301?to=/hello"), Case("/redirect/302?to=/hello"), Case("/redirect/303?to=/hello"),
      Case("/redirect/307?to=/hello"),
      Case("/redirect/308?to=/hello"), Case("/redirect/302?to=/mirror", "POST", body: "moved"),
      // The plain session loses the body that a 307 keeps (RFC 9110, section 15.4.8).
      Case("/redirect/307?to=/mirror", "POST", body: "moved") {
        $0.body = "moved"
        $0.fields["Content-Length"] = "5"
      }, Case("/redirect/302?to=/redirect/302%3Fto=/hello"),
      // P23: the plain session loses the body of a 3xx that leads nowhere.
      Case("/status/302") { $0.body = "status 302" },
      // The plain session says only that something is wrong; an app that looks at the code learns more here.
      Case("/close") { $0.code = .networkConnectionLost }, Case("/truncated") { $0.code = .networkConnectionLost },
      Case("/reset") { $0.code = .networkConnectionLost },
    ]

  @Test("holds for the same request", arguments: script)
  func parity(_ one: Case) async throws {
    let origin = try await TestOrigin.start()
    Self.prepare(origin)
    let plain = try await outcome(one, origin) { URLSession(configuration: $0) }
    let registry = InterceptorRegistry { Link.pass() }
    let intercepted = try await outcome(one, origin) { URLSession(configuration: $0.intercepted(by: registry)) }
    var wanted = plain
    if let change = one.wanted {
      change(&wanted)
      if wanted.code != nil { wanted = Outcome(code: wanted.code) }
    }
    #expect(intercepted == wanted)
    registry.invalidate()
    await origin.stop()
  }

  @Test("ends where it should: a redirect to another host takes no credentials along (U3)")
  func credentials() async throws {
    try await withAway { origin, other in
      var request = URLRequest(url: origin.url("/away"))
      request.setValue("secret", forHTTPHeaderField: "Authorization")
      request.setValue("session=secret", forHTTPHeaderField: "Cookie")
      request.setValue("api.example.com", forHTTPHeaderField: "Host")
      let registry = InterceptorRegistry(configuration: .ephemeral) { Link.pass() }
      _ = try await registry.data(for: request)
      #expect(origin.requests.first?["Host"] == ["api.example.com"])
      let raw = other.rawBytes.joined()
      #expect(!raw.contains("secret") && !raw.contains("api.example.com"))
      registry.invalidate()
    }
  }

  private static func prepare(_ origin: TestOrigin) {
    origin.reply(to: "/mirror") { request in
      .text(
        String(decoding: request.body, as: UTF8.self),
        fields: [("X-Method", request.method), ("X-Type", request["Content-Type"].joined())])
    }
    origin.reply(to: "/long") { _ in .text("x", fields: [("X-Long", String(repeating: "y", count: 12_000))]) }
    origin.reply(to: "/cookies") { request in
      let cookie =
        switch request.target.split(separator: "?").last {
        case "path": "p=1; Path=/elsewhere"
        case "secure": "s=1; Secure"
        case "expired": "e=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT"
        case "domain": "d=1; Domain=example.com"
        default: "plain=1; Path=/"
        }
      return .text("set", fields: [("Set-Cookie", cookie)])
    }
  }

  private func outcome(
    _ one: Case, _ origin: TestOrigin, _ make: (URLSessionConfiguration) -> URLSession
  ) async throws -> Outcome {
    var request = URLRequest(url: origin.url(one.path))
    request.httpMethod = one.method
    for (name, value) in one.fields { request.setValue(value, forHTTPHeaderField: name) }
    request.httpBody = one.body.map { Data($0.utf8) }
    return try await Outcome(of: request, in: make)
  }
}
