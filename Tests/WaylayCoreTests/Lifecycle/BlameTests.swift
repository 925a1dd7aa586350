import Foundation
import HTTPTypes
import TestOrigin
import TestSupport
import Testing
import WaylayCore

/// Whose fault an error says it is.
@Suite("Errors name what has failed", .timeLimit(.minutes(10)))
struct BlameTests {
  private static var broken: MessageBody {
    .stream(
      AsyncThrowingStream<Data, any Error> { continuation in
        continuation.yield(Data("x".utf8))
        continuation.finish(throwing: POSIXError(.EIO))
      })
  }

  @Test(
    "a body that throws is not blamed on the interceptor that awaits it, or that reads it", arguments: [true, false])
  func body(reads: Bool) async throws {
    try await withOrigin { origin in
      let registry = InterceptorRegistry(configuration: .ephemeral) {
        Link(name: "Pass") { request, next in
          if reads { _ = try await request.body.collect(upTo: 100) }
          return try await next(request)
        }
      }
      var request = URLRequest(url: origin.url("/echo"))
      request.httpMethod = "POST"
      let thrown = await failure { [request] in try await registry.load(request, body: Self.broken) }
      let error = try #require(thrown as? URLError)
      #expect(error.code == .cannotOpenFile)
      #expect(error.userInfo[NSUnderlyingErrorKey] is POSIXError)
      #expect(!error.localizedDescription.contains("Pass"))
      #expect(error.localizedDescription.hasPrefix("Reading the body threw POSIXError"))
      registry.invalidate()
    }
  }

  @Test("an interceptor that throws the like by itself is named")
  func interceptor() async throws {
    let registry = InterceptorRegistry { Link(name: "Thrower") { _, _ in throw POSIXError(.EIO) } }
    let thrown = await failure { try await registry.load(URLRequest(url: .example)) }
    let error = try #require(thrown as? URLError)
    #expect(error.code == .unknown && error.localizedDescription.hasPrefix("Thrower threw POSIXError"))
  }

  private struct Plain: Error {}

  @Test("an interceptor that catches an error and throws an equal one of its own is named", arguments: [true, false])
  func equalError(isCaught: Bool) async throws {
    let registry = InterceptorRegistry {
      Link(name: "Survivor") { request, next in
        do { return try await next(request) } catch { throw isCaught ? Plain() : error }
      }
      Link(name: "Between") { try await $1($0) }
      Link(name: "Thrower") { _, _ in throw Plain() }
    }
    let thrown = await failure { try await registry.load(URLRequest(url: .example)) }
    let error = try #require(thrown as? URLError)
    #expect(error.localizedDescription.hasPrefix(isCaught ? "Survivor threw Plain" : "Thrower threw Plain"))
  }

  /// An error whose description is the app's code.
  private struct Described: LocalizedError, CustomStringConvertible, CustomDebugStringConvertible {
    let count: Locked<Int>

    private var said: String {
      count.withLock { $0 += 1 }
      return "said"
    }

    var description: String { said }
    var debugDescription: String { said }
    var errorDescription: String? { said }
  }

  @Test("the description of an error is asked for once at most, whatever the number of interceptors")
  func describedOnce() async throws {
    let count = Locked(0)
    let registry = InterceptorRegistry {
      for _ in 1...20 { Link { try await $1($0) } }
      Link(name: "Thrower") { _, _ in throw Described(count: count) }
    }
    let thrown = await failure { try await registry.load(URLRequest(url: .example)) }
    #expect(thrown is URLError)
    #expect(count.withLock { $0 } <= 1)
  }

  @Test(
    "a Content-Length of an interceptor's response that is not its body's is an error, by session and by registry",
    arguments: [true, false])
  func length(isStream: Bool) async throws {
    let registry = InterceptorRegistry {
      Link(name: "Wrong") { request, _ in
        let bytes = Data("four".utf8)
        let stream = MessageBody.stream(
          AsyncStream<Data> { continuation in
            continuation.yield(bytes)
            continuation.finish()
          })
        return InterceptedResponse(
          to: request, fields: [.contentLength: "5"], body: isStream ? stream : .data(bytes))
      }
    }
    let loaders: [any URLLoader] = [URLSession.intercepted(by: registry), registry]
    for loader in loaders {
      let thrown = await failure { try await loader.data(from: .example) }
      let error = try #require(thrown as? URLError)
      #expect(error.code == .badServerResponse)
      let cause = try #require(error.cause(as: WaylayError.self))
      #expect(cause.code == .invalidResponse)
      #expect(cause.message.contains("Content-Length 5, but its body has 4 bytes"))
    }
    registry.invalidate()
  }

  @Test("a length that does not count is left alone: of HEAD, 304, a coding, the network's own")
  func otherLengths() async throws {
    let status = Locked(HTTPResponse.Status.ok)
    let registry = InterceptorRegistry {
      Link { request, _ in
        var response = InterceptedResponse(to: request, status: status.withLock { $0 }, fields: [.contentLength: "5"])
        if request.method == .get, response.status == .ok { response.fields[.contentEncoding] = "gzip" }
        return response
      }
    }
    var head = URLRequest(url: .example)
    head.httpMethod = "HEAD"
    _ = try await registry.data(for: head)
    _ = try await registry.data(for: URLRequest(url: .example))
    status.withLock { $0 = .notModified }
    _ = try await registry.data(for: URLRequest(url: .example))
    registry.invalidate()
  }

  @Test(
    "a POST on a kept connection that the server closes says so", .enabled(if: Platform.isLinux, "about CurlTransport"))
  func keptConnection() async throws {
    let origin = try await ScriptedOrigin.start { request in
      request.method == "GET"
        ? ScriptedOrigin.Script("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        : ScriptedOrigin.Script([], end: .close)
    }
    let registry = InterceptorRegistry(configuration: .ephemeral) { Link.pass() }
    _ = try await registry.data(for: URLRequest(url: origin.url()))
    var post = URLRequest(url: origin.url())
    post.httpMethod = "POST"
    let thrown = await failure { [post] in try await registry.load(post, body: .data(Data("x".utf8))) }
    let error = try #require(thrown as? URLError)
    #expect(error.code == .networkConnectionLost)
    #expect(
      error.localizedDescription.contains("the server had closed the kept connection, and POST is not sent twice"))
    #expect(!error.localizedDescription.contains("callback"))
    registry.invalidate()
  }

  @Test("a chain that is replaced again and again is reported five times")
  func replaced() {
    let lines = Log<String>()
    let registry = InterceptorRegistry(logger: .recording(lines))
    for _ in 0..<100 { registry.register(InterceptorChain("settings", for: .http) { Link.pass() }) }
    #expect(lines.all.filter { $0.contains("replaces another") }.count == 5)
    #expect(lines.all.last?.contains("no further replacements") == true)
  }
}
