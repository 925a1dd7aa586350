import TestSupport
import Testing
import WaylayCore
@testable import WaylayHosts

/// A cache with a clock and a resolver that do what a test says.
struct CacheBench {
  let time = VirtualClock()
  let resolver = ScriptedResolver()
  let cache: ResolutionCache
  let query: HostAuthority

  init(_ change: (inout ResolutionCache.Options) -> Void = { _ in }) throws {
    var options = ResolutionCache.Options()
    change(&options)
    cache = ResolutionCache(resolver, options: options, clock: time.clock)
    query = HostAuthority(try HostName("api.example.com"))
  }

  /// Asks while the resolver is given what to answer.
  func ask(_ query: HostAuthority? = nil, during: () async throws -> Void = {}) async throws -> CachedResolution {
    async let answer = cache.lookUp(query ?? self.query)
    try await during()
    return try await answer
  }

  /// Fills the cache with an answer.
  func fill(_ address: String = "203.0.113.7", seconds: Int = 100) async throws {
    let calls = resolver.counts.calls
    _ = try await ask {
      await resolver.untilCalls(calls + 1)
      try resolver.answer(address, seconds: seconds)
    }
  }
}

extension CachedResolution {
  var addresses: [String] { resolution.endpoints.map(\.address.literal) }
}

@Suite("A cache of answers", .timeLimit(.minutes(5)))
struct ResolutionCacheTests {
  @Test("keeps an answer as long as its server says, and asks again then")
  func lifetime() async throws {
    let bench = try CacheBench { $0.refreshFraction = nil }
    #expect(bench.cache.cached(bench.query) == nil)
    let first = try await bench.ask {
      await bench.resolver.untilCalls(1)
      try bench.resolver.answer("203.0.113.7", seconds: 100)
    }
    #expect(first.age == .zero)
    bench.time.advance(by: .seconds(99))
    let second = try #require(bench.cache.cached(bench.query))
    #expect(second.addresses == ["203.0.113.7"] && !second.isStale && second.age == .seconds(99))
    bench.time.advance(by: .seconds(1))
    #expect(bench.cache.cached(bench.query) == nil)
    try await bench.fill("203.0.113.8")
    #expect(bench.cache.cached(bench.query)?.addresses == ["203.0.113.8"])
    #expect(bench.resolver.counts.calls == 2)
  }

  @Test("clamps what servers say", arguments: [(0, 10), (1_000_000, 3_600)])
  func clamp(seconds: Int, expected: Int) async throws {
    let bench = try CacheBench { $0.refreshFraction = nil }
    try await bench.fill(seconds: seconds)
    bench.time.advance(by: .seconds(expected - 1))
    #expect(bench.cache.cached(bench.query) != nil)
    bench.time.advance(by: .seconds(1))
    #expect(bench.cache.cached(bench.query) == nil)
  }

  @Test("looks an answer up again behind the scenes at three quarters of its time")
  func refreshAhead() async throws {
    let bench = try CacheBench()
    try await bench.fill(seconds: 100)
    bench.time.advance(by: .seconds(74))
    _ = bench.cache.cached(bench.query)
    bench.time.advance(by: .seconds(1))
    #expect(bench.cache.cached(bench.query)?.addresses == ["203.0.113.7"])
    // Asked again while the look-up goes on: no other begins.
    #expect(bench.cache.cached(bench.query) != nil)
    await bench.resolver.untilCalls(2)
    try bench.resolver.answer("203.0.113.8")
    // The look-up ends in a task of its own; who asks with a wait gets the old answer or the new, and in the end the
    // new.
    while bench.cache.cached(bench.query)?.addresses != ["203.0.113.8"] { await Task.yield() }
    #expect(bench.resolver.counts.calls == 2)
    #expect(bench.cache.cached(bench.query)?.age == .zero)
  }

  @Test("keeps an answer whose early look-up fails, and tries again half a minute later")
  func refreshFails() async throws {
    let bench = try CacheBench()
    try await bench.fill(seconds: 3_600)
    bench.time.advance(by: .seconds(2_700))
    _ = bench.cache.cached(bench.query)
    await bench.resolver.untilCalls(2)
    bench.resolver.fail(.resolverFailed)
    var seconds = 0
    while bench.resolver.counts.calls < 3, seconds < 800 {
      #expect(bench.cache.cached(bench.query)?.isStale == false)
      bench.time.advance(by: .seconds(1))
      seconds += 1
      await Task.yield()
    }
    #expect(seconds >= 30 && seconds < 800)
  }

