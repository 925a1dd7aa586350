import Foundation
import HTTPTypes
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

/// A clock for the network timeout: what is due is woken when the test says so.
final class StepTimer: Sendable {
  private struct State {
    var now: UInt64 = 1_000
    var pending: [(deadline: UInt64, wake: @Sendable () -> Void)] = []
    var waiters = Waiters()
  }

  private let state = Locked(State())

  var clock: TimerClock {
    TimerClock(now: { [self] in state.withLock { $0.now } }) { [self] deadline, wake in
      let waiters = state.withLock { state in
        state.pending.append((deadline, wake))
        return state.waiters.takeAll()
      }
      waiters.wake()
    }
  }

  /// The seconds after which somebody wants to be woken.
  var delays: [Double] { state.withLock { state in state.pending.map { Double($0.deadline - state.now) / 1e9 } } }

  /// Waits until so many want to be woken.
  func isAwaited(by count: Int = 1) async {
    while state.withLock({ $0.pending.count < count }) { await state.wait(at: \.waiters) { $0.pending.count >= count } }
  }

  func advance(by seconds: Double) {
    let due = state.withLock { state in
      state.now += UInt64(seconds * 1e9)
      let due = state.pending.filter { $0.deadline <= state.now }
      state.pending.removeAll { $0.deadline <= state.now }
      return due
    }
    for item in due { item.wake() }
  }
}

@Suite("A silent network", .timeLimit(.minutes(5)))
struct NetworkTimeoutTests {
  private let wall = Wall()
  private let timer = StepTimer()
  private let script = ScriptedNext()

  private func archive(
    _ fields: HTTPFields = [.cacheControl: "max-age=10", .eTag: "\"1\""],
    _ configure: (inout ArchiveCache.Configuration) -> Void = { _ in }
  ) async throws -> ArchiveCache {
    let archive = ArchiveCache { [wall, timer] in
      $0.now = { wall.now }
      $0.clock = timer.clock
      configure(&$0)
    }
    script.answers("old", fields)
    _ = try await archive.load(script)
    wall.advance(by: 20)
    return archive
  }

  @Test(
    "an origin that says nothing for ten seconds yields the stale answer, and the request goes on behind",
    arguments: Way.allCases)
  func silent(_ way: Way) async throws {
    let timer = timer
    let configure: (inout ArchiveCache.Configuration) -> Void = {
      $0.clock = timer.clock
      $0.networkTimeout = ArchiveCache.Configuration().networkTimeout
    }
    try await withSite(configure) { (site: Site) async throws in
      let isSilent = Locked(false)
      site.origin.reply(to: "/a") { _ in
        isSilent.withLock { $0 } ? Reply(200, [], .never) : .text("good", fields: [("Cache-Control", "max-age=10")])
      }
      try await site.get("/a", by: way)
      site.wall.advance(by: 20)
      isSilent.withLock { $0 = true }
      async let second = site.get("/a", by: way)
      await site.origin.until { $0.requests(to: "/a").count == 2 }
      await timer.isAwaited()
      #expect(timer.delays == [10])
      timer.advance(by: 10)
      let stale = try await second
      #expect(stale.status == 200 && stale.text == "good")
      #if StructuredFields
        #expect(stale["Cache-Status"]?.contains("unreachable") == true)
      #endif
    }
  }

  @Test("… within stale-if-error too, where nothing else would allow it (RFC 5861, section 4)")
  func staleIfError() async throws {
    let archive = try await archive([.cacheControl: "max-age=10, stale-if-error=1000"]) {
      $0.servesStaleWhenUnreachable = false
    }
    let gate = Latch()
    script.answers { request in
      try await gate.wait()
      return InterceptedResponse(
        to: request, fields: [.cacheControl: "max-age=10"], body: .text("new"), source: .network)
    }
    async let load = archive.load(script)
    await timer.isAwaited()
    timer.advance(by: 10)
    #expect(try await load.response.source == .staleArchive)
    // What comes late is there the next time.
    var events = archive.events().makeAsyncIterator()
    gate.open()
    while let event = await events.next(), event.kind != .stored {}
    let next = try await archive.load(script)
    #expect(next.text == "new" && next.response.source == .archive)
    #expect(script.asked.count == 2)
  }

