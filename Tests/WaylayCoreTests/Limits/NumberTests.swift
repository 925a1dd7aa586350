import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite("Numbers from outside, as large, small and senseless as they can be", .timeLimit(.minutes(5)))
struct NumberTests {
  @Test(
    "collecting believes no length: not the largest, not a negative one",
    arguments: [Int64.max, .max - 1, 1 << 50, -1, .min])
  func collect(length: Int64) async throws {
    let body = MessageBody.stream(
      AsyncStream { stream in
        stream.yield(Data("hello".utf8))
        stream.finish()
      }, length: length)
    #expect(try await body.collect(upTo: .max) == Data("hello".utf8))
  }

  @Test("a limit of nothing or less takes nothing", arguments: [0, -1, Int.min])
  func limit(limit: Int) async throws {
    for body in [
      MessageBody.text("a"),
      .stream(
        AsyncStream {
          $0.yield(Data("a".utf8)); $0.finish()
        }),
    ] {
      let error = await failure { try await body.collect(upTo: limit) }
      #expect((error as? WaylayError)?.code == .bodyTooLarge)
    }
  }

  @Test(
    "a length of the server's that cannot be is an error or unknown, in collect(upTo: .max) too",
    arguments: [
      "9223372036854775807", "9223372036854775808", "99999999999999999999999", "-1", "+5", "5, 5", "", "0x5", "NaN",
    ])
  func contentLength(text: String) async throws {
    try await withOrigin { origin in
      origin.behaviour = .garbage(Data("HTTP/1.1 200 OK\r\nContent-Length: \(text)\r\n\r\nhello".utf8))
      let registry = InterceptorRegistry(configuration: .ephemeral) { Link.pass() }
      let request = URLRequest(url: origin.url("/lie"))
      _ = await failure { try await registry.data(for: request, upTo: .max) }
      let session = URLSession.intercepted(by: registry)
      _ = await failure { try await session.data(for: request) }
      origin.behaviour = .serve
      let after = try await registry.data(for: URLRequest(url: origin.url("/hello"))).1
      #expect(after.statusCode == 200)
      session.invalidateAndCancel()
      registry.invalidate()
    }
  }

  @Test(
    "a status that cannot be fails the load",
    .enabled(if: Platform.hasCurl, "Apple's sessions read a status line their own way"),
    arguments: ["000", "099", "1000", "99999999999999999999", "-200", "abc"])
  func status(text: String) async throws {
    try await withOrigin { origin in
      origin.reply(to: "/odd") { _ in .raw("HTTP/1.1 \(text) Odd\r\nConnection: close\r\nContent-Length: 0\r\n\r\n") }
      let registry = InterceptorRegistry(configuration: .ephemeral) { Link.pass() }
      let code = await failureCode { try await registry.data(for: URLRequest(url: origin.url("/odd"))) }
      #expect(code != nil || text == "1000")
      registry.invalidate()
    }
  }

  @Test(
    "timeouts without sense mean none", .enabled(if: Platform.hasCurl, "these are options of CurlTransport"),
    arguments: [Double.nan, .infinity, -.infinity, -1, 0, 1e300])
  func timeouts(seconds: Double) async throws {
    try await withOrigin { origin in
      let configuration = URLSessionConfiguration.ephemeral
      configuration.timeoutIntervalForRequest = seconds
      configuration.timeoutIntervalForResource = seconds
      let most = seconds > 0 ? Int.max : .min
      let transport = try #require(
        Platform.curlTransport(
          configuration: configuration, connectTimeout: seconds, bufferSize: most, connectionsPerHost: most))
      let registry = InterceptorRegistry(transport: transport, configuration: configuration) { Link.pass() }
      var request = URLRequest(url: origin.url("/hello"))
      request.timeoutInterval = seconds
      let error = await failure { [request] in try await registry.data(for: request) }
      #expect(error == nil)
      registry.invalidate()
    }
  }
}
