import Foundation
import TestSupport
import Testing
import WaylayCore

/// A protocol class of the old kind, with a table for the whole process: what a team has beneath ours while it
/// migrates.
private final class OldProtocol: URLProtocol {
  struct Refusal: Error, Equatable { let reason: String }

  struct Seen: Sendable, Equatable {
    var method: String?
    var body: String?
    var stream: String?
    var field: String?
  }

  static let seen = Locked<[String: Seen]>([:])

  override class func canInit(with request: URLRequest) -> Bool {
    request.url?.host?.hasSuffix(".foreign.invalid") == true
  }
  override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
  override func stopLoading() {}

  override func startLoading() {
    guard let url = request.url, let host = url.host else { return }
    if url.path == "/refused" {
      client?.urlProtocol(self, didFailWithError: Refusal(reason: "no token"))
      return
    }
    var seen = Seen(
      method: request.httpMethod, body: request.httpBody.map { String(decoding: $0, as: UTF8.self) },
      field: request.value(forHTTPHeaderField: "X-Field"))
    if let stream = request.httpBodyStream {
      stream.open()
      var buffer = [UInt8](repeating: 0, count: 1000)
      let count = stream.read(&buffer, maxLength: buffer.count)
      stream.close()
      seen.stream = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
    Self.seen.withLock { $0[host] = seen }
    guard let head = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: nil) else {
      return
    }
    client?.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed)
    client?.urlProtocol(self, didLoad: Data("old".utf8))
    client?.urlProtocolDidFinishLoading(self)
  }
}

@Suite("A protocol class of the caller's beneath ours", .timeLimit(.minutes(5)))
struct ForeignClassTests {
  private func session(intercepted: Bool) -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.protocolClasses = [OldProtocol.self]
    return URLSession(
      configuration: intercepted ? configuration.intercepted(by: InterceptorRegistry { Link.pass() }) : configuration)
  }

  /// What the class sees of a kind of request.
  private func seen(_ kind: String, intercepted: Bool) async throws -> OldProtocol.Seen? {
    let host = "h\(UUID().uuidString.prefix(8).lowercased()).foreign.invalid"
    var request = URLRequest(url: try #require(URL(string: "http://\(host)/page")))
    request.httpMethod = kind == "get" ? "GET" : "POST"
    request.setValue("value", forHTTPHeaderField: "X-Field")
    if kind == "httpBody" { request.httpBody = Data("body".utf8) }
    if kind == "stream" { request.httpBodyStream = InputStream(data: Data("body".utf8)) }
    let session = session(intercepted: intercepted)
    let ready = request
    let (data, _) =
      kind == "upload"
      ? try await session.upload(for: ready, from: Data("body".utf8)) : try await session.data(for: ready)
    #expect(data == Data("old".utf8))
    return OldProtocol.seen.withLock { $0[host] }
  }

  @Test("it sees what it would see without us", arguments: ["get", "httpBody", "stream", "upload"])
  func sees(kind: String) async throws {
    let with = try await seen(kind, intercepted: true)
    let without = try await seen(kind, intercepted: false)
    #expect(with == without && with != nil)
  }

  @Test("an error that it throws is found by its type")
  func error() async throws {
    let url = try #require(URL(string: "http://errors.foreign.invalid/refused"))
    let error = await failure { try await session(intercepted: true).data(from: url) }
    let failure = try #require(error as? URLError)
    #expect(failure.cause(as: OldProtocol.Refusal.self) == OldProtocol.Refusal(reason: "no token"))
    #expect(failure.userInfo[NSUnderlyingErrorKey] is OldProtocol.Refusal)
    #expect(failure.cause(as: CocoaError.self) == nil)
  }
}