  @Test("those who wait for one silent request all get the stale answer")
  func followers() async throws {
    let archive = try await archive()
    script.answers { _ in
      try await Latch().wait()
      throw CancellationError()
    }
    let texts = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<10 { group.addTask { try await archive.load(script).text } }
      await timer.isAwaited(by: 10)
      timer.advance(by: 10)
      return try await group.reduce(into: [String]()) { $0.append($1) }
    }
    #expect(texts == Array(repeating: "old", count: 10))
    #expect(script.asked.count == 2)
    archive.invalidate()
  }

  @Test("the wait is never more than half of the request's timeout, and as long as the mode or the request wants it")
  func limits() async throws {
    let cases: [(Double, Double?, Double)] = [
      (60, nil, 10), (8, nil, 4), (60, 2, 2), (3, 2, 1.5), (60, 0, 0), (60, .infinity, 30),
    ]
    for (timeout, own, expected) in cases {
      let archive = try await archive(configure: own)
      script.answers { _ in
        try await Latch().wait()
        throw CancellationError()
      }
      async let load = archive.load(script) { $0.timeoutInterval = timeout }
      await timer.isAwaited()
      #expect(timer.delays == [expected])
      timer.advance(by: 1000)
      #expect(try await load.text == "old")
      archive.invalidate()
      await timer.isAwaited()
      timer.advance(by: 1e6)
    }
  }

  private func archive(configure own: Double?) async throws -> ArchiveCache {
    try await archive {
      $0.networkTimeoutFor = { _, mode in mode == .online ? own : 100 }
    }
  }

  @Test("where nothing stale may be given, nobody is woken: the request's own timeout counts")
  func unchanged() async throws {
    for fields: HTTPFields in [
      [.cacheControl: "max-age=10, must-revalidate"], [.cacheControl: "no-store"], [.cacheControl: "no-cache"],
    ] {
      let archive = try await archive(fields)
      script.answers { _ in throw TransportError(.timedOut, message: "too late") }
      let error = await failure { try await archive.load(script) }
      #expect((error as? TransportError)?.code == .timedOut)
      #expect(timer.delays.isEmpty)
    }
  }

  @Test("a head ends the silence: a body that stalls afterwards is the network's")
  func head() async throws {
    let archive = try await archive()
    let (chunks, chunk) = AsyncStream.makeStream(of: Data.self)
    script.answers {
      InterceptedResponse(to: $0, fields: [.cacheControl: "max-age=10"], body: .stream(chunks), source: .network)
    }
    let url = try #require(URL(string: "http://example.com/a"))
    let response = try await archive.startLoading(InterceptedRequest(.get, url), next: script.next)
    timer.advance(by: 1000)
    chunk.yield(Data("new".utf8))
    chunk.finish()
    #expect(response.source == .network)
    #expect(try await response.body.collect(upTo: 100) == Data("new".utf8))
  }

  @Test("cancelling a load that waits ends its request")
  func cancelled() async throws {
    let archive = try await archive()
    let ended = Latch()
    script.answers { _ in
      defer { ended.open() }
      try await Latch().wait()
      throw CancellationError()
    }
    let load = Task { try await archive.load(script).text }
    await script.wasAsked(2)
    load.cancel()
    try await ended.wait()
    let error = await failure { try await load.value }
    #expect(error is CancellationError)
  }

  @Test("what goes on behind a stale answer is given up, too")
  func givenUp() async throws {
    let archive = try await archive { $0.backgroundTimeout = 30 }
    let ended = Latch()
    script.answers { _ in
      defer { ended.open() }
      try await Latch().wait()
      throw CancellationError()
    }
    async let load = archive.load(script)
    await timer.isAwaited()
    timer.advance(by: 10)
    #expect(try await load.text == "old")
    await timer.isAwaited()
    timer.advance(by: 30)
    try await ended.wait()
  }

  @Test(
    "what an interceptor throws for reasons of its own is not hidden behind a stale answer; a network that is not there is"
  )
  func links() async throws {
    struct Broken: Error {}
    let archive = try await archive()
    let own: [any Error] = [
      Broken(), URLError(.userAuthenticationRequired), URLError(.cannotParseResponse), URLError(.resourceUnavailable),
      ArchiveError(.notStored, "another one's"), TransportError(.unsupportedURL, message: "no such scheme"),
    ]
    for error in own {
      script.answers { _ in throw error }
      let seen = await failure { try await archive.load(script) }
      #expect(try type(of: #require(seen)) == type(of: error))
    }
    let networks: [any Error] = [
      TransportError(.cannotConnectToHost, message: "refused"),
      TransportError(.serverCertificateUntrusted, message: "a portal"),
      URLError(.notConnectedToInternet), URLError(.timedOut), URLError(.cannotFindHost),
      URLError(.unknown, userInfo: [NSUnderlyingErrorKey: TransportError(.networkConnectionLost, message: "lost")]),
    ]
    for error in networks {
      script.answers { _ in throw error }
      #expect(try await archive.load(script).response.source == .staleArchive)
    }
  }
}
