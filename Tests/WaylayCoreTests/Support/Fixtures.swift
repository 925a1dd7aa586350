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

/// Something that happens once, and can be waited for.
final class Event: Sendable {
  private struct State {
    var hasHappened = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Locked(State())

  func happen() {
    let waiters = state.withLock { state in
      state.hasHappened = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Waits. A task that is cancelled, as a time limit does, waits no longer.
  func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          let isOver = state.hasHappened || Task.isCancelled
          if !isOver { state.waiters.append(continuation) }
          return isOver
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      let waiters = state.withLock { state in
        defer { state.waiters = [] }
        return state.waiters
      }
      for waiter in waiters { waiter.resume() }
    }
  }

  var hasHappened: Bool { state.withLock { $0.hasHappened } }
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

/// A session-level delegate that writes down what it is told, in order.
final class Recorder: NSObject, URLSessionDataDelegate, Sendable {
  enum Entry: Sendable, Equatable {
    case response(Int)
    case data(String)
    case completed(URLError.Code?)
  }

  private let log = Log<Entry>()
  private let watchers = Locked<[(Int, Event)]>([])
  let finished = Event()
  /// What to answer when a redirect is to be followed.
  let redirect: @Sendable (URLRequest) -> URLRequest?
  /// The stream for an upload task that was made without a body.
  let body: @Sendable () -> InputStream?
  private let proposed = Log<URLRequest>()

  init(
    redirect: @escaping @Sendable (URLRequest) -> URLRequest? = { $0 },
    body: @escaping @Sendable () -> InputStream? = { nil }
  ) {
    self.redirect = redirect
    self.body = body
  }

  var entries: [Entry] { log.all }
  var proposedRedirects: [URLRequest] { proposed.all }

  /// Waits until so many entries are there.
  func entries(_ count: Int) async -> [Entry] {
    let event = Event()
    watchers.withLock { $0.append((count, event)) }
    check()
    await event.wait()
    return entries
  }

  private func add(_ entry: Entry) {
    log.add(entry)
    check()
  }

  private func check() {
    let count = entries.count
    for (wanted, event) in watchers.withLock({ $0 }) where count >= wanted { event.happen() }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    add(.response((response as? HTTPURLResponse)?.statusCode ?? 0))
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    add(.data(String(decoding: data, as: UTF8.self)))
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    add(.completed((error as? URLError)?.code))
    finished.happen()
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    proposed.add(request)
    completionHandler(redirect(request))
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
  ) {
    completionHandler(body())
  }
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