  @Test("keeps that a host does not exist, as long as the zone says and no longer than allowed")
  func negative() async throws {
    let bench = try CacheBench()
    await #expect(throws: HostError.self) {
      _ = try await bench.ask {
        await bench.resolver.untilCalls(1)
        bench.resolver.fail(.noSuchHost, seconds: 1_000)
      }
    }
    bench.time.advance(by: .seconds(299))
    let error = await #expect(throws: HostError.self) { try await bench.cache.lookUp(bench.query) }
    #expect(error?.code == .noSuchHost)
    #expect(bench.resolver.counts.calls == 1)
    bench.time.advance(by: .seconds(1))
    try await bench.fill()
    #expect(bench.resolver.counts.calls == 2)
  }

  @Test("does not ask again at once after a failure, but soon")
  func failure() async throws {
    let bench = try CacheBench()
    await #expect(throws: HostError.self) {
      _ = try await bench.ask {
        await bench.resolver.untilCalls(1)
        bench.resolver.fail(.resolverFailed)
      }
    }
    await #expect(throws: HostError.self) { try await bench.cache.lookUp(bench.query) }
    #expect(bench.resolver.counts.calls == 1)
    bench.time.advance(by: .seconds(5))
    try await bench.fill()
  }

  @Test("makes equal look-ups one")
  func coalescing() async throws {
    let bench = try CacheBench()
    let answers = try await withThrowingTaskGroup(of: [String].self) { group in
      for _ in 0..<20 { group.addTask { try await bench.cache.lookUp(bench.query).addresses } }
      await bench.resolver.untilCalls(1)
      try bench.resolver.answer("203.0.113.7")
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers == Array(repeating: ["203.0.113.7"], count: 20))
    #expect(bench.resolver.counts.calls == 1)
  }

  @Test("a cancelled waiter leaves the look-up to the others; the last one ends it")
  func cancellation() async throws {
    let bench = try CacheBench()
    let first = Task { try await bench.cache.lookUp(bench.query).addresses }
    await bench.resolver.untilCalls(1)
    let second = Task { try await bench.cache.lookUp(bench.query).addresses }
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    try bench.resolver.answer("203.0.113.7")
    #expect(try await second.value == ["203.0.113.7"])

    let other = HostAuthority(try HostName("other.example.com"))
    let third = Task { try await bench.cache.lookUp(other) }
    await bench.resolver.untilCalls(2)
    third.cancel()
    await #expect(throws: CancellationError.self) { try await third.value }
    await bench.resolver.until { $0.cancelled >= 1 }
    #expect(bench.resolver.counts.calls == 2)
    // A look-up that was given up is no failure to remember.
    let fourth = Task { try await bench.cache.lookUp(other).addresses }
    await bench.resolver.untilCalls(3)
    try bench.resolver.answer("203.0.113.9")
    #expect(try await fourth.value == ["203.0.113.9"])
  }

  @Test("drops what was not used for the longest time when it is full")
  func bounded() async throws {
    let bench = try CacheBench { $0.capacity = 8 }
    let queries = try (0..<9).map { HostAuthority(try HostName("h\($0).example.com")) }
    for (index, query) in queries.enumerated() {
      if index > 0 { _ = bench.cache.cached(queries[0]) }
      _ = try await bench.ask(query) {
        await bench.resolver.untilCalls(index + 1)
        try bench.resolver.answer("203.0.113.\(index)")
      }
    }
    #expect(bench.cache.cached(queries[0]) != nil)
    #expect(bench.cache.cached(queries[1]) == nil)
    #expect(bench.cache.cached(queries[8]) != nil)
  }

  @Test("ends its look-ups when it goes")
  func end() async throws {
    let resolver = ScriptedResolver()
    var cache: ResolutionCache? = ResolutionCache(resolver, clock: VirtualClock().clock)
    cache?.prefetch([try HostName("api.example.com")])
    await resolver.untilCalls(1)
    cache = nil
    await resolver.until { $0.cancelled == 1 }
  }
}
