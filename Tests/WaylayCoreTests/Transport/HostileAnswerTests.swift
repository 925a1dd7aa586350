import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

/// What `stress hostile` has found, one by one.
@Suite("Hostile answers", .timeLimit(.minutes(5)))
struct HostileAnswerTests {
  private static let readsItself: Comment = "Apple's sessions read heads and ends of messages their own way"

  /// The ways to ask for something.
  enum Way: CaseIterable {
    case task, handler, delegate, data, bytes
  }

  private func outcome(_ request: URLRequest, _ way: Way, _ registry: InterceptorRegistry) async throws -> Data {
    switch way {
    case .task: return try await URLSession.intercepted(by: registry).data(for: request).0
    case .handler:
      return try await withCheckedThrowingContinuation { continuation in
        URLSession.intercepted(by: registry).dataTask(with: request) { data, _, error in
          continuation.resume(with: error.map { .failure($0) } ?? .success(data ?? Data()))
        }.resume()
      }
    case .delegate:
      let delegate = Collecting()
      let session = URLSession.intercepted(by: registry, delegate: delegate)
      defer { session.finishTasksAndInvalidate() }
      return try await delegate.body(of: session.dataTask(with: request))
    case .data: return try await registry.data(for: request).0
    case .bytes:
      var body = Data()
      for try await byte in try await registry.bytes(for: request).0 { body.append(byte) }
      return body
    }
  }

  private func withScript(
    _ script: @escaping @Sendable (ScriptedOrigin.Request) -> ScriptedOrigin.Script,
    _ body: (ScriptedOrigin, InterceptorRegistry) async throws -> Void
  ) async throws {
    let origin = try await ScriptedOrigin.start(script)
    let registry = InterceptorRegistry(configuration: .ephemeral) { Link.pass() }
    do {
      try await body(origin, registry)
    } catch {
      await origin.stop()
      throw error
    }
    registry.invalidate()
    await origin.stop()
  }

