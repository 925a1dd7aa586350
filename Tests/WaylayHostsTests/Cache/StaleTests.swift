import Testing
import WaylayCore
@testable import WaylayHosts

@Suite("Answers whose time is over (RFC 8767)", .timeLimit(.minutes(5)))
struct StaleTests {
  @Test("are used when the look-up fails, and for a while without another one")
  func failing() async throws {
    let bench = try CacheBench()
    try await bench.fill(seconds: 100)
    bench.time.advance(by: .seconds(200))
    #expect(bench.cache.cached(bench.query) == nil)
    let stale = try await bench.ask {
      await bench.resolver.untilCalls(2)
      bench.resolver.fail(.resolverTimedOut)
    }
    #expect(stale.isStale && stale.addresses == ["203.0.113.7"] && stale.age == .seconds(200))
    bench.time.advance(by: .seconds(29))
    #expect(try await bench.cache.lookUp(bench.query).isStale)
    #expect(bench.resolver.counts.calls == 2)
    bench.time.advance(by: .seconds(1))
    let fresh = try await bench.ask {
      await bench.resolver.untilCalls(3)
      try bench.resolver.answer("203.0.113.8")
    }
    #expect(!fresh.isStale && fresh.addresses == ["203.0.113.8"])
  }

  @Test("are used when the look-up takes longer than 1.8 seconds, and it goes on behind the scenes")
  func slow() async throws {
    let bench = try CacheBench()
    try await bench.fill(seconds: 100)
    bench.time.advance(by: .seconds(200))
    let stale = try await bench.ask {
      await bench.resolver.untilCalls(2)
      await bench.time.untilSleeping()
      bench.time.advance(by: .milliseconds(1_800))
    }
    #expect(stale.isStale)
    // The next to ask does not wait at all.
    #expect(try await bench.cache.lookUp(bench.query).isStale)
    try bench.resolver.answer("203.0.113.8")
    while bench.cache.cached(bench.query)?.addresses != ["203.0.113.8"] { await Task.yield() }
    #expect(bench.resolver.counts.calls == 2 && bench.resolver.counts.cancelled == 0)
  }

  @Test("are not used when a fresh one comes in time")
  func inTime() async throws {
    let bench = try CacheBench()
    try await bench.fill(seconds: 100)
    bench.time.advance(by: .seconds(200))
    let fresh = try await bench.ask {
      await bench.resolver.untilCalls(2)
      await bench.time.untilSleeping()
      bench.time.advance(by: .milliseconds(1_799))
      try bench.resolver.answer("203.0.113.8")
    }
    #expect(!fresh.isStale && fresh.addresses == ["203.0.113.8"])
  }

  @Test("are not used when they are too old")
  func tooOld() async throws {
    let bench = try CacheBench()
    try await bench.fill(seconds: 100)
    bench.time.advance(by: .seconds(100 + 24 * 60 * 60))
    let error = await #expect(throws: HostError.self) {
      _ = try await bench.ask {
        await bench.resolver.untilCalls(2)
        bench.resolver.fail(.resolverFailed)
      }
    }
    #expect(error?.code == .resolverFailed)
  }

  @Test("are not used once the host is known not to exist")
  func gone() async throws {
    let bench = try CacheBench()
    try await bench.fill(seconds: 100)
    bench.time.advance(by: .seconds(200))
    let error = await #expect(throws: HostError.self) {
      _ = try await bench.ask {
        await bench.resolver.untilCalls(2)
        bench.resolver.fail(.noSuchHost)
      }
    }
    #expect(error?.code == .noSuchHost)
    await #expect(throws: HostError.self) { try await bench.cache.lookUp(bench.query) }
    #expect(bench.resolver.counts.calls == 2)
  }

  @Test("are forgotten in another network, unless they may be kept", arguments: [false, true])
  func network(keeps: Bool) async throws {
    let bench = try CacheBench { $0.keepsStaleAcrossNetworks = keeps }
    try await bench.fill(seconds: 100)
    bench.cache.networkChanged()
    #expect(bench.cache.cached(bench.query) == nil)
    let answer = try? await bench.ask {
      await bench.resolver.untilCalls(2)
      bench.resolver.fail(.resolverFailed)
    }
    #expect(answer?.isStale == (keeps ? true : nil))
  }
}
