import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite("Bad use gets a clear error that names the interceptor", .timeLimit(.minutes(5)))
struct MisuseTests {
  private struct Trouble: Error {}

  /// The error of a load through both ways in: a session and a direct load.
  private func failures(
    _ link: any RequestInterceptor, request: URLRequest = URLRequest(url: .example)
  ) async -> [any Error] {
    let registry = InterceptorRegistry { link }
    let session = URLSession.intercepted(by: registry)
    let errors = [
      await failure { try await session.data(for: request) }, await failure { try await registry.data(for: request) },
    ]
    return errors.compactMap { $0 }
  }

  @Test("an error that is not a URLError", arguments: [true, false])
  func foreignError(inline: Bool) async throws {
    let errors = await failures(Link.answering("Clumsy", inline: inline) { _ in throw Trouble() })
    #expect(errors.count == 2)
    for error in errors {
      let error = try #require(error as? URLError)
      #expect(error.userInfo[NSUnderlyingErrorKey] is Trouble)
      #expect(error.localizedDescription.contains("Clumsy"))
      #expect(error.failingURL == .example)
    }
  }

  @Test("a foreign error that an outer interceptor passes on is still the inner one's")
  func attribution() async throws {
    let registry = InterceptorRegistry {
      Link.pass("Outer")
      Link(name: "Inner") { _, _ in throw Trouble() }
    }
    let error = await failure { try await registry.data(for: URLRequest(url: .example)) }
    #expect(error?.localizedDescription.hasPrefix("Inner") == true)
  }

  @Test("a failure is the outer interceptor's when it throws another error of the same kind in place of an inner one")
  func replacedError() async throws {
    struct Refusal: Error { let reason: String }
    for (replaced, culprit) in [(false, "Inner"), (true, "Outer")] {
      let registry = InterceptorRegistry {
        Intercept("Outer") { request, next in
          do {
            return try await next(request)
          } catch  where error is Refusal {
            if replaced { throw Refusal(reason: "both have failed") }
            throw error
          }
        }
        Intercept("Inner") { _, _ in throw Refusal(reason: "no") }
      }
      let error = await failure { try await registry.data(for: URLRequest(url: .example)) }
      #expect(error?.localizedDescription.hasPrefix(culprit) == true, "\(String(describing: error))")
    }
  }

  @Test("a URLError passes as it is, with the failing URL added (rule 5)")
  func urlError() async throws {
    for error in await failures(Link { _, _ in throw URLError(.notConnectedToInternet) }) {
      let error = try #require(error as? URLError)
      #expect(error.code == .notConnectedToInternet)
      #expect(error.failingURL == .example)
    }
  }

  @Test("next after return")
  func nextAfterReturn() async throws {
    let kept = Locked<(InterceptedRequest, InterceptorChain.Next)?>(nil)
    let registry = InterceptorRegistry {
      Link(name: "Keeper") { request, next in
        kept.withLock { $0 = (request, next) }
        return InterceptedResponse(to: request)
      }
    }
    _ = try await registry.data(for: URLRequest(url: .example))
    let (request, next) = try #require(kept.withLock { $0 })
    let error = await failure { try await next(request) }
    #expect(error.flatMap(cause)?.code == .nextAfterReturn)
    #expect(error.flatMap(cause)?.interceptor == "Keeper")
  }

  @Test("a status that no response can have", arguments: [0, 99, 100, 199])
  func status(code: Int) async throws {
    let errors = await failures(
      Link(name: "Odd") { request, _ in InterceptedResponse(to: request, status: HTTPResponse.Status(code: code)) })
    #expect(errors.count == 2)
    for error in errors {
      #expect(cause(error)?.code == .invalidResponse)
      #expect(cause(error)?.message.contains("Odd") == true)
    }
  }

  @Test("a body over the collect limit")
  func collectLimit() async throws {
    let link = Link(name: "Collector") { request, next in
      let response = InterceptedResponse(to: request, body: .text("12345"))
      _ = try await response.body.collect(upTo: 4)
      return response
    }
    for error in await failures(link) {
      #expect((error as? URLError)?.code == .dataLengthExceedsMaximum)
      #expect(cause(error)?.code == .bodyTooLarge)
      #expect(cause(error)?.interceptor == "Collector")
    }
    let stream = MessageBody.stream(replaying: {
      AsyncStream<Data> {
        $0.yield(Data(count: 10)); $0.finish()
      }
    })
    let error = await failure { try await stream.collect(upTo: 9) }
    #expect(error.flatMap(cause)?.code == .bodyTooLarge)
    #expect(try await stream.collect(upTo: 10).count == 10)
  }

