import Foundation
import TestSupport
import Testing
import WaylayCore
import WaylayMocks

@Suite("The time that answers take", .timeLimit(.minutes(10))) struct TimingTests {
  @Test("a delay is waited for on the mock's clock, and not a moment longer")
  func delay() async throws {
    let clock = MockClock()
    let log = Recorder()
    let session = Answering(.text("late").delay(.seconds(30)), clock: clock).session(delegate: log)
    defer { session.invalidateAndCancel() }
    session.dataTask(with: .mocked).resume()
    try await clock.waitForSleepers()
    clock.advance(by: .milliseconds(29_999))
    #expect(clock.sleepers == 1)
    #expect(log.entries.isEmpty)
    clock.advance(by: .milliseconds(1))
    #expect(await log.completed() == [.response(200), .data("late"), .completed(nil)])
  }

  @Test("cancelling during a delay ends it at once, leaves no timer and delivers nothing later")
  func cancelDuringDelay() async throws {
    let clock = MockClock()
    let log = Recorder()
    let session = Answering(.text("late").delay(.seconds(30)), clock: clock).session(delegate: log)
    defer { session.invalidateAndCancel() }
    let task = session.dataTask(with: .mocked)
    task.resume()
    try await clock.waitForSleepers()
    task.cancel()
    #expect(await log.completed() == [.completed(.cancelled)])
    while clock.sleepers > 0 { await Task.yield() }
    clock.advance(by: .seconds(60))
    // Another load goes the whole way after it: what the first one had left would have come before.
    let other = session.dataTask(with: .mocked)
    other.resume()
    try await clock.waitForSleepers()
    clock.advance(by: .seconds(30))
    #expect(await log.entries(4) == [.completed(.cancelled), .response(200), .data("late"), .completed(nil)])
  }

  @Test(
    "cancelling while the body trickles ends it at once",
    .enabled(if: Platform.deliversEachChunk, "Apple's loading system may put chunks together"))
  func cancelDuringBody() async throws {
    let clock = MockClock()
    let log = Recorder()
    let session = Answering(.text("0123456789").bandwidth(bytesPerSecond: 1), clock: clock).session(delegate: log)
    defer { session.invalidateAndCancel() }
    let task = session.dataTask(with: .mocked)
    task.resume()
    for count in 1...3 {
      try await clock.waitForSleepers()
      clock.advance(by: .seconds(1))
      _ = await log.entries(count + 1)
    }
    try await clock.waitForSleepers()
    task.cancel()
    #expect(await log.completed() == [.response(200), .data("0"), .data("1"), .data("2"), .completed(.cancelled)])
    while clock.sleepers > 0 { await Task.yield() }
    clock.advance(by: .seconds(60))
    #expect(log.entries.count == 5)
  }

  @Test("a direct load waits, and is cancelled, in the same way")
  func direct() async throws {
    let clock = MockClock()
    let registry = InterceptorRegistry { Answering(.text("late").delay(.seconds(5)), clock: clock) }
    let load = Task { try await registry.data(for: URLRequest(url: .mocked)).0 }
    try await clock.waitForSleepers()
    clock.advance(by: .seconds(5))
    #expect(try await load.value == Data("late".utf8))
    let cancelled = Task { try await registry.data(for: URLRequest(url: .mocked)).0 }
    try await clock.waitForSleepers()
    cancelled.cancel()
    let error = await #expect(throws: URLError.self) { try await cancelled.value }
    #expect(error?.code == .cancelled)
    while clock.sleepers > 0 { await Task.yield() }
  }

  @Test("an answer that never comes waits for the cancellation, without a timer")
  func never() async throws {
    let clock = MockClock()
    let log = Recorder()
    let session = Answering(.never, clock: clock).session(delegate: log)
    defer { session.invalidateAndCancel() }
    let task = session.dataTask(with: .mocked)
    task.resume()
    #expect(clock.sleepers == 0)
    task.cancel()
    #expect(await log.completed() == [.completed(.cancelled)])
  }

  @Test("an answer that never comes is ended by the load's own timeout")
  func timeout() async throws {
    let state = Locked<(now: UInt64, wake: (@Sendable () -> Void)?)>((1, nil))
    let isWatched = Promise<Void>()
    let clock = TimerClock(now: { state.withLock { $0.now } }) { _, wake in
      state.withLock { $0.wake = wake }
      isWatched.settle(.success(()))
    }
    let registry = InterceptorRegistry(clock: clock) { Answering(.never) }
    let load = Task { try await registry.data(for: URLRequest(url: .mocked)) }
    try await isWatched.value()
    state.withLock { $0.now += 61_000_000_000 }
    state.withLock { $0.wake }?()
    let error = await #expect(throws: URLError.self) { try await load.value }
    #expect(error?.code == .timedOut)
  }

  @Test("64 delayed and streamed answers in flight, many in all, are each the right one", .heavy)
  func many() async throws {
    let count = Sizes.of(32, small: 8)
    let answering = Answering { request in
      let text = request.urlRequest.value(forHTTPHeaderField: "X-Number") ?? ""
      return switch request.index % 4 {
      case 0: .text(text).delay(.seconds(request.index % 9))
      case 1: .chunks(["<", text, ">"], every: .seconds(1))
      case 2: .text(text).delay(.seconds(1)).bandwidth(bytesPerSecond: 20)
      default: .text(text).network(.threeG)
      }
    }
    let session = answering.session()
    defer { session.invalidateAndCancel() }
    let wrong = try await withThrowingTaskGroup(of: Int.self) { group in
      for worker in 0..<64 {
        group.addTask {
          var wrong = 0
          for number in 0..<count {
            let text = "\(worker)-\(number)"
            let (data, _) = try await session.data(for: .mocked("GET", ["X-Number": text]))
            if ![text, "<\(text)>"].contains(String(decoding: data, as: UTF8.self)) { wrong += 1 }
          }
          return wrong
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(wrong == 0)
    #expect(answering.calls.withLock { $0 } == 64 * count)
  }

  @Test("the first byte and the last have times of their own")
  func total() async throws {
    let clock = MockClock(isAutomatic: true)
    let response = try await MockResponse.text("0123456789").delay(.seconds(1)).duration(.seconds(6)).direct(
      clock: clock)
    #expect(clock.now.offset == .seconds(1))
    var times: [Duration] = []
    for try await chunk in response.body {
      #expect(chunk.count == 1)
      times.append(clock.now.offset)
    }
    #expect(times.count == 10)
    #expect(times.first.map { abs($0.inMilliseconds - 1500) < 5 } == true)
    #expect(clock.now.offset.inMilliseconds == 6000)
  }

  @Test("an empty body, and one of unknown length, end at the total time too")
  func totalOfOthers() async throws {
    for response in [MockResponse.status(204), .stream(AsyncStream<Data> { $0.finish() })] {
      let clock = MockClock(isAutomatic: true)
      let answer = try await response.duration(.seconds(3)).direct(clock: clock)
      _ = try await answer.body.collect(upTo: 10)
      #expect(clock.now.offset == .seconds(3))
    }
  }

  @Test(
    "a body comes at the bandwidth, in pieces of 50 ms",
    arguments: [(1000, 100.0, 200), (100_000, 1e6, 2), (10, 1e9, 1), (3, 0.5, 3)])
  func bandwidth(length: Int, rate: Double, pieces: Int) async throws {
    let clock = MockClock(isAutomatic: true)
    let response = try await MockResponse.data(Data(count: length)).bandwidth(bytesPerSecond: rate).direct(clock: clock)
    #expect(clock.now.offset == .zero)
    var count = 0
    for try await _ in response.body { count += 1 }
    #expect(count == pieces)
    #expect(abs(clock.now.offset.inMilliseconds - Double(length) / rate * 1000) < 1)
  }

  @Test("the chunks of a stream come with pauses between them")
  func pauses() async throws {
    let clock = MockClock(isAutomatic: true)
    let response = try await MockResponse.chunks(["a", "b", "c"], every: .seconds(2)).delay(.seconds(1)).direct(
      clock: clock)
    var times: [Duration] = []
    for try await _ in response.body { times.append(clock.now.offset) }
    #expect(times == [.seconds(1), .seconds(3), .seconds(5)])
  }

  @Test(
    "a network adds its latency both ways, the time of the upload, and that of the body",
    arguments: [
      (NetworkProfile.threeG, 0, 97_500, 1200.0), (.threeG, 41_250, 0, 1200),
      (NetworkProfile(latency: .milliseconds(10), downstream: 100, upstream: 50), 50, 100, 2020),
    ])
  func networks(network: NetworkProfile, sent: Int, received: Int, milliseconds: Double) async throws {
    let clock = MockClock(isAutomatic: true)
    var request = URLRequest.mocked("POST")
    request.httpBody = Data(count: sent)
    let response = try await MockResponse.data(Data(count: received)).network(network).direct(to: request, clock: clock)
    _ = try await response.body.collect(upTo: received)
    #expect(abs(clock.now.offset.inMilliseconds - milliseconds) < 2)
  }

  @Test("lost packets are sent again after a timeout, as the seed has it")
  func loss() async throws {
    func time(_ network: NetworkProfile, seed: UInt64) async throws -> Double {
      let clock = MockClock(isAutomatic: true)
      let response = try await MockResponse.data(Data(count: 146_000)).network(network).direct(clock: clock, seed: seed)
      _ = try await response.body.collect(upTo: 146_000)
      return clock.now.offset.inMilliseconds
    }
    let wifi = NetworkProfile("Wi-Fi", latency: .milliseconds(1), downstream: 5_000_000, upstream: 4_125_000)
    let without = try await time(wifi, seed: 1)
    let lossy = try await time(wifi.loss(0.2), seed: 1)
    // About 20 of 100 packets, 200 ms each.
    #expect((1000...8000).contains(lossy - without))
    #expect(try await time(wifi.loss(0.2), seed: 1) == lossy)
    #expect(try await time(wifi.loss(0.2), seed: 2) != lossy)
    let task = Task { try await MockResponse.text("x").network(wifi.loss(1)).direct() }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test("extreme times do not overflow")
  func extremes() async throws {
    for response in [
      MockResponse.text("xy").delay(.seconds(Int64.max)),
      .text("xy").bandwidth(bytesPerSecond: .leastNonzeroMagnitude),
      .text("xy").duration(.seconds(Int64.max)), .chunks(["x", "y"], every: .seconds(Int64.max)),
      .text("xy").network(NetworkProfile(latency: .seconds(Int64.max), downstream: 1e-300, upstream: 1e300)),
    ] {
      #expect(try await response.direct().text == "xy")
    }
  }

  @Test("the clock of the machine works as well")
  func machine() async throws {
    let start = ContinuousClock.now
    #expect(try await MockResponse.text("x").delay(.milliseconds(2)).answer(clock: ContinuousClock()).text == "x")
    #expect(ContinuousClock.now - start >= .milliseconds(2))
  }

  @Test("a computed response is computed when the request arrives, before its delay")
  func computed() async throws {
    let clock = MockClock(isAutomatic: true)
    let computedAt = Locked<Duration?>(nil)
    let mock = MockInterceptor(.init(clock: clock)) {
      Stub(.get, "/x") {
        computedAt.withLock { $0 = clock.now.offset }
        return .text("x").delay(.seconds(2))
      }
    }
    #expect(try await mock.text("GET", "https://a.b/x") == "x")
    #expect(computedAt.withLock { $0 } == .zero)
    #expect(clock.now.offset == .seconds(2))
  }
}

extension Duration {
  var inMilliseconds: Double {
    Double(components.seconds) * 1000 + Double(components.attoseconds) * 1e-15
  }
}
