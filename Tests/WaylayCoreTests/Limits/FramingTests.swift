import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite("Fields that frame a message", .timeLimit(.minutes(5)))
struct FramingTests {
  private func transports() -> [any Transport] {
    [Platform.curlTransport(), URLSessionTransport(configuration: .ephemeral)].compactMap(\.self)
  }

  /// What is expected of every transport that there is.
  private func all(_ code: WaylayError.Code?) -> [WaylayError.Code?] {
    Array(repeating: code, count: Platform.hasCurl ? 2 : 1)
  }

  /// Loads a request through the transports; what went wrong, and how many bytes the server got.
  private func refusals(
    method: String = "POST", body: MessageBody = .empty, _ fields: [String: String]
  ) async throws -> (codes: [WaylayError.Code?], messages: [String], bytes: Int) {
    var codes: [WaylayError.Code?] = []
    var messages: [String] = []
    var bytes = 0
    try await withOrigin { origin in
      for transport in transports() {
        let registry = InterceptorRegistry(transport: transport, configuration: .ephemeral) { Link.pass() }
        var request = URLRequest(url: origin.url("/echo"))
        request.httpMethod = method
        request.allHTTPHeaderFields = fields
        let error = await failure { [request] in try await registry.upload(for: request, from: body) }
        codes.append(error.flatMap(cause)?.code)
        messages.append(error.flatMap(cause)?.message ?? "")
        registry.invalidate()
        transport.invalidate()
      }
      bytes = origin.rawBytes.joined().count
    }
    return (codes, messages, bytes)
  }

  @Test(
    "a field that would frame the message otherwise than the transport does is refused, and nothing is sent",
    arguments: [
      ["Transfer-Encoding": "gzip, chunked"], ["transfer-encoding": "identity"], ["Transfer-Encoding ": "chunked"],
      ["Upgrade": "websocket"], ["Connection": "Content-Length"], ["Connection": "close, X-Secret"], ["TE": "gzip"],
      ["Trailer": "X-Sum"], ["X Y": "1"], ["X:Y": "1"], ["": "1"], ["Host": "a b"], ["Host": "a, b"], ["Host": "a/b"],
      ["X-A": "1\r\nX-B: 2"],
    ])
  func refused(fields: [String: String]) async throws {
    let refusal = try await refusals(fields)
    #expect(refusal.codes == all(.invalidRequest))
    #expect(refusal.bytes == 0)
  }

  @Test(
    "a method that would break out of the request line is refused", arguments: ["GET / HTTP/1.1", "A B", "É", "A:"])
  func method(method: String) async throws {
    let refusal = try await refusals(method: method, [:])
    #expect(refusal.codes == all(.invalidRequest))
    #expect(refusal.bytes == 0)
  }

  @Test(
    "fields that only ask for what the transport does anyway go out",
    arguments: [
      ["Connection": "close"], ["Connection": "keep-alive"], ["Connection": "TE", "TE": "trailers"],
      ["Host": "other.example:8080"],
    ])
  func allowed(fields: [String: String]) async throws {
    #expect(try await refusals(fields).codes == all(nil))
  }

  @Test("an app's own chunked is dropped: the transport sends a body in chunks where its length is not known")
  func chunked() async throws {
    try await withOrigin { origin in
      for transport in transports() {
        let registry = InterceptorRegistry(transport: transport, configuration: .ephemeral) { Link.pass() }
        var request = URLRequest(url: origin.url("/echo"))
        request.httpMethod = "POST"
        request.setValue("Chunked", forHTTPHeaderField: "Transfer-Encoding")
        _ = try await registry.upload(for: request, from: .data(Data("hello".utf8)))
        let sent = try #require(origin.requests.last)
        #expect(sent["Transfer-Encoding"] == [] && sent["Content-Length"] == ["5"])
        registry.invalidate()
        transport.invalidate()
      }
      let registry = InterceptorRegistry(configuration: .ephemeral) { Link.pass() }
      var request = URLRequest(url: origin.url("/echo"))
      request.httpMethod = "POST"
      request.setValue("chunked", forHTTPHeaderField: "Transfer-Encoding")
      _ = try await registry.upload(for: request, from: .stream(reading: InputStream(data: Data("hello".utf8))))
      #expect(origin.requests.last?["Transfer-Encoding"] == ["chunked"])
      #expect(origin.requests.allSatisfy { $0.body == Data("hello".utf8) })
      registry.invalidate()
    }
  }

  @Test("a length of the app's that is not the body's is put right")
  func length() async throws {
    try await withOrigin { origin in
      let registry = InterceptorRegistry(configuration: .ephemeral) { Link.pass() }
      var request = URLRequest(url: origin.url("/echo"))
      request.httpMethod = "POST"
      request.setValue("3", forHTTPHeaderField: "Content-Length")
      for body in [MessageBody.data(Data("hello".utf8)), .empty] {
        _ = try await registry.upload(for: request, from: body)
        #expect(origin.requests.last?["Content-Length"] == ["\(body.length ?? -1)"])
      }
      #expect(origin.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["hello", ""])
      registry.invalidate()
    }
  }

  @Test(
    "a stream that has other bytes than it said fails, and no byte of it is taken for the next request",
    .enabled(if: Platform.hasCurl, "Apple's session frames a stream itself"),
    arguments: [3, 8])
  func stream(declared: Int64) async throws {
    try await withOrigin { origin in
      let registry = InterceptorRegistry(configuration: .ephemeral) { Link.pass() }
      var request = URLRequest(url: origin.url("/echo"))
      request.httpMethod = "POST"
      let body = MessageBody.stream(length: declared) {
        AsyncStream { stream in
          stream.yield(Data("hello".utf8))
          stream.finish()
        }
      }
      let error = await failure { [request] in try await registry.upload(for: request, from: body) }
      #expect(error.flatMap(cause)?.code == .bodyUnreadable)
      _ = try await registry.data(for: URLRequest(url: origin.url("/hello")))
      #expect(origin.requests.last?.path == "/hello")
      #expect(!origin.requests.contains { $0.method.hasPrefix("lo") })
      registry.invalidate()
    }
  }

  @Test("a request with 70 000 fields is refused")
  func many() async throws {
    let fields = Dictionary(uniqueKeysWithValues: (0..<70_000).map { ("X-\($0)", "y") })
    let refusal = try await refusals(fields)
    #expect(refusal.codes == all(.limitExceeded))
    #expect(refusal.bytes == 0)
  }
}
