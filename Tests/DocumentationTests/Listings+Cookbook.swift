import Crypto
import Foundation
import TestSupport
import Testing
import Waylay
import WaylayInspector
import WaylayInterceptors
import WaylayTesting
import XCTest

// The listings of `Cookbook.md`, each in a scope of its own. Those that are tests run.

struct Recipe1 {
  @Test(.mocked { Stub(.get, "https://api.example.com/users/:id", .json(["name": "Ada"])) })
  func readsOneUser() async throws {
    let url = try #require(URL(string: "https://api.example.com/users/42"))
    let (data, _) = try await URLSession.mocked.data(from: url)
    #expect(try JSONDecoder().decode([String: String].self, from: data) == ["name": "Ada"])
  }
}

struct Recipe2 {
  @Test(.mocked { Stub(.get, "https://api.example.com/status", .status(503), .text("up")) })
  func recovers() async throws {
    let url = try #require(URL(string: "https://api.example.com/status"))
    let (_, first) = try await URLSession.mocked.data(from: url)
    let (body, second) = try await URLSession.mocked.data(from: url)
    #expect((first as? HTTPURLResponse)?.statusCode == 503)
    #expect((second as? HTTPURLResponse)?.statusCode == 200)
    #expect(body == Data("up".utf8))
  }
}

