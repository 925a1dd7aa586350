import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayArchive
import WaylayHAR
import WaylayHosts
import WaylayInspector
import WaylayInterceptors
import WaylayMocks

@testable import WaylayCore

@Suite("Requests that interceptors make, through those that take part", .timeLimit(.minutes(5)))
struct NestedTests {
  private static let api = URL(string: "http://api.example.com/data")!
  private static let login = URL(string: "http://login.example.com/token")!

  /// A registry whose token is refreshed by a request to `login`, and then the given interceptors.
  private static func registry(
    transport: (any Transport)? = nil, bySession: Bool, _ fresh: String = "fresh",
    @InterceptorBuilder _ interceptors: () -> [any RequestInterceptor]
  ) -> InterceptorRegistry {
    let registry = InterceptorRegistry(transport: transport, configuration: .ephemeral)
    let session = URLSession(configuration: .ephemeral.intercepted(by: registry))
    let interceptors = interceptors()
    registry.register(
      InterceptorChain("all") {
        BearerToken(hosts: .host("api.example.com"), allowsPlainHTTP: true) {
          "stale"
        } refresh: { [weak registry] _ in
          var request = URLRequest(url: login)
          request.httpMethod = "POST"
          request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
          request.httpBody = Data("grant_type=refresh_token&refresh_token=pl4nted-r3fresh".utf8)
          let data = try await bySession ? session.data(for: request).0 : registry?.data(for: request).0
          return try JSONDecoder().decode([String: String].self, from: data ?? Data())["access_token"] ?? ""
        }
        interceptors
      })
    return registry
  }

