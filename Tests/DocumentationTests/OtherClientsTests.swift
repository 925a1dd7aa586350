import Foundation
import Testing
import Waylay

// What the pages "With and beside other libraries" and "Clients that are not URLSession" show, compiled against stand-ins: types with the public signatures
// of Alamofire 5.12, Get 2 and swift-openapi-runtime 1, as far as the page uses them. The libraries themselves are not
// fetched.

@Suite("Clients of other libraries, against stand-ins with their public signatures", .timeLimit(.minutes(5)))
struct OtherClientsTests {
  private let registry = InterceptorRegistry {
    Intercept("Echo") { request, _ in InterceptedResponse(to: request, body: request.body) }
  }

  @Test("sessions of Alamofire and Get are intercepted by the configuration that they take")
  func configurations() async throws {
    let url = try #require(URL(string: "https://api.example.com/v1/echo"))
    let session = Session(configuration: URLSessionConfiguration.default.intercepted(by: registry))
    #expect((try await session.session.data(from: url).1 as? HTTPURLResponse)?.statusCode == 200)
    let client = APIClient(baseURL: URL(string: "https://api.example.com")) { configuration in
      configuration.sessionConfiguration = .default.intercepted(by: registry)
    }
    #expect((try await client.session.data(from: url).1 as? HTTPURLResponse)?.statusCode == 200)
  }

  @Test("a registry is a transport of Swift OpenAPI")
  func openAPI() async throws {
    let base = try #require(URL(string: "https://api.example.com/v1"))
    let transport = RegistryTransport(registry: registry)
    let request = HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/echo")
    let body = HTTPBody(
      AsyncStream<ArraySlice<UInt8>> { stream in
        stream.yield(ArraySlice("hello".utf8))
        stream.finish()
      }, length: .known(5), iterationBehavior: .single)
    let (response, answer) = try await transport.send(request, body: body, baseURL: base, operationID: "echo")
    var bytes: [UInt8] = []
    for try await chunk in try #require(answer) { bytes += chunk }
    #expect(response.status == .ok && String(decoding: bytes, as: UTF8.self) == "hello")
  }

  @Test("what the guide shows of Swift OpenAPI stands here word for word")
  func shown() throws {
    let here = URL(fileURLWithPath: #filePath)
    let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let page = try String(contentsOf: root.appendingPathComponent("Documentation.docc/OnServers.md"), encoding: .utf8)
    let source = try String(contentsOf: here, encoding: .utf8)
    let listings = page.components(separatedBy: "```text\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
    #expect(listings.count == 2)
    for listing in listings { #expect(source.contains(listing), "\(listing)") }
  }
}

// MARK: What an app writes

/// A registry as the transport of a generated client: its chains, without `URLSession`.
struct RegistryTransport: ClientTransport {
  let registry: InterceptorRegistry

  func send(
    _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String
  ) async throws -> (HTTPResponse, HTTPBody?) {
    guard let url = URL(string: baseURL.absoluteString + (request.path ?? "")) else { throw URLError(.badURL) }
    var urlRequest = URLRequest(url: url)
    urlRequest.httpMethod = request.method.rawValue
    for field in request.headerFields { urlRequest.addValue(field.value, forHTTPHeaderField: field.name.rawName) }
    let response = try await registry.load(urlRequest, body: body.map { MessageBody($0) })
    return (HTTPResponse(status: response.status, headerFields: response.fields), HTTPBody(response.body))
  }
}

extension MessageBody {
  init(_ body: HTTPBody) {
    let length: Int64? = if case .known(let length) = body.length { length } else { nil }
    self =
      switch body.iterationBehavior {
      case .single: .stream(body.map { Data($0) }, length: length)
      case .multiple: .stream(length: length) { body.map { Data($0) } }
      }
  }
}

extension HTTPBody {
  convenience init(_ body: MessageBody) {
    self.init(
      body.map { ArraySlice($0) }, length: body.length.map { .known($0) } ?? .unknown,
      iterationBehavior: body.isReplayable ? .multiple : .single)
  }
}

// MARK: Stand-ins

/// Alamofire's.
final class Session: Sendable {
  let session: URLSession

  init(configuration: URLSessionConfiguration = .default) { session = URLSession(configuration: configuration) }
}

/// Get's.
struct APIClient: Sendable {
  struct Configuration {
    var baseURL: URL?
    var sessionConfiguration = URLSessionConfiguration.default
  }

  let session: URLSession

  init(baseURL: URL?, _ configure: (inout Configuration) -> Void = { _ in }) {
    var configuration = Configuration(baseURL: baseURL)
    configure(&configuration)
    session = URLSession(configuration: configuration.sessionConfiguration)
  }
}

/// Those of swift-openapi-runtime.
protocol ClientTransport: Sendable {
  func send(
    _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String
  ) async throws -> (HTTPResponse, HTTPBody?)
}

final class HTTPBody: AsyncSequence, Sendable {
  typealias Element = ArraySlice<UInt8>

  enum Length: Sendable {
    case unknown
    case known(Int64)
  }

  enum IterationBehavior: Sendable { case single, multiple }

  let length: Length
  let iterationBehavior: IterationBehavior
  private let make: @Sendable () -> AsyncIterator

  init<Chunks: AsyncSequence & Sendable>(_ chunks: Chunks, length: Length, iterationBehavior: IterationBehavior)
  where Chunks.Element == Element {
    (self.length, self.iterationBehavior) = (length, iterationBehavior)
    make = { AsyncIterator(chunks.makeAsyncIterator()) }
  }

  func makeAsyncIterator() -> AsyncIterator { make() }

  struct AsyncIterator: AsyncIteratorProtocol {
    private let produceNext: () async throws -> ArraySlice<UInt8>?

    init<Base: AsyncIteratorProtocol>(_ base: Base) where Base.Element == ArraySlice<UInt8> {
      // An iterator is used by one task at a time.
      nonisolated(unsafe) var base = base
      produceNext = { try await base.next() }
    }

    mutating func next() async throws -> ArraySlice<UInt8>? { try await produceNext() }
  }
}
