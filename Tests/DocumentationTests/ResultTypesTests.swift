import Foundation
import TestSupport
import Testing
import Waylay
import WaylayHAR
import WaylayInspector
import WaylayTesting

/// Types that an app mostly gets and seldom spells, spelled: in the functions that an app would pass them to, and in
/// interceptors, stores and builders of its own.
@Suite("Types that are got and not made", .timeLimit(.minutes(5)))
struct ResultTypesTests {
  private static let url = URL(string: "https://api.example.com/articles/1")!

  // MARK: The core

  private func chain(@InterceptorBuilder _ links: () -> [any RequestInterceptor]) -> InterceptorChain {
    InterceptorChain("own", for: .any, links)
  }

  private struct Named: InlineResponding, GuardingInterceptor {
    let name: String

    func respondInline(_ request: InterceptedRequest) -> InlineResponse {
      .response(InterceptedResponse(to: request, body: .text(name)))
    }

    func validate(webSocket request: URLRequest) throws {
      throw URLError(.unsupportedURL)
    }
  }

  @Test("a function of an app's own takes interceptors as `InterceptorBuilder` writes them, with conditions and loops")
  func builder() async throws {
    let isOn = true
    let built: InterceptorChain = chain {
      if isOn { Named(name: "first") }
      for name in ["second", "third"] { Named(name: name) }
    }
    #expect(built.interceptors.map(\.name) == ["first", "second", "third"])
    let registry = InterceptorRegistry()
    registry.register(built)
    #expect(String(decoding: try await registry.data(for: URLRequest(url: Self.url)).0, as: UTF8.self) == "first")
  }

  @Test("an interceptor that is `GuardingInterceptor` is asked before a WebSocket task is opened")
  func webSocket() throws {
    let links: [any RequestInterceptor] = [Named(name: "closed")]
    let asked = try #require(links.first as? any GuardingInterceptor)
    var request = URLRequest(url: Self.url)
    request.url = URL(string: "wss://api.example.com/")
    #expect(throws: URLError.self) { try asked.validate(webSocket: request) }
  }

  /// A transport of an app's own, which says that it goes on.
  private struct Telling: Transport {
    let sent: Locked<[TransportObserver?]>

    var capabilities: TransportCapabilities { [] }

    func load(_ request: InterceptedRequest) async throws -> InterceptedResponse {
      let observer: TransportObserver? = request.observer
      observer?.progressed()
      observer?.sent(0)
      sent.withLock { $0.append(observer) }
      return InterceptedResponse(to: request, body: .text("told"))
    }
  }

  @Test("a transport of an app's own finds the `TransportObserver` of a load at the request")
  func observer() async throws {
    let sent = Locked<[TransportObserver?]>([])
    let registry = InterceptorRegistry(transport: Telling(sent: sent))
    #expect(String(decoding: try await registry.data(for: URLRequest(url: Self.url)).0, as: UTF8.self) == "told")
    #expect(sent.withLock { $0 }.map { $0 != nil } == [true])
  }

  @Test("`SharedSessionInterception` holds until it is ended")
  func sharedSession() {
    let registry = InterceptorRegistry()
    let interception: SharedSessionInterception = registry.interceptSharedSession()
    interception.end()
    interception.end()
    registry.invalidate()
  }

  @Test("`AnsweredChallenge` is noted under its key and says nothing of itself")
  func answeredChallenge() throws {
    var request = InterceptedRequest(.get, "https://api.example.com/")
    #expect(request[AnsweredChallengeKey.self] == nil)
    request[AnsweredChallengeKey.self] = AnsweredChallenge(user: "ada", password: "s3cret")
    let note: AnsweredChallenge = try #require(request[AnsweredChallengeKey.self])
    #expect(note.user == "ada" && note.password == "s3cret")
    #expect(!"\(note)".contains("s3cret") && !String(reflecting: note).contains("ada"))
  }

  // MARK: The archive

  private func summary(_ counters: ArchiveCounters) -> String { "\(counters.stored) stored, \(counters.hits) hits" }

  private func kinds(_ events: AsyncStream<ArchiveEvent>, _ count: Int) async -> [OpenEnum<ArchiveEvent>] {
    var kinds: [OpenEnum<ArchiveEvent>] = []
    for await event in events.prefix(count) { kinds.append(event.kind) }
    return kinds
  }

  @Test(
    "an archive tells in `ArchiveEvent`, `ArchiveCounters`, `ArchiveExplanation` and `ArchivedResponse` what it did")
  func archive() async throws {
    #if StructuredFields
      let field: OpenEnum<ArchiveCache.Configuration> = .always
    #endif
    let drafts = Locked<[StorableResponse]>([])
    let archive = ArchiveCache { configuration in
      #if StructuredFields
        configuration.cacheStatus = field
      #endif
      configuration.willStore = { response in
        response.tags.insert("articles")
        let seen: StorableResponse = response
        drafts.withLock { $0.append(seen) }
      }
    }
    let events = archive.events()
    let mock = MockInterceptor {
      Stub(.get, "https://api.example.com/articles/1", .text("one").field("Cache-Control", "max-age=60"))
    }
    let registry = InterceptorRegistry {
      archive
      mock
    }
    _ = try await registry.data(for: URLRequest(url: Self.url))
    _ = try await archive.entries()
    let (_, response) = try await registry.data(for: URLRequest(url: Self.url))
    #expect(drafts.withLock { $0.map(\.description) } == ["200 https://api.example.com/articles/1"])
    #if StructuredFields
      #expect(response.value(forHTTPHeaderField: "Cache-Status")?.contains("hit") == true)
    #endif
    #expect(summary(archive.counters) == "1 stored, 1 hits")
    #expect(await kinds(events, 3) == [.miss, .stored, .hit])
    let explanation: ArchiveExplanation = await archive.explain(URLRequest(url: Self.url))
    #expect(!explanation.rows.isEmpty && explanation.description.contains(explanation.rows[0].text))
    let stored: ArchivedResponse = try #require(try await archive.entries(.tag("articles")).first)
    #expect(try await stored.body().collect(upTo: 10) == Data("one".utf8))
    #expect(stored.status == .ok && stored.isWhole && stored.isFresh() && stored.method == .get)
    #expect("\(stored)".hasPrefix("GET https://api.example.com/articles/1 200, 3 bytes, age 0 s, fresh for "))
    #expect("\(stored)".hasSuffix(" s, tags articles"))
  }