  /// A server with the login and the data.
  private static func serve(_ origin: TestOrigin, _ fresh: String = "fresh") {
    origin.reply(to: "/token") { _ in
      .text(#"{"access_token": "\#(fresh)"}"#, fields: [("Content-Type", "application/json")])
    }
    origin.reply(to: "/data") { request in
      .text("data", status: request["Authorization"] == ["Bearer \(fresh)"] ? 200 : 401)
    }
  }

  @Test(
    "a refresh is routed under .require by the rewriter after it, by a direct load and by a session",
    .enabled(if: Platform.isLinux, "about CurlTransport"), arguments: [true, false])
  func routed(bySession: Bool) async throws {
    try await withOrigin { origin in
      Self.serve(origin)
      let port = try #require(origin.url().port)
      let rewriter = HostRewriter(
        rules: try HostRules([HostRule("*.example.com", endpoints: ["127.0.0.1:\(port)"])]), policy: .require)
      let registry = Self.registry(bySession: bySession) { rewriter }
      // No resolver knows these names.
      let (data, head) = try await registry.data(for: URLRequest(url: Self.api))
      #expect(head.statusCode == 200 && data == Data("data".utf8))
      #expect(origin.requests.map(\.path) == ["/data", "/token", "/data"])
      #expect(rewriter.counters.requests == 3 && rewriter.counters.systemFallbacks == 0)
      registry.invalidate()
    }
  }

  @Test("a refresh is answered by the mock at the end, and nothing is sent", arguments: [true, false])
  func mocked(bySession: Bool) async throws {
    let transport = Sending { _ in throw TransportError(.cannotConnectToHost, message: "sent") }
    let mock = MockInterceptor {
      Stub(.post, "http://login.example.com/token", .json(["access_token": "fresh"]))
      Stub(.get, "/data", .status(401))
      Stub(.get, "/data", .text("data")).where(.field("Authorization", "Bearer fresh"))
    }
    let registry = Self.registry(transport: transport, bySession: bySession) { mock }
    #expect(try await registry.data(for: URLRequest(url: Self.api)).0 == Data("data".utf8))
    #expect(mock.requests.map(\.url.path) == ["/data", "/token", "/data"])
    #expect(mock.issues.isEmpty)
    registry.invalidate()
  }

  private struct Sending: Transport {
    let capabilities: TransportCapabilities = [.routes]
    let answer: @Sendable (InterceptedRequest) async throws -> InterceptedResponse

    func load(_ request: InterceptedRequest) async throws -> InterceptedResponse { try await answer(request) }
  }

  @Test("the tokens of a refresh stand neither in the inspector, nor in a log, nor in a cassette")
  func secrets() async throws {
    let fresh = "pl4nted-fr3sh-token"
    let transport = Sending { request in
      if request.url.path == "/token" {
        return InterceptedResponse(
          to: request, fields: [.contentType: "application/json"],
          body: .text(#"{"access_token": "\#(fresh)", "refresh_token": "pl4nted-n3xt"}"#), source: .network)
      }
      let isFresh = request.fields[.authorization] == "Bearer \(fresh)"
      return InterceptedResponse(to: request, status: isFresh ? .ok : .unauthorized, source: .network)
    }
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("refresh.har")
    let (inspector, lines) = (Inspector(), Log<String>())
    let cassette = Cassette(file.path, mode: .all)
    let registry = Self.registry(transport: transport, bySession: false) {
      inspector
      RequestLogger(.body, logger: .recording(lines))
      cassette
    }
    #expect(try await registry.data(for: URLRequest(url: Self.api)).1.statusCode == 200)
    try cassette.eject()
    await inspector.flush()
    let shown = [
      String(decoding: inspector.har().data(), as: UTF8.self), lines.all.joined(separator: "\n"),
      String(decoding: try Data(contentsOf: file), as: UTF8.self),
    ]
    for text in shown {
      #expect(text.contains("/token") && !text.contains("pl4nted"), "\(text)")
    }
    #expect(inspector.exchanges.count == 3)
    registry.invalidate()
  }

  @Test("an archive neither answers nor stores nor collapses a nested request, and refuses it offline")
  func archived() async throws {
    let loads = Locked(0)
    let transport = Sending { request in
      let number = loads.withLock { count in
        count += 1
        return count
      }
      return InterceptedResponse(
        to: request, fields: [.cacheControl: "max-age=600", .contentType: "text/plain"],
        body: .text("\(number)"), source: .network)
    }
    let registry = InterceptorRegistry(transport: transport, configuration: .ephemeral)
    let archive = ArchiveCache()
    registry.register(
      InterceptorChain("all") {
        Intercept("Asking") { [weak registry] request, next in
          guard request.url.path == "/data", let registry else { return try await next(request) }
          async let one = registry.data(for: URLRequest(url: Self.login)).0
          async let two = registry.data(for: URLRequest(url: Self.login)).0
          let texts = try await [one, two].map { String(decoding: $0, as: UTF8.self) }
          return InterceptedResponse(to: request, body: .text(texts.sorted().joined(separator: " ")))
        }
        archive
      })
    let first = try await registry.data(for: URLRequest(url: Self.api)).0
    let second = try await registry.data(for: URLRequest(url: Self.api)).0
    #expect(String(decoding: first, as: UTF8.self) == "1 2" && String(decoding: second, as: UTF8.self) == "3 4")
    #expect(loads.withLock { $0 } == 4)
    // The app's own request is stored.
    _ = try await registry.data(for: URLRequest(url: Self.login))
    archive.mode = .offline
    #expect(try await registry.data(for: URLRequest(url: Self.login)).0 == Data("5".utf8))
    let error = await failure { try await registry.data(for: URLRequest(url: Self.api)) } as? URLError
    #expect(error?.cause(as: ArchiveError.self)?.code == .notStored)
    #expect(error?.cause(as: ArchiveError.self)?.message.contains("an interceptor made this request") == true)
    #expect(loads.withLock { $0 } == 5)
    registry.invalidate()
  }

  @Test("the closure of a stub asks past its own mock, and through the others")
  func closure() async throws {
    let transport = Sending { InterceptedResponse(to: $0, body: .text("sent"), source: .network) }
    let registry = InterceptorRegistry(transport: transport, configuration: .ephemeral)
    let inspector = Inspector()
    let mock = MockInterceptor {
      Stub(.get, "/data") { [weak registry] _ in
        .data(try await registry?.data(for: URLRequest(url: Self.api)).0 ?? Data())
      }
    }
    registry.register(
      InterceptorChain("all") {
        inspector
        mock
      })
    #expect(try await registry.data(for: URLRequest(url: Self.api)).0 == Data("sent".utf8))
    #expect(mock.requests.count == 1)
    #expect(inspector.exchanges.count == 2)
    registry.invalidate()
  }

  @Test("a resolver that asks through the chain of its own rewriter does not wait for itself")
  func resolver() async throws {
    let transport = Sending { request in
      InterceptedResponse(
        to: request, body: .text(request.route.map { "to \($0.address)" } ?? "1.2.3.4"), source: .network)
    }
    let registry = InterceptorRegistry(transport: transport, configuration: .ephemeral)
    let inspector = Inspector()
    let rewriter = HostRewriter(
      rules: try HostRules([HostRule("*.example.com")]), resolver: Asking(registry: registry), policy: .require)
    registry.register(
      InterceptorChain("all") {
        inspector
        rewriter
      })
    #expect(try await registry.data(for: URLRequest(url: Self.api)).0 == Data("to 1.2.3.4".utf8))
    #expect(inspector.exchanges.map(\.entry.request.url).contains { $0.contains("login") })
    registry.invalidate()
  }

  /// A resolver that asks a server, under a name that its rewriter routes.
  private struct Asking: HostResolver {
    weak let registry: InterceptorRegistry?

    func resolve(_ host: HostName, port: Int) async throws -> HostResolution {
      let data = try await registry?.data(for: URLRequest(url: NestedTests.login)).0 ?? Data()
      let address = try HostAddress(String(decoding: data, as: UTF8.self))
      return HostResolution([HostEndpoint(address)], timeToLive: .seconds(60), source: "asking")
    }
  }

  @Test("a log handler that sends its lines through the chain is not asked to log that")
  func logHandler() async throws {
    let transport = Sending { InterceptedResponse(to: $0, source: .network) }
    let registry = InterceptorRegistry(transport: transport, configuration: .ephemeral)
    let (lines, sent) = (Log<String>(), Log<Task<Void, Never>>())
    let logger = Logger(label: "sending") { _ in
      SendingHandler { [weak registry] line in
        lines.add(line)
        sent.add(Task { _ = try? await registry?.data(for: URLRequest(url: Self.login)) })
      }
    }
    registry.register(
      InterceptorChain("all") {
        RequestLogger(logger: logger)
        Intercept { request, next in
          // The load goes on until the handler's request has ended.
          for task in sent.all { await task.value }
          return try await next(request)
        }
      })
    _ = try await registry.data(for: URLRequest(url: Self.api))
    for task in sent.all { await task.value }
    #expect(lines.all.filter { $0.contains("/token") }.isEmpty)
    registry.invalidate()
  }

  private struct SendingHandler: LogHandler {
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]
    let send: @Sendable (String) -> Void

    init(send: @escaping @Sendable (String) -> Void) { self.send = send }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { send("\(event.message)") }
  }
}
