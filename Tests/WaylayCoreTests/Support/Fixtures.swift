import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

/// An interceptor made of closures, for tests.
struct Link: RequestInterceptor {
  var name = "Link"
  var accepts: @Sendable (URLRequest) -> Bool = { _ in true }
  var canonical: @Sendable (URLRequest) -> URLRequest = { $0 }
  var load: @Sendable (InterceptedRequest, InterceptorChain.Next) async throws -> InterceptedResponse

  func canInit(with request: URLRequest) -> Bool { accepts(request) }
  func canonicalRequest(for request: URLRequest) -> URLRequest { canonical(request) }

  func startLoading(
    _ request: InterceptedRequest, next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    try await load(request, next)
  }

  /// Begins, and waits until it is cancelled.
  static func waiting(_ started: Event) -> Link {
    Link { _, _ in
      started.happen()
      await Event().wait()
      throw CancellationError()
    }
  }

  /// Passes everything on.
  static func pass(_ name: String = "Pass", accepts: @escaping @Sendable (URLRequest) -> Bool = { _ in true }) -> Link {
    Link(name: name, accepts: accepts) { try await $1($0) }
  }

  /// Answers with a text.
  static func answer(_ text: String, inline: Bool = false) -> any RequestInterceptor {
    answering("Answer \(text)", inline: inline) {
      InterceptedResponse(to: $0, fields: [.contentType: "text/plain"], body: .text(text))
    }
  }

  /// Answers at once; inside the loading system's call or outside of it.
  static func answering(
    _ name: String = "Link", inline: Bool,
    _ answer: @escaping @Sendable (InterceptedRequest) throws -> InterceptedResponse
  ) -> any RequestInterceptor {
    inline
      ? InlineLink(name: name) { .response(try answer($0)) } : Link(name: name) { request, _ in try answer(request) }
  }
}

/// An interceptor that answers inside the loading system's call, or not, for tests.
struct InlineLink: InlineResponding {
  var name = "InlineLink"
  var answer: @Sendable (InterceptedRequest) throws -> InlineResponse

  func respondInline(_ request: InterceptedRequest) throws -> InlineResponse { try answer(request) }
}

/// What a completion handler is given; `nil` when the test is cancelled first, as a time limit does. A handler that is
/// called twice is an issue.
func handed<Value: Sendable>(
  _ type: Value.Type = Value.self, _ start: (@escaping @Sendable (Value) -> Void) -> Void
) async -> Value? {
  let (values, event) = (Log<Value>(), Event())
  start { value in
    values.add(value)
    event.happen()
  }
  await event.wait()
  let given = values.all
  if given.count > 1 { Issue.record("a handler was called \(given.count) times") }
  return given.first
}

extension URLSession {
  /// A session that runs through a registry.
  static func intercepted(
    by registry: InterceptorRegistry, delegate: (any URLSessionDelegate)? = nil,
    _ change: (URLSessionConfiguration) -> Void = { _ in }
  ) -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    change(configuration)
    return URLSession(configuration: configuration.intercepted(by: registry), delegate: delegate, delegateQueue: nil)
  }

  /// The status and the body as text.
  func text(for request: URLRequest) async throws -> (Int, String) {
    let (data, response) = try await data(for: request)
    return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
  }

  func text(from url: URL) async throws -> (Int, String) {
    try await text(for: URLRequest(url: url))
  }
}

/// Runs a test with a server whose `/away` redirects to `/echo` of another one, under another name.
func withAway(_ body: (_ origin: TestOrigin, _ other: TestOrigin) async throws -> Void) async throws {
  try await withOrigin { origin in
    try await withOrigin { other in
      let target = other.url("/echo", host: "localhost").absoluteString
      origin.reply(to: "/away") { _ in .text("", status: 302, fields: [("Location", target)]) }
      try await body(origin, other)
    }
  }
}

/// The `WaylayError` beneath what an app sees.
func cause(_ error: any Error) -> WaylayError? {
  (error as? URLError)?.userInfo[NSUnderlyingErrorKey] as? WaylayError ?? error as? WaylayError
}

extension URL {
  /// A host that is never dialled: an interceptor answers first.
  static let example = URL(string: "http://api.example.com/v1/users?id=1")!
}
