import Foundation
public import TestOrigin
import Waylay

extension Scenario {
  /// Host rewriting: what a decision costs, and what a routed request costs beside one that is not.
  static func hosts(_ origin: TestOrigin) -> [Scenario] {
    decisions() + routed(origin) + failover(origin)
  }

  private static func decisions() -> [Scenario] {
    let one = "hosts: a decision, one rule"
    guard let url = URL(string: "https://api.example.com/v1"), let single = rules(1).map({ HostRewriter(rules: $0) }),
      let many = rules(10_000).map({ HostRewriter(rules: $0) })
    else { return [] }
    func decision(_ name: String, _ rewriter: HostRewriter) -> Scenario {
      Scenario(name, against: one) {
        guard await rewriter.explain(url).candidates.count == 2 else { throw URLError(.unknown) }
      }
    }
    let book = ResolutionCache(Book())
    let looking = (try? HostRules(["*.example.com": []])).map { HostRewriter(rules: $0, resolver: book) }
    return [decision(one, single), decision("hosts: a decision, 10 000 rules", many)]
      + (looking.map { rewriter in
        [
          Scenario("hosts: a decision, warm cache", against: one) {
            _ = await rewriter.explain(url)
          }
        ]
      } ?? [])
  }

  /// `api.example.com` and so many others less one.
  private static func rules(_ count: Int) -> HostRules? {
    let others = (1..<max(count, 1)).map { ("host\($0).example\($0 % 100).com", ["203.0.113.\($0 % 250)"]) }
    return try? HostRules(
      Dictionary(others) { one, _ in one }.merging(["api.example.com": ["203.0.113.7", "2001:db8::7"]]) { $1 })
  }

  /// Answers without the network.
  private struct Book: HostResolver {
    func resolve(_ host: HostName, port: Int) async throws -> HostResolution {
      HostResolution(
        [try HostAddress("203.0.113.7"), try HostAddress("2001:db8::7")], timeToLive: .seconds(3000),
        source: name)
    }
  }

  private static func routed(_ origin: TestOrigin) -> [Scenario] {
    let reference = "hosts: direct load, unrouted"
    let url = origin.url("/hello")
    let named = origin.url("/hello", host: "api.test")
    let large = origin.url("/bytes/\(32 << 20)", host: "api.test")
    let plain = InterceptorRegistry(configuration: .ephemeral) { AsyncPassing() }
    func routed(_ addresses: [String]) -> InterceptorRegistry {
      InterceptorRegistry(configuration: .ephemeral) { HostRewriter(["api.test": addresses]) }
    }
    let (one, two) = (routed(["127.0.0.1"]), routed(["127.0.0.1", "::1"]))
    return [
      Scenario(reference, against: reference) { _ = try await plain.data(for: URLRequest(url: url)) },
      Scenario("hosts: direct load, routed, one address", against: reference) {
        _ = try await one.data(for: URLRequest(url: named))
      },
      Scenario("hosts: direct load, routed, two addresses", against: reference) {
        _ = try await two.data(for: URLRequest(url: named))
      },
      Scenario("32 MiB: direct load, routed", against: "32 MiB: direct load, as a stream") {
        for try await _ in try await one.load(URLRequest(url: large)).body {}
      }.large(),
    ]
  }

  /// What a silent address in front costs: the first time, once it is known, and after the network has changed. The
  /// goals are 0.3 s, 5 ms and 1 s, with 1, 10 and 100 in flight.
  private static func failover(_ origin: TestOrigin) -> [Scenario] {
    let reference = "hosts: direct load, unrouted"
    // Its port is free on that address, or nearly always.
    guard let hole = try? BlackHole(host: "127.0.0.7", port: origin.port) else { return [] }
    let named = origin.url("/hello", host: "api.test")
    @Sendable func rewriter() -> HostRewriter { HostRewriter(["api.test": ["127.0.0.7", "127.0.0.1"]]) }
    let known = rewriter()
    let registry = InterceptorRegistry(configuration: .ephemeral) { known }
    let unknown = [1, 10, 100].map { count in
      Scenario("hosts: failover, a silent address that nobody knows, \(count) at once", against: reference) {
        let rewriter = rewriter()
        let registry = InterceptorRegistry(configuration: .ephemeral) { rewriter }
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<count { group.addTask { _ = try await registry.data(for: URLRequest(url: named)) } }
          try await group.waitForAll()
        }
        registry.invalidate()
        withExtendedLifetime(hole) {}
      }.large()
    }
    return unknown + [
      Scenario("hosts: failover, a silent address that is known", against: reference) {
        _ = try await registry.data(for: URLRequest(url: named))
        withExtendedLifetime(hole) {}
      },
      Scenario("hosts: failover, the network has changed", against: reference) {
        known.networkChanged()
        _ = try await registry.data(for: URLRequest(url: named))
      }.large(),
    ]
  }
}
