import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite("Deadlines, first origins and waits", .timeLimit(.minutes(5)))
struct DeadlineTests {
  @Test(
    "a deadline that an interceptor sets ends the whole load: an interceptor that never answers, a body that keeps coming"
  )
  func deadline() async throws {
    for isBody in [false, true] {
      let clock = ManualClock()
      let (never, running) = (Event(), Event())
      let pipe = AsyncStream.makeStream(of: Data.self)
      let registry = InterceptorRegistry(clock: clock.clock) {
        Intercept(request: { $0.options.deadline = clock.instant + .seconds(10) })
        Intercept("Slow") { request, _ in
          running.happen()
          if !isBody { await never.wait() }
          return InterceptedResponse(to: request, body: .stream(pipe.stream))
        }
      }
      let load = Task { try await registry.data(for: URLRequest(url: .example)) }
      await running.wait()
      if isBody { pipe.continuation.yield(Data("a".utf8)) }
      clock.advance(by: 11)
      let error = await failure { try await load.value.0 }
      #expect((error as? URLError)?.code == .timedOut)
      #expect(error.flatMap(cause)?.message.contains("deadline") == true, "\(String(describing: error))")
    }
  }

  @Test("a deadline is a time of the registry's clock, however far that is from the machine's")
  func injectedClock() async throws {
    let clock = ManualClock()
    clock.advance(by: 5000)
    let (running, answer) = (Event(), Event())
    let registry = InterceptorRegistry(clock: clock.clock) {
      Intercept("Slow") { request, next in
        var request = request
        request.options.deadline = clock.instant + .seconds(10)
        return try await next(request)
      }
      Intercept("Waits") { request, next in
        await next.waiting {
          running.happen()
          await answer.wait()
        }
        return InterceptedResponse(to: request)
      }
    }
    let load = Task { try await registry.data(for: URLRequest(url: .example)).1.statusCode }
    await running.wait()
    clock.advance(by: 9)
    answer.happen()
    #expect(try await load.value == 200)
  }

  @Test("a deadline that is over when it is set ends the load at once")
  func past() async throws {
    let clock = ManualClock()
    clock.advance(by: 100)
    let never = Event()
    let registry = InterceptorRegistry(clock: clock.clock) {
      Intercept(request: { $0.options.deadline = clock.instant - .seconds(1) })
      Intercept("Never") { request, _ in
        await never.wait()
        return InterceptedResponse(to: request)
      }
    }
    let error = await failure { try await registry.data(for: URLRequest(url: .example)).0 }
    #expect((error as? URLError)?.code == .timedOut)
    #expect(error.flatMap(cause)?.message.contains("deadline") == true, "\(String(describing: error))")
  }

  @Test("a deadline holds for later hops and attempts, and can only be made earlier")
  func laterHops() async throws {
    try await withOrigin { origin in
      let seen = Log<ContinuousClock.Instant?>()
      let first = ContinuousClock.now + .seconds(100)
      let registry = InterceptorRegistry {
        Intercept("once") { request, next in
          seen.add(request.options.deadline)
          var request = request
          if request.hop == 0 { request.options.deadline = first }
          if request.hop == 1 { request.options.deadline = first + .seconds(50) }
          _ = try await next(request)
          request.urlRequest = request.urlRequest
          #expect(request.options.deadline != nil)
          return try await next(request)
        }
      }
      let target = origin.url("/redirect/302").absoluteString + "?to=/redirect/302%3Fto=/echo"
      _ = try await registry.data(for: URLRequest(url: try #require(URL(string: target))))
      #expect(seen.all == [nil, first, first])
    }
  }

  @Test("time that an interceptor waits on purpose is not idle time; a deadline counts it")
  func waits() async throws {
    let clock = ManualClock()
    let (begun, turn) = (Event(), Event())
    let registry = InterceptorRegistry(clock: clock.clock) {
      Intercept("Queue") { request, next in
        await next.waiting {
          begun.happen()
          await turn.wait()
        }
        return InterceptedResponse(to: request)
      }
    }
    var request = URLRequest(url: .example)
    request.timeoutInterval = 10
    let load = Task { [request] in try await registry.data(for: request).1.statusCode }
    await begun.wait()
    for _ in 1...5 { clock.advance(by: 9) }
    turn.happen()
    #expect(try await load.value == 200)
  }

  @Test("an interceptor sees the first URL, from which it can say whether it is still at the first origin")
  func firstOrigin() async throws {
    try await withAway { origin, other in
      let seen = Log<String>()
      let registry = InterceptorRegistry {
        Intercept(request: { seen.add("\($0.firstURL.path) \($0.firstURL.hasSameOrigin(as: $0.url)) \($0.hop)") })
      }
      for isDirect in [true, false] {
        let url = origin.url("/away")
        if isDirect {
          _ = try await registry.data(for: URLRequest(url: url))
        } else {
          _ = try await URLSession.intercepted(by: registry).data(from: url)
        }
      }
      #expect(seen.all == ["/away true 0", "/away false 1", "/away true 0", "/away false 1"])
    }
  }

  @Test("an interceptor that calls next again is in the events")
  func retries() async throws {
    try await withOrigin { origin in
      let registry = InterceptorRegistry {
        Intercept("twice") { request, next in
          _ = try await next(request)
          return try await next(request)
        }
      }
      let events = registry.events()
      _ = try await registry.data(for: URLRequest(url: origin.url("/echo")))
      registry.invalidate()
      let kinds = await events.reduce(into: []) { $0.append($1.kind) }
      #expect(kinds == [.started, .retried, .responded, .finished])
    }
  }
}