struct Recipe3 {
  @Test(.mocked { Stub(.post, "https://api.example.com/orders", .status(201)) })
  func sendsTheOrder() async throws {
    var request = URLRequest(url: try #require(URL(string: "https://api.example.com/orders")))
    request.httpMethod = "POST"
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    request.httpBody = Data(#"{"item": "book"}"#.utf8)
    _ = try await URLSession.mocked.data(for: request)

    let sent = try MockInterceptor.current.requests(.post, "/orders").only().json([String: String].self)
    #expect(sent == ["item": "book"])
  }
}

struct Recipe4 {
  @Test(
    .mocked(.init(clock: MockClock(isAutomatic: true))) {
      Stub(.get, "https://api.example.com/report", .text("done").delay(.seconds(30)))
    })
  func waitsForTheReport() async throws {
    let url = try #require(URL(string: "https://api.example.com/report"))
    let (data, _) = try await URLSession.mocked.data(from: url)
    #expect(data == Data("done".utf8))
  }
}

struct Recipe5 {
  @Test(.mocked { Stub(.get, "https://api.example.com/news", .error(.notConnectedToInternet)) })
  func noticesThatItIsOffline() async throws {
    let url = try #require(URL(string: "https://api.example.com/news"))
    let error = await #expect(throws: URLError.self) { _ = try await URLSession.mocked.data(from: url) }
    #expect(error?.code == .notConnectedToInternet)
  }
}

final class StatusTests: XCTestCase {
  func testStatus() async throws {
    try await withMock {
      Stub(.get, "https://api.example.com/status", .text("up"))
    } operation: {
      let url = try XCTUnwrap(URL(string: "https://api.example.com/status"))
      let (data, _) = try await URLSession.mocked.data(from: url)
      XCTAssertEqual(data, Data("up".utf8))
    }
  }
}

struct Recipe7 {
  @Test(.cassette("user"))
  func replaysAUser() async throws {
    let url = try #require(URL(string: "https://api.example.com/users/42"))
    let (data, _) = try await URLSession.mocked.data(from: url)
    #expect(!data.isEmpty)
  }
}

@Suite(.sharedSession)
struct Recipe8 {
  @Test(
    .mocked(hardWiredSessions: [.shared]) {
      Stub(.get, "https://api.example.com/status", .text("up"))
    })
  func asksTheSharedSession() async throws {
    let url = try #require(URL(string: "https://api.example.com/status"))
    let (data, _) = try await URLSession.shared.data(from: url)
    #expect(data == Data("up".utf8))
  }
}

struct Recipe9 {
  enum Demo {
    static let session: URLSession = {
      let mock = MockInterceptor(.init(unmatched: .passThrough)) {
        Stub(.get, "https://api.example.com/users/:id", .json(["name": "Ada"]).delay(.milliseconds(300)))
      }
      return URLSession(configuration: .default.intercepted(by: InterceptorRegistry { mock }))
    }()
  }
}

struct Recipe10 {
  struct Reader {
    let archive: ArchiveCache
    let session: URLSession

    init(directory: URL) {
      archive = ArchiveCache(at: directory)
      session = URLSession(configuration: .default.intercepted(by: InterceptorRegistry { [archive] in archive }))
    }

    func article(_ url: URL) async throws -> Data { try await session.data(from: url).0 }

    func setOffline(_ isOffline: Bool) { archive.mode = isOffline ? .offline : .online }
  }
}

struct Recipe11 {
  func makeArchive(at directory: URL) -> ArchiveCache {
    ArchiveCache(at: directory) { configuration in
      configuration.lifetimes = [
        .lifetime(.seconds(3600), for: .host("api.example.com").path("/catalog/**"), overridingServer: true),
        .lifetime(.seconds(86_400), type: "image/*"),
      ]
    }
  }
}

#if Cryptography
  struct Recipe12 {
    func encryptedArchive(at directory: URL, key: SymmetricKey) -> ArchiveCache {
      ArchiveCache(.disk(at: directory, limits: StoreLimits(bytes: 256 << 20), encryptionKey: { key }))
    }
  }
#endif

struct Recipe13 {
  func archive(for account: String, at directory: URL) -> ArchiveCache {
    ArchiveCache(at: directory) { configuration in
      configuration.partition = { _ in account }
    }
  }
}

struct Recipe14 {
  func signOut(_ archive: ArchiveCache) async throws {
    try await archive.removeAll()
  }
}

private func recipe15() async throws {
  let registry = InterceptorRegistry {
    SetField(.xAPIKey, "…", for: .host("api.example.com"))
  }
  let session = URLSession(configuration: .default.intercepted(by: registry))
  _ = session
}

struct Recipe16 {
  struct Account: Sendable {
    let token: @Sendable () async -> String?
    let renew: @Sendable () async throws -> String

    func session() -> URLSession {
      let registry = InterceptorRegistry()
      registry.register(
        InterceptorChain("api", for: .host("api.example.com")) {
          BearerToken(hosts: .host("api.example.com").excludingPath("/token")) {
            await token()
          } refresh: { _ in
            try await renew()
          }
        })
      return URLSession(configuration: .default.intercepted(by: registry))
    }
  }
}

private func recipe17() {
  let registry = InterceptorRegistry {
    Intercept(request: { $0.options.deadline = $0.options.deadline ?? .now + .seconds(30) })
    Retry(attempts: 4)
  }
  let session = URLSession(configuration: .default.intercepted(by: registry))
  _ = session
}

struct Recipe18 {
  struct TellVersion: RequestInterceptor {
    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      var request = request
      request.fields[.userAgent] = "app/1.0"
      return try await next(request)
    }
  }

  @Test func tellsTheVersion() async throws {
    let url = try #require(URL(string: "https://api.example.com/"))
    let echo = InterceptorChain.Next { InterceptedResponse(to: $0, body: .text($0.fields[.userAgent] ?? "none")) }
    let response = try await TellVersion().startLoading(InterceptedRequest(.get, url), next: echo)
    #expect(try await response.body.collect(upTo: 100) == Data("app/1.0".utf8))
  }
}

private func recipe19() async throws {
  let rewriter = HostRewriter(["api.example.com": ["203.0.113.7", "2001:db8::7"]])
  let session = URLSession(configuration: .default.intercepted(by: InterceptorRegistry { rewriter }))
  _ = session
}

struct Recipe20 {
  func privateSession(resolver: URL) throws -> URLSession {
    let doh = try DoHResolver(resolver, addresses: ["192.0.2.53", "2001:db8::53"])
    let rewriter = HostRewriter(
      rules: try HostRules(["*.example.com": []]), resolver: ResolutionCache(doh), policy: .require)
    return URLSession(configuration: .default.intercepted(by: InterceptorRegistry { rewriter }))
  }
}

struct Recipe21 {
  func load(_ url: URL, in session: URLSession) async throws -> Data {
    do {
      return try await session.data(from: url).0
    } catch let error as URLError {
      if let cause = error.cause(as: HostError.self) { print(cause.attempts.table) }
      throw error
    }
  }
}

struct Recipe22 {
  func download(_ url: URL, to file: URL, by registry: InterceptorRegistry) async throws {
    try await registry.download(for: URLRequest(url: url), to: file) { progress in
      print(progress.fraction.map { "\(Int($0 * 100)) %" } ?? "…")
    }
  }
}

struct Recipe23 {
  func follow(_ url: URL, by registry: InterceptorRegistry) async throws {
    let response = try await registry.load(URLRequest(url: url))
    for try await line in response.body.lines where line.hasPrefix("data: ") {
      print(line.dropFirst(6))
    }
  }
}

struct Recipe24 {
  func recordTraffic(of url: URL, to file: URL) async throws {
    let inspector = Inspector()
    let session = URLSession(configuration: .default.intercepted(by: InterceptorRegistry { inspector }))
    _ = try await session.data(from: url)
    try inspector.writeHAR(to: file)
  }
}
