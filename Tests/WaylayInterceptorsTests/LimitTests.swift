import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore
import WaylayInterceptors
import WaylayMocks

@Suite("Limits and conditions", .timeLimit(.minutes(5)))
struct LimitTests {
  @Test(
    "no more than the limit are under way for a host, those that wait are served in their order, others pass",
    arguments: [1, 2])
  func concurrency(most allowed: Int) async throws {
    let limit = ConcurrencyLimit(perHost: allowed)
    let (running, most, order) = (Locked(0), Locked(0), Log<Int>())
    let gate = Waiting()
    gate.close()
    let script = Script { request, _ in
      if request.url.host == "other.example" { return InterceptedResponse(to: request) }
      let now = running.withLock {
        $0 += 1; return $0
      }
      most.withLock { $0 = max($0, now) }
      order.add(Int(request.url.lastPathComponent) ?? 0)
      await gate.pass()
      running.withLock { $0 -= 1 }
      return InterceptedResponse(to: request)
    }
    var loads: [Task<Void, any Error>] = []
    for number in 1...64 {
      loads.append(
        begin {
          let url = try #require(URL(string: "http://api.example.com/\(number)"))
          _ = try await limit.load(InterceptedRequest(.get, url), script)
        })
    }
    _ = try await limit.load(InterceptedRequest(.get, "http://other.example/"), script)
    for number in [10, 20, 30] { loads[number].cancel() }
    gate.open()
    var cancelled = 0
    for load in loads { if await failure({ try await load.value }) is CancellationError { cancelled += 1 } }
    #expect(cancelled == 3 && most.withLock { $0 } == allowed)
    // Two at a time may overtake each other once they run.
    #expect((allowed == 1 ? order.all : order.all.sorted()) == (1...64).filter { ![11, 21, 31].contains($0) })
    // Nothing is left behind: the next one goes at once.
    _ = try await limit.load(.example, Script(.ok))
  }

  @Test("a place is kept until the body has been read, has failed or was dropped")
  func bodies() async throws {
    let limit = ConcurrencyLimit(perHost: 1)
    let script = Script { request, number in
      InterceptedResponse(
        to: request,
        body: .stream(
          AsyncThrowingStream<Data, any Error> { stream in
            stream.yield(Data("a".utf8))
            stream.finish(throwing: number == 2 ? Refused() : nil)
          }))
    }
    var held: InterceptedResponse? = try await limit.load(.example, script)
    for number in 2...4 {
      let following = begin { try await limit.load(.example, script) }
      #expect(script.requests.all.count == number - 1)
      if number == 4 { held = nil } else { _ = try? await held?.body.collect(upTo: 10) }
      held = try await following.value
    }
    #expect(held != nil)
  }

  @Test("a rate is kept: as many as the limit at once, then one by one, in order, for each host")
  func rate() async throws {
    let clock = MockClock()
    let limit = RateLimit(perHost: 2, every: .seconds(1), clock: clock)
    let script = Script(.ok)
    var loads: [Task<Void, any Error>] = []
    for number in 1...6 {
      loads.append(
        begin {
          let url = try #require(URL(string: "http://api.example.com/\(number)"))
          _ = try await limit.load(InterceptedRequest(.get, url), script)
        })
    }
    try await clock.waitForSleepers(4)
    _ = try await limit.load(InterceptedRequest(.get, "http://other.example/"), script)
    #expect(script.requests.all.count == 3)
    for sent in [4, 5] {
      clock.advance(by: .milliseconds(500))
      try await loads[sent - 2].value
      #expect(script.requests.all.count == sent)
    }
    loads[5].cancel()
    #expect(await failure { try await loads[5].value } is CancellationError)
    clock.advance(by: .milliseconds(500))
    try await loads[4].value
    #expect(script.requests.all.map(\.url.lastPathComponent).filter { $0 != "/" } == ["1", "2", "3", "4", "5"])
  }

  @Test("conditions are those of mocks on live traffic, and switched at run time")
  func conditions() async throws {
    try await withOrigin { origin in
      origin.reply(to: "/data") { _ in Reply(200, [], .whole(Data(count: 1000))) }
      let clock = MockClock(isAutomatic: true)
      let conditions = NetworkConditions(clock: clock)
      let registry = InterceptorRegistry { conditions }
      let request = URLRequest(url: origin.url("/data"))
      #expect(try await registry.data(for: request).0.count == 1000)
      #expect(clock.now.offset == .zero)
      conditions.network = NetworkProfile(latency: .milliseconds(100), downstream: 1000)
      #expect(try await registry.data(for: request).0.count == 1000)
      #expect(clock.now.offset >= .milliseconds(1200) && clock.now.offset < .seconds(3))
      conditions.fail(.offline)
      let sent = origin.requests.count
      let offline = await failure { try await registry.data(for: request).0 } as? URLError
      #expect(offline?.code == .notConnectedToInternet && origin.requests.count == sent)
      conditions.fail(.connectionReset(afterBytes: 100))
      let reset = await failure { try await registry.data(for: request).0 } as? URLError
      #expect(reset?.code == .networkConnectionLost && origin.requests.count == sent + 1)
      conditions.fail(.offline, share: 0)
      _ = try await registry.data(for: request)
      conditions.reset()
      let before = clock.now
      _ = try await registry.data(for: request)
      #expect(clock.now == before)
    }
  }

  @Test(
    "what stands behind an interceptor and belongs before it is reported with the reason when the chain is registered")
  func order() {
    let lines = Log<String>()
    let registry = InterceptorRegistry(logger: .recording(lines)) {
      BearerToken(hosts: .host("api.example.com")) {
        nil
      } refresh: { _ in
        ""
      }
      ConcurrencyLimit(perHost: 4)
      Retry()
      ValidateStatus()
    }
    for text in [
      "has BearerToken, which stands before Retry: put Retry first, because otherwise each attempt needs",
      "has ConcurrencyLimit, which stands before Retry", "has Retry, which stands before ValidateStatus",
    ] {
      #expect(lines.all.contains { $0.contains(text) }, "\(lines.all)")
    }
    let count = lines.all.count
    registry.register(
      InterceptorChain("right") {
        ValidateStatus()
        Retry()
        BearerToken(hosts: .host("api.example.com")) {
          nil
        } refresh: { _ in
          ""
        }
        ConcurrencyLimit(perHost: 4)
        RateLimit(perHost: 10, every: .seconds(1))
        NetworkConditions()
      })
    #expect(lines.all.count == count)
  }
}