  // MARK: Hosts

  @Test("`HostRules` are a resolver: they answer by the longest pattern, and do not list the rest")
  func rulesAsResolver() async throws {
    let resolver: some HostResolver = try HostRules([
      "api.example.com": ["203.0.113.7:8443", "2001:db8::7"], "*.example.com": ["203.0.113.9"],
      "none.example.com": [],
    ])
    let found = try await resolver.resolve(HostName("API.example.com"), port: 443)
    let endpoints: [HostEndpoint] = found.endpoints
    #expect(endpoints.map(\.address.literal) == ["203.0.113.7", "2001:db8::7"])
    #expect(endpoints.map(\.port) == [8443, nil] && found.timeToLive == .seconds(60) && found.source == "rules")
    let other = try await resolver.resolve(HostName("www.example.com"), port: 443)
    #expect(other.endpoints.map(\.address.literal) == ["203.0.113.9"])
    for name in ["none.example.com", "elsewhere.test"] {
      let error = await #expect(throws: HostError.self) { try await resolver.resolve(HostName(name), port: 443) }
      #expect(error?.code == .notListed)
    }
    #expect(throws: HostError.self) { try HostRules(["api.example.com": ["not an address"]]) }
  }

  @Test("a rewriter tells in `HostExplanation`, `HostCounters` and `HostEvent` what it did and would do")
  func rewriter() async throws {
    var policy = HostRewriter.Policy.require
    policy.connectionAttemptDelay = nil
    let rewriter = HostRewriter(rules: try HostRules(["api.example.com": ["203.0.113.7"]]), policy: policy)
    let explanation: HostExplanation = await rewriter.explain(Self.url)
    #expect(explanation.host?.hasPrefix("api.example.com") == true, "\(explanation)")
    #expect(explanation.candidates.count == 1 && explanation.error == nil, "\(explanation)")
    let events: AsyncStream<HostEvent> = rewriter.events()
    let registry = InterceptorRegistry(transport: Telling(sent: Locked([]))) { rewriter }
    // This transport dials no addresses, and the policy allows nothing else.
    await #expect(throws: URLError.self) { try await registry.data(for: URLRequest(url: Self.url)) }
    let counters: HostCounters = rewriter.counters
    #expect(counters.requests == 1 && counters.attempts == 0)
    let event = await events.first { _ in true }
    #expect(event?.host.description == "api.example.com" && event?.kind == .failed)
  }

  // MARK: Mocks

  private func stub(at url: some URLPatternConvertible, _ fault: OpenEnum<NetworkFault>) -> Stub {
    Stub(.get, url, .fault(.tls(fault)))
  }

  @Test(
    "a mock tells in `MockIssue` and `MockRequests` what was asked, by stubs of an app's own helpers")
  func mocks() async throws {
    let policy: MockResponse = .status(404)
    let mock = MockInterceptor(.init(unmatched: policy)) {
      Stub(.get, "/two", .text("2")).where(.field("Accept", "text/plain"), .field("X-Number", "2"))
      stub(at: Self.url, .expired)
      Stub(.get, "/unused", .text("1")).required
    }
    let registry = InterceptorRegistry { mock }
    var request = URLRequest(url: try #require(URL(string: "https://api.example.com/two")))
    #expect(try await registry.data(for: request).1.statusCode == 404)
    request.setValue("text/plain", forHTTPHeaderField: "Accept")
    request.setValue("2", forHTTPHeaderField: "X-Number")
    #expect(String(decoding: try await registry.data(for: request).0, as: UTF8.self) == "2")
    let error = await #expect(throws: URLError.self) { try await registry.data(for: URLRequest(url: Self.url)) }
    #expect(error?.code == .serverCertificateHasBadDate)
    let calls: MockRequests = mock.requests("/two")
    let last: MockRequest = try #require(calls.last)
    #expect(calls.count == 2 && last.field("x-number") == "2" && last.method == "GET")
    let issues: [MockIssue] = mock.issues
    #expect(issues.map(\.kind) == [.unused, .unmatched], "\(issues)")
  }

  @Test("a trait of an app's own can be made of `CassetteTrait`")
  func cassette() {
    let trait: CassetteTrait = .cassette("login", mode: .none)
    #expect(trait.isRecursive)
  }

  // MARK: Traffic

  @Test("`Inspector.Statistics` and `HAR.creator` say what was seen, and by whom")
  func traffic() async throws {
    let inspector = Inspector()
    let registry = InterceptorRegistry {
      inspector
      Named(name: "seen")
    }
    _ = try await registry.data(for: URLRequest(url: Self.url))
    let statistics: Inspector.Statistics = inspector.statistics()
    #expect(statistics.count == 1 && statistics.hosts.map(\.name) == ["api.example.com"])
    #expect(HAR().creator["name"] == "Waylay")
  }
}