  @Test("a chunked body that is cut off is an error, for every way to ask, and never an end", arguments: Way.allCases)
  func truncatedChunks(way: Way) async throws {
    let whole = "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
    // But for the very last byte, which adds nothing.
    for cut in stride(from: 0, to: whole.utf8.count - 1, by: 3) {
      let beginning = String(decoding: whole.utf8.prefix(cut), as: UTF8.self)
      for end in [ScriptedOrigin.Script.End.close, .reset] {
        try await withScript { _ in
          ScriptedOrigin.Script("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + beginning, end: end)
        } _: { origin, registry in
          let code = await failureCode { try await outcome(URLRequest(url: origin.url()), way, registry) }
          #expect(code == .networkConnectionLost, "cut at \(cut)")
        }
      }
    }
  }

  @Test(
    "an answer whose length is none is refused", .enabled(if: Platform.hasCurl, Self.readsItself),
    arguments: [
      "Content-Length: +5", "Content-Length: 0x5", "Content-Length: 5x", "Content-Length: -5", "Content-Length: ",
      "Content-Length: 5, 6", "Content-Length: 5,", "Content-Length: 5\r\nContent-Length: 6",
      "Content-Length: 99999999999999999999",
    ])
  func lengths(field: String) async throws {
    for way in Way.allCases {
      try await withScript { _ in
        ScriptedOrigin.Script("HTTP/1.1 200 OK\r\n\(field)\r\n\r\nhello", end: .close)
      } _: { origin, registry in
        let code = await failureCode { try await outcome(URLRequest(url: origin.url()), way, registry) }
        #expect(code == .badServerResponse, "\(way)")
      }
    }
  }

  @Test(
    "a length that is said twice, alike, is one", .enabled(if: Platform.hasCurl, Self.readsItself),
    arguments: ["Content-Length: 5\r\nContent-Length: 5", "Content-Length: 5, 5"])
  func agreeing(fields: String) async throws {
    try await withScript { _ in
      ScriptedOrigin.Script("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\nhello")
    } _: { origin, registry in
      let body = try await outcome(URLRequest(url: origin.url()), .task, registry)
      #expect(body == Data("hello".utf8))
    }
  }

  @Test(
    "a body in a content coding that nobody knows reaches the app as it came, by one request whatever its method",
    .enabled(if: Platform.hasCurl, Self.readsItself), arguments: ["GET", "POST"], ["unheard-of", "gzip, unheard-of"])
  func contentCodings(method: String, coding: String) async throws {
    try await withOrigin { origin in
      origin.reply(to: "/coded") { _ in .text("as it came", fields: [("Content-Encoding", coding)]) }
      origin.reply(to: "/chunked") { _ in
        Reply(200, [("Content-Encoding", coding)], .chunks([Data("as it ".utf8), Data("came".utf8)], pause: 5))
      }
      let registry = InterceptorRegistry(configuration: .ephemeral) { Link.pass() }
      for path in ["/coded", "/chunked"] {
        var request = URLRequest(url: origin.url(path))
        request.httpMethod = method
        let (data, head) = try await registry.upload(for: request, from: Data(method == "POST" ? "body".utf8 : "".utf8))
        #expect(String(decoding: data, as: UTF8.self) == "as it came")
        #expect(head.value(forHTTPHeaderField: "Content-Encoding") == coding)
      }
      let (data, _) = try await registry.data(for: URLRequest(url: origin.url("/gzip")))
      #expect(String(decoding: data, as: UTF8.self) == "hello")
      #expect(origin.requests.count == 3)
      registry.invalidate()
    }
  }

  @Test(
    "a body in a transfer coding that nobody knows is refused", .enabled(if: Platform.hasCurl, Self.readsItself),
    arguments: ["cow", "cow, chunked", "chunked, cow"])
  func transferCodings(coding: String) async throws {
    // With a coding of the content that is unknown too, the request is sent again with nothing decoded.
    for extra in ["", "Content-Encoding: cow\r\n"] {
      try await withScript { _ in
        ScriptedOrigin.Script("HTTP/1.1 200 OK\r\n\(extra)Transfer-Encoding: \(coding)\r\n\r\n0\r\n\r\n", end: .close)
      } _: { origin, registry in
        let code = await failureCode { try await outcome(URLRequest(url: origin.url()), .data, registry) }
        #expect(code == .badServerResponse)
      }
    }
  }

  @Test(
    "a cookie with a name, or a date, of combining characters does not end the process, nor keep others from being stored",
    .enabled(if: Platform.hasCurl, Self.readsItself))
  func combiningCookies() async throws {
    let names = [
      "e\u{301}e\u{301}=", "a=b; e\u{301}e\u{301}=", "\u{1F600}\u{1F600}=", "36\u{FFFD}\u{64C}\u{FFFD}/zone34 .s=",
      "dated=1; Expires=Sun, 06\u{731}ov 2044 08:49:37 GMT",
      "dated=2; a=b, EXPIRES =Sun, 06\u{731}ov 2044 08:49:37 GMT",
      "expires=Sun, 06\u{731}ov 2044 08:49:37 GMT; expires = Sun, 06\u{731}ov 2044 08:49:37 GMT",
    ]
    try await withScript { _ in
      let lines = names.map { "Set-Cookie: \($0)\r\n" }.joined()
      return ScriptedOrigin.Script(
        "HTTP/1.1 200 OK\r\n\(lines)Set-Cookie: good=yes\u{301}\r\nContent-Length: 0\r\n\r\n")
    } _: { origin, _ in
      let configuration = URLSessionConfiguration.ephemeral
      let registry = InterceptorRegistry(configuration: configuration) { Link.pass() }
      _ = try await registry.data(for: URLRequest(url: origin.url()))
      let stored = configuration.httpCookieStorage?.cookies?.filter { $0.name == "good" }
      #expect(stored?.map(\.value) == ["yes\u{301}"])
      registry.invalidate()
    }
  }

  @Test(
    "a line of a head that is longer than can be read has an error of its own",
    .enabled(if: Platform.hasCurl, Self.readsItself))
  func longLine() async throws {
    try await withScript { _ in
      ScriptedOrigin.Script(
        "HTTP/1.1 200 OK\r\nX-Long: \(String(repeating: "a", count: 300_000))\r\nContent-Length: 0\r\n\r\n")
    } _: { origin, registry in
      let code = await failureCode { try await outcome(URLRequest(url: origin.url()), .task, registry) }
      #expect(code == .dataLengthExceedsMaximum)
    }
  }

  @Test(
    "bytes after the end of an answer are never the answer to another request",
    .enabled(if: Platform.hasCurl, Self.readsItself),
    arguments: ["GET", "HEAD"])
  func afterTheEnd(method: String) async throws {
    // Longer than what libcurl reads at once: what comes after it stays in the socket.
    let body = String(repeating: "a", count: 40_000)
    try await withScript { request in
      guard request.target == "/first" else {
        return ScriptedOrigin.Script("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond")
      }
      let poison = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"
      return ScriptedOrigin.Script("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)\(poison)")
    } _: { origin, registry in
      for _ in 0..<10 {
        var first = URLRequest(url: origin.url("/first"))
        first.httpMethod = method
        let answer = try await outcome(first, .data, registry)
        #expect(answer.count == (method == "GET" ? 40_000 : 0))
        let second = try await outcome(URLRequest(url: origin.url("/second")), .data, registry)
        #expect(second == Data("second".utf8))
      }
    }
  }

  @Test(
    "a request that may be sent once is not lost to bytes that came before it",
    .enabled(if: Platform.hasCurl, Self.readsItself))
  func postAfterTheEnd() async throws {
    let body = String(repeating: "a", count: 40_000)
    let posts = Log<String>()
    try await withScript { request in
      guard request.method == "POST" else {
        return ScriptedOrigin.Script(
          "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)HTTP/1.1 200 OK\r\n")
      }
      posts.add(request.target)
      return ScriptedOrigin.Script("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")
    } _: { origin, registry in
      for number in 0..<5 {
        _ = try await outcome(URLRequest(url: origin.url("/first")), .data, registry)
        var post = URLRequest(url: origin.url("/\(number)"))
        post.httpMethod = "POST"
        post.httpBody = Data("once".utf8)
        let done = try await outcome(post, .data, registry)
        #expect(done == Data("done".utf8))
      }
    }
    #expect(posts.all == (0..<5).map { "/\($0)" })
  }
}

/// Collects what one task brings.
private final class Collecting: NSObject, URLSessionDataDelegate, Sendable {
  private struct State {
    var body = Data()
    var continuation: CheckedContinuation<Data, any Error>?
  }

  private let state = Locked(State())

  func body(of task: URLSessionDataTask) async throws -> Data {
    try await withCheckedThrowingContinuation { continuation in
      state.withLock { $0.continuation = continuation }
      task.resume()
    }
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    state.withLock { $0.body.append(data) }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let (continuation, body) = state.withLock { ($0.continuation, $0.body) }
    continuation?.resume(with: error.map { .failure($0) } ?? .success(body))
  }
}
