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

  @Test(
    "a response that is not passed on frees its place before the next wait, whoever keeps a copy of it",
    arguments: ["BearerToken", "Retry", "redirect"], [nil, 5, 1 << 20] as [Int64?])
  func discarded(by name: String, length: Int64?) async throws {
    let valid = Locked(false)
    let kept = Log<InterceptedResponse>()
    let status: HTTPResponse.Status =
      switch name {
      case "Retry": .serviceUnavailable
      case "redirect": .found
      default: .unauthorized
      }
    let script = Script { request, number in
      let isAccepted = name == "BearerToken" ? request.fields[.authorization] == "Bearer new" : number > 4
      if isAccepted { return InterceptedResponse(to: request) }
      // The head is there, the bytes come when four loads wait.
      let left = Locked(length == 5 ? 1 : Int.max)
      let chunks = AsyncStream<Data> {
        await Task.yield()
        return left.withLock { left in
          left -= 1
          return left >= 0 ? Data(count: 5) : nil
        }
      }
      let body = MessageBody.stream(chunks, length: length)
      return InterceptedResponse(to: request, status: status, fields: [.location: "/b"], body: body, source: .network)
    }
    let registry = InterceptorRegistry(configuration: .ephemeral) {
      if name == "Retry" { Retry(attempts: 6, clock: MockClock(isAutomatic: true)) }
      if name == "BearerToken" {
        BearerToken(hosts: .https) {
          valid.withLock { $0 } ? "new" : "old"
        } refresh: { _ in
          valid.withLock { $0 = true }
          return "new"
        }
      }
      Intercept { request, next in
        let response = try await next(request)
        kept.add(response)
        return response
      }
      ConcurrencyLimit(perHost: 1)
      Intercept { request, _ in try await script.next(request) }
    }
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 1...4 {
        group.addTask {
          try await registry.data(for: URLRequest(url: URL(string: "https://api.example.com/a")!)).1.statusCode
        }
      }
      for try await status in group { #expect(status == 200) }
    }
    #expect(kept.all.count >= 5)
    registry.invalidate()
  }

  @Test("a request that waits longer than it may fails, and takes no place with it")
  func longestWait() async throws {
    let (clock, gate) = (MockClock(), Waiting())
    let limit = ConcurrencyLimit(perHost: 1, longestWait: .seconds(3), clock: clock)
    gate.close()
    let script = Script { request, _ in
      await gate.pass()
      return InterceptedResponse(to: request)
    }
    let first = begin { try await limit.load(.example, script) }
    await gate.arrival()
    let second = begin { try await limit.load(.example, script) }
    try await clock.waitForSleepers(1)
    clock.advance(by: .seconds(3))
    #expect((await failure { try await second.value } as? WaylayError)?.code == .timedOut)
    gate.open()
    _ = try await first.value
    _ = try await limit.load(.example, Script(.ok))
  }

  @Test("durations of centuries count as a year")
  func centuries() async throws {
    let (year, centuries) = (Duration.seconds(365 * 24 * 60 * 60), Duration.seconds(Int64.max) * 18)
    func deadline(
      _ interceptor: some RequestInterceptor, _ clock: MockClock, _ script: Script
    ) async throws -> Duration? {
      let load = begin { try await interceptor.load(.example, script) }
      try await clock.waitForSleepers()
      let deadline = clock.nextDeadline?.offset
      load.cancel()
      _ = await load.result
      return deadline
    }
    let clock = MockClock()
    let rate = RateLimit(perHost: 1, every: centuries, clock: clock)
    _ = try await rate.load(.example, Script(.ok))
    #expect(try await deadline(rate, clock, Script(.ok)) == year)
    let concurrency = ConcurrencyLimit(perHost: 1, longestWait: centuries, clock: clock)
    let gate = Waiting()
    gate.close()
    let first = begin {
      try await concurrency.load(
        .example,
        Script { request, _ in
          await gate.pass()
          return InterceptedResponse(to: request)
        })
    }
    await gate.arrival()
    #expect(try await deadline(concurrency, clock, Script(.ok)) == year)
    gate.open()
    _ = try await first.value
    let retry = Retry(attempts: 30, initialDelay: centuries, maximumDelay: centuries, clock: clock)
    #expect(try #require(try await deadline(retry, clock, Script(.serviceUnavailable))) <= year)
    let mock = MockInterceptor()
    let wait = Task { try await mock.waitForRequest(.get, "/never", timeout: centuries, clock: clock) }
    try await clock.waitForSleepers()
    #expect(clock.nextDeadline?.offset == year)
    wait.cancel()
    _ = await wait.result
  }

  @Test("the turns of cancelled requests go to those that wait, whichever are cancelled", arguments: 0..<6)
  func turns(cancelled: Int) async throws {
    let clock = MockClock()
    let limit = RateLimit(perHost: 1, every: .seconds(1), clock: clock)
    let script = Script(.ok)
    _ = try await limit.load(.example, script)
    var loads: [Task<Void, any Error>] = []
    for number in 0..<6 {
      loads.append(
        begin {
          let url = try #require(URL(string: "https://api.example.com/\(number)"))
          _ = try await limit.load(InterceptedRequest(.get, url), script)
        })
    }
    try await clock.waitForSleepers(6)
    loads[cancelled].cancel()
    #expect(await failure { try await loads[cancelled].value } is CancellationError)
    for (turn, number) in (0..<6).filter({ $0 != cancelled }).enumerated() {
      clock.advance(by: .seconds(1))
      try await loads[number].value
      #expect(script.requests.all.count == turn + 2)
    }
    // The sixth turn is free again.
    let next = begin { try await limit.load(.example, script) }
    try await clock.waitForSleepers(1)
    clock.advance(by: .seconds(1))
    _ = try await next.value
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
      "has BearerToken, which comes before Retry: put Retry first, because otherwise each attempt needs",
      "has ConcurrencyLimit, which comes before Retry", "has Retry, which comes before ValidateStatus",
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