  @Test("a request without a URL, from the app and from an interceptor")
  func withoutURL() async throws {
    var request = URLRequest(url: .example)
    request.url = nil
    let registry = InterceptorRegistry { Link.answer("x") }
    let direct = await failure { [request] in try await registry.data(for: request) }
    #expect((direct as? URLError)?.code == .badURL)
    #expect(direct.flatMap(cause)?.code == .invalidRequest)
    let eraser = InterceptorRegistry {
      Link(name: "Eraser") { request, next in
        var request = request
        request.urlRequest.url = nil
        return try await next(request)
      }
      Link.answer("x")
    }
    let error = await failure { try await eraser.data(for: URLRequest(url: .example)) }
    #expect(error.flatMap(cause)?.interceptor == "Eraser")
  }

  @Test("never returning: the request's timeout ends the load and names who was running", arguments: [true, false])
  func neverReturning(listens: Bool) async throws {
    let clock = ManualClock()
    let started = Log<Event>()
    let registry = InterceptorRegistry(clock: clock.clock) {
      Link(name: "Sleeper") { request, _ in
        started.all.last?.happen()
        let never = Event()
        if listens {
          await never.wait()
        } else {
          await Task.detached { await never.wait() }.value
        }
        throw CancellationError()
      }
    }
    let session = URLSession.intercepted(by: registry)
    var request = URLRequest(url: .example)
    request.timeoutInterval = 10
    for isDirect in [true, false] {
      let running = Event()
      started.add(running)
      let load = Task { [request] in
        await failure { isDirect ? try await registry.data(for: request).0 : try await session.data(for: request).0 }
      }
      await running.wait()
      clock.advance(by: 11)
      let error = try #require(await load.value)
      #expect((error as? URLError)?.code == .timedOut)
      #expect(cause(error)?.code == .timedOut)
      #expect(cause(error)?.interceptor == "Sleeper")
      let message = cause(error)?.message ?? ""
      #expect(message.contains("nothing happened for 10 s") && !message.contains("whole load"), "\(message)")
    }
  }

  @Test("the configuration's timeout counts where the request has none of its own (P10, P15)")
  func configurationTimeout() async throws {
    let registry = InterceptorRegistry {
      Link { _, _ in
        await Event().wait()
        throw CancellationError()
      }
    }
    let session = URLSession.intercepted(by: registry) { $0.timeoutIntervalForRequest = 0.05 }
    #expect(await failureCode { try await session.data(from: .example) } == .timedOut)
  }

  @Test(
    "the timeout is idle-based: a body that keeps coming outlives it, one that stops does not (P15)",
    .enabled(if: Platform.deliversEachChunk, "Apple's loading system may put chunks together"))
  func idleTimeout() async throws {
    let clock = ManualClock()
    let pipe = AsyncStream.makeStream(of: Data.self)
    let registry = InterceptorRegistry(clock: clock.clock) {
      Link { request, _ in InterceptedResponse(to: request, body: .stream(pipe.stream)) }
    }
    var request = URLRequest(url: .example)
    request.timeoutInterval = 10
    let recorder = Recorder()
    URLSession.intercepted(by: registry, delegate: recorder).dataTask(with: request).resume()
    for number in 1...5 {
      pipe.continuation.yield(Data("\(number)".utf8))
      _ = await recorder.entries(1 + number)
      clock.advance(by: 9)
    }
    #expect(recorder.entries.count == 6)
    clock.advance(by: 2)
    #expect(await recorder.entries(7).last == .completed(.timedOut))
  }

  @Test(
    "the resource timeout does not care for progress",
    .enabled(if: Platform.deliversEachChunk, "Apple's loading system may put chunks together"))
  func resourceTimeout() async throws {
    let clock = ManualClock()
    let pipe = AsyncStream.makeStream(of: Data.self)
    let registry = InterceptorRegistry(clock: clock.clock) {
      Link { request, _ in InterceptedResponse(to: request, body: .stream(pipe.stream)) }
    }
    let recorder = Recorder()
    let session = URLSession.intercepted(by: registry, delegate: recorder) { $0.timeoutIntervalForResource = 30 }
    session.dataTask(with: .example).resume()
    for number in 1...2 {
      pipe.continuation.yield(Data("\(number)".utf8))
      _ = await recorder.entries(1 + number)
      clock.advance(by: 14)
    }
    #expect(recorder.entries.count == 3)
    clock.advance(by: 3)
    #expect(await recorder.entries(4).last == .completed(.timedOut))
  }

