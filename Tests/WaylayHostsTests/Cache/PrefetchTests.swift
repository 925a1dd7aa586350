import Testing
import WaylayCore
@testable import WaylayHosts

@Suite("Hosts that are looked up before anybody asks", .timeLimit(.minutes(5)))
struct PrefetchTests {
  @Test("are looked up at once, and again before their time is over, until the list is another")
  func prefetching() async throws {
    let bench = try CacheBench()
    bench.cache.prefetch([bench.query.host])
    await bench.resolver.untilCalls(1)
    try bench.resolver.answer("203.0.113.7", seconds: 100)
    while bench.cache.cached(bench.query) == nil { await Task.yield() }
    // After a second it sees that the answer is there, and sleeps until three quarters of its time are over.
    await bench.time.untilSleeping()
    bench.time.advance(by: .seconds(1))
    await bench.time.untilSleeping()
    bench.time.advance(by: .seconds(74))
    await bench.resolver.untilCalls(2)
    try bench.resolver.answer("203.0.113.8", seconds: 100)
    while bench.cache.cached(bench.query)?.addresses != ["203.0.113.8"] { await Task.yield() }
    bench.cache.prefetch([])
    while bench.time.sleeperCount > 0 { await Task.yield() }
    bench.time.advance(by: .seconds(1_000))
    #expect(bench.resolver.counts.calls == 2)
  }

  @Test("are looked up again when the network changes, and what is under way begins anew")
  func network() async throws {
    let bench = try CacheBench()
    bench.cache.prefetch([bench.query.host])
    await bench.resolver.untilCalls(1)
    async let waiting = bench.cache.lookUp(bench.query)
    bench.cache.networkChanged()
    await bench.resolver.until { $0.calls == 2 && $0.cancelled == 1 }
    try bench.resolver.answer("203.0.113.8")
    let answer = try await waiting
    #expect(answer.addresses == ["203.0.113.8"])
  }
}
