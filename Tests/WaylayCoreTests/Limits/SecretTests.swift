import Foundation
import Logging
import TestOrigin
import TestSupport
import Testing
import WaylayCore

/// Plants secrets wherever a request, an answer or an error can carry them, and searches the bytes of all that is said
/// of it.
@Suite("Secrets are in no log, event, description or error", .timeLimit(.minutes(5)))
struct SecretTests {
  /// An error of an app's own, which says everything.
  private struct Talkative: Error, CustomStringConvertible {
    var description: String { "Authorization: Bearer pl4nted-error" }
  }

  private static func request(_ url: URL) -> URLRequest {
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.setValue("Bearer pl4nted-bearer", forHTTPHeaderField: "Authorization")
    request.setValue("session=pl4nted-cookie", forHTTPHeaderField: "Cookie")
    request.setValue("Basic pl4nted-proxy", forHTTPHeaderField: "Proxy-Authorization")
    request.httpBody = Data("pl4nted-body".utf8)
    return request
  }

  /// Loads a URL in a session and directly, behind an interceptor; what was said of it.
  private func said(
    _ url: String, limits: MessageLimits = MessageLimits(),
    _ link: @escaping @Sendable (InterceptedRequest, InterceptorChain.Next) async throws -> InterceptedResponse
  ) async throws -> [String] {
    let lines = Log<String>()
    let registry = InterceptorRegistry(configuration: .ephemeral, logger: .recording(lines), limits: limits) {
      Link(load: link)
    }
    let events = registry.events()
    let session = URLSession.intercepted(by: registry)
    let request = Self.request(try #require(URL(string: url)))
    var texts: [String] = []
    for error in [
      await failure { try await session.data(for: request) }, await failure { try await registry.data(for: request) },
    ] {
      guard let error else { continue }
      texts += Self.texts(of: error)
    }
    session.invalidateAndCancel()
    registry.invalidate()
    for await event in events {
      texts += [String(describing: event), String(reflecting: event), "\([event])"]
      if let error = event.error { texts += Self.texts(of: error) }
    }
    return texts + lines.all
  }

  /// What an error says by itself, and what is beneath it where that is ours. The text of Foundation's `URLError` has
  /// the failing URL in it.
  private static func texts(of error: any Error) -> [String] {
    var texts = [error.localizedDescription, error.redacted]
    if error is any LoadError { texts += [String(describing: error), String(reflecting: error), "\([error])"] }
    if let url = (error as? URLError)?.failingURL { texts.append("\(url.user ?? "") \(url.password ?? "")") }
    let beneath =
      (error as? URLError)?.userInfo[NSUnderlyingErrorKey] as? any Error ?? (error as? TransportError)?.underlying
    return texts + (beneath.map { $0 is any LoadError ? Self.texts(of: $0) : [$0.redacted] } ?? [])
  }

  private func expectNothing(in texts: [String], _ location: SourceLocation = #_sourceLocation) {
    #expect(texts.count >= 6, sourceLocation: location)
    let finds = texts.filter { $0.contains(Recording.mark) }
    #expect(finds == [], sourceLocation: location)
    for text in texts { Recording.note(text) }
  }

  private static let path = "/x?token=pl4nted-query#pl4nted-fragment"

  @Test("what an interceptor throws is told by its type, a URLError by its code")
  func thrown() async throws {
    let url = "http://pl4nted-user:pl4nted-password@api.example\(Self.path)"
    let failing = try #require(URL(string: url))
    let errors: [any Error & Sendable] = [
      Talkative(), CancellationError(),
      URLError(
        .timedOut,
        userInfo: [NSURLErrorFailingURLErrorKey: failing, NSUnderlyingErrorKey: Talkative()]),
      TransportError(.timedOut, message: "no answer from \(url)", underlying: Talkative()),
      WaylayError(.invalidRequest, "no.", url: failing, underlying: Talkative()),
      NSError(domain: "app", code: 7, userInfo: [NSLocalizedDescriptionKey: "pl4nted-text"]) as any Error & Sendable,
    ]
    for error in errors { expectNothing(in: try await said(url) { _, _ in throw error }) }
  }

  @Test("an app sees the sentence of a LocalizedError that an interceptor throws; logs and events see its type")
  func sentence() async throws {
    struct Explained: LocalizedError {
      var errorDescription: String? { "The token has expired: sign in again, at https://a.example/?next=pl4nted" }
    }
    let registry = InterceptorRegistry { Link { _, _ in throw Explained() } }
    for error in [
      await failure { try await registry.data(for: URLRequest(url: .example)) },
      await failure { try await URLSession.intercepted(by: registry).data(from: .example) },
    ] {
      let error = try #require(error as? URLError)
      #expect(error.localizedDescription == "The token has expired: sign in again, at https://a.example/?next=REDACTED")
      #expect(error.code == .unknown && error.cause(as: Explained.self) != nil)
    }
    expectNothing(in: try await said("http://api.example\(Self.path)") { _, _ in throw Explained() })
  }

  @Test("failures of the network, of redirects, of challenges and of limits name no secret")
  func failures() async throws {
    try await withOrigin { origin in
      origin.reply(to: "/x") { _ in
        Reply(
          302,
          [
            ("Location", "ftp://pl4nted-user@other.example/?token=pl4nted-location"),
            ("Set-Cookie", "s=pl4nted-set-cookie"),
          ])
      }
      origin.reply(to: "/auth") { _ in
        Reply(401, [("WWW-Authenticate", "Basic realm=\"r\"")], .truncated(Data("a".utf8), declared: 9))
      }
      origin.reply(to: "/cut") { _ in
        Reply(200, [("Set-Cookie", "s=pl4nted-set-cookie")], .truncated(Data("pl4nted".utf8), declared: 99))
      }
      origin.reply(to: "/large") { _ in Reply(200, (0..<30).map { ("X-\($0)", "pl4nted-field") }) }
      var limits = MessageLimits()
      limits.fieldCount = 20
      limits.cookieBytes = 3
      for path in ["/x", "/auth", "/cut", "/large"] {
        let url =
          "http://pl4nted-user:pl4nted-password@127.0.0.1:\(origin.port)\(path)?token=pl4nted-query#pl4nted-fragment"
        expectNothing(in: try await said(url, limits: limits) { try await $1($0) })
      }
    }
    let closed = "http://pl4nted-user:pl4nted-password@127.0.0.1:1\(Self.path)"
    expectNothing(in: try await said(closed) { try await $1($0) })
    expectNothing(
      in: try await said(closed) { request, next in
        var request = request
        request.urlRequest.setValue("pl4nted\r\nX: 1", forHTTPHeaderField: "X-A")
        return try await next(request)
      })
  }

  @Test("messages name no query value of a pattern that is not valid")
  func patterns() {
    let scope = InterceptorChain.Scope.path("/a?token=pl4nted", "/a/b*;jsessionid=pl4nted")
      .host("api.example?token=pl4nted", "https://api.example/a?token=pl4nted")
    #expect(scope.problems.count == 4)
    expectNothing(in: scope.problems.flatMap { [$0.message, $0.description] })
    let error = TransportError(.timedOut, message: "no answer from /a;jsessionid=pl4nted?token=pl4nted")
    expectNothing(in: [String](repeating: error.message, count: 6))
  }
}