  @Test("a load that took too long as a whole says that, and not that nothing happened")
  func resourceTimeoutMessage() async throws {
    let clock = ManualClock()
    let started = Event()
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForResource = 30
    let registry = InterceptorRegistry(clock: clock.clock, configuration: configuration) { Link.waiting(started) }
    let load = Task { await failure { try await registry.data(for: URLRequest(url: .example)) } }
    await started.wait()
    clock.advance(by: 31)
    let message = cause(try #require(await load.value))?.message ?? ""
    #expect(message.contains("the whole load took longer than 30 s"), "\(message)")
    #expect(message.contains("timeoutIntervalForResource") && !message.contains("nothing happened"), "\(message)")
  }

  @Test(
    "a suspended task does not time out; once resumed it does",
    .enabled(if: Platform.isLinux, "a load on Apple platforms is not told of a pause"))
  func suspendedTask() async throws {
    let clock = ManualClock()
    let started = Event()
    let registry = InterceptorRegistry(clock: clock.clock) { Link.waiting(started) }
    let recorder = Recorder()
    var request = URLRequest(url: .example)
    request.timeoutInterval = 10
    let task = URLSession.intercepted(by: registry, delegate: recorder).dataTask(with: request)
    task.resume()
    await started.wait()
    task.suspend()
    // The pause reaches the load on the loader's queue, which another task's whole life comes after.
    _ = try await URLSession.intercepted(by: InterceptorRegistry { Link.answer("x") }).text(from: .example)
    clock.advance(by: 100)
    #expect(recorder.entries.isEmpty)
    task.resume()
    _ = try await URLSession.intercepted(by: InterceptorRegistry { Link.answer("x") }).text(from: .example)
    clock.advance(by: 11)
    #expect(await recorder.entries(1) == [.completed(.timedOut)])
  }

  @Test("a body that stops coming times out, in a session and in a direct load")
  func stalledBody() async throws {
    try await withOrigin { origin in
      var request = URLRequest(url: origin.url("/gate/stalled"))
      request.timeoutInterval = 0.1
      let registry = InterceptorRegistry { Link.pass() }
      let session = URLSession.intercepted(by: registry)
      let stalled = request
      let inSession = await failureCode { try await session.data(for: stalled) }
      #expect(inSession == .timedOut)
      let direct = await failureCode { try await registry.data(for: stalled) }
      #expect(direct == .timedOut)
    }
  }

  @Test("a direct load whose time is up at any moment fails, also between its head and its body")
  func timeUpAtAnyMoment() async throws {
    for moment in 1...12 {
      let clock = LeapingClock(at: moment)
      let registry = InterceptorRegistry(clock: clock.clock) {
        Link { request, _ in
          clock.begin()
          return InterceptedResponse(to: request, body: .stream(AsyncStream<Data> { _ in }))
        }
      }
      let events = registry.events()
      let code = await failureCode {
        let response = try await registry.load(URLRequest(url: .example))
        clock.leap()
        return (try await response.body.collect(upTo: 10), response.head)
      }
      #expect(code == .timedOut, "at look \(moment)")
      withExtendedLifetime(events) {}
    }
  }

  @Test("an answer after cancellation is dropped, and the event says whose it was")
  func answerAfterCancellation() async throws {
    let started = Event()
    let goOn = Event()
    let registry = InterceptorRegistry {
      Link(name: "Stubborn") { request, _ in
        started.happen()
        await goOn.wait()
        return InterceptedResponse(to: request, body: .text("too late"))
      }
    }
    let events = registry.events()
    let recorder = Recorder()
    let task = URLSession.intercepted(by: registry, delegate: recorder).dataTask(with: .example)
    task.resume()
    await started.wait()
    task.cancel()
    #expect(await recorder.entries(1) == [.completed(.cancelled)])
    goOn.happen()
    for await event in events where event.kind == .responseDropped {
      #expect((event.error as? WaylayError)?.code == .respondedAfterCancellation)
      #expect((event.error as? WaylayError)?.interceptor == "Stubborn")
      break
    }
    #expect(recorder.entries == [.completed(.cancelled)])
  }
}

/// A clock that leaps beyond every timeout when it is looked at for the n-th time, and wakes who waits for that inside
/// the very look.
private final class LeapingClock: Sendable {
  private struct State {
    var looks: Int?
    var now: UInt64 = 1
    var wakes: [@Sendable () -> Void] = []
  }

  private let state = Locked(State())
  private let moment: Int

  init(at moment: Int) {
    self.moment = moment
  }

  /// Begins to count.
  func begin() {
    state.withLock { $0.looks = 0 }
  }

  func leap() {
    let wakes = state.withLock { state in
      state.looks = nil
      state.now = 1 << 50
      defer { state.wakes = [] }
      return state.wakes
    }
    for wake in wakes { wake() }
  }

  var clock: TimerClock {
    TimerClock {
      let isTime = self.state.withLock { state in
        guard let looks = state.looks else { return false }
        state.looks = looks + 1
        return looks + 1 == self.moment
      }
      if isTime { self.leap() }
      return self.state.withLock { $0.now }
    } schedule: { _, wake in
      self.state.withLock { $0.wakes.append(wake) }
    }
  }
}
