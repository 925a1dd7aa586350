import Foundation
import TestSupport
import Testing
import WaylayCore

@Suite("A further next and the response before it", .timeLimit(.minutes(5)))
struct OpenResponseTests {
  /// A transport with one connection: the next request waits until the body of the response before is read or dropped.
  final class OneConnection: Transport {
    let capabilities: TransportCapabilities = []
    let isReleased = Log<String>()
    let clock = ManualClock()
    private let free = Locked((isFree: true, waiters: Waiters()))
    private let body: @Sendable (InterceptedRequest, _ free: @escaping @Sendable () -> Void) -> MessageBody

    init(_ body: @escaping @Sendable (InterceptedRequest, @escaping @Sendable () -> Void) -> MessageBody) {
      self.body = body
    }

    func load(_ request: InterceptedRequest) async throws -> InterceptedResponse {
      while true {
        await free.wait(at: \.waiters) { $0.isFree }
        try Task.checkCancellation()
        if free.withLock({ state in exchange(&state.isFree, with: false) }) { break }
      }
      let (attempt, isReleased) = (request.attempt, isReleased)
      let body = body(request) { [weak self] in
        isReleased.add("\(attempt)")
        self?.free.change(waking: \.waiters) { $0.isFree = true }
      }
      return InterceptedResponse(
        to: request, status: request.attempt == 1 ? .serviceUnavailable : .ok, body: body, source: .network)
    }

    private func exchange(_ value: inout Bool, with new: Bool) -> Bool {
      defer { value = new }
      return value
    }
  }

  /// A body that frees its connection when it has been read, is cancelled or released.
  final class Body: AsyncSequence, AsyncIteratorProtocol, @unchecked Sendable {
    // Unchecked: used by one reader at a time.
    private var chunks: [String]
    private let hangs: Bool
    private let free: Locked<(@Sendable () -> Void)?>

    init(_ chunks: [String], hangs: Bool = false, _ free: @escaping @Sendable () -> Void) {
      (self.chunks, self.hangs, self.free) = (chunks, hangs, Locked(free))
    }

    deinit { end() }

    func makeAsyncIterator() -> Body { self }

    func next() async throws -> Data? {
      guard chunks.isEmpty else { return Data(chunks.removeFirst().utf8) }
      if hangs {
        do { try await Never.comes() } catch {
          end()
          throw error
        }
      }
      end()
      return nil
    }

    private func end() { free.withLock { $0.take() }?() }
  }

  /// Lets the second of a body pass, once it is awaited: the timers of the load itself are later.
  private func passSecond(_ transport: OneConnection) async {
    await transport.clock.awaited(within: 1)
    transport.clock.advance(by: 1)
  }

  private func registry(_ transport: OneConnection, _ load: Link) -> InterceptorRegistry {
    InterceptorRegistry(clock: transport.clock.clock, transport: transport) { load }
  }

  @Test("is discarded, so that one that needs its connection does not wait for ever")
  func example() async throws {
    let transport = OneConnection { _, free in .stream(Body(["busy"], free), length: 4) }
    let registry = registry(
      transport,
      Link(name: "Again") { request, next in
        let response = try await next(request)
        if response.status == .serviceUnavailable { return try await next(request) }
        return response
      })
    let response = try await registry.load(URLRequest(url: .example))
    #expect(response.status == .ok)
    #expect(transport.isReleased.all == ["1"])
    #expect(try await response.body.collect(upTo: 10) == Data("busy".utf8))
    registry.invalidate()
  }

  @Test("is cancelled after a second, if its body is slow", arguments: [true, false])
  func slow(isShort: Bool) async throws {
    let transport = OneConnection { request, free in
      .stream(Body(["bu"], hangs: request.attempt == 1, free), length: request.attempt == 1 ? isShort ? 4 : 1 << 20 : 2)
    }
    let isAsked = Event()
    let registry = registry(
      transport,
      Link { request, next in
        let response = try await next(request)
        guard response.status == .serviceUnavailable else { return response }
        isAsked.happen()
        return try await next(request)
      })
    let load = Task { try await registry.data(for: URLRequest(url: .example)).1.statusCode }
    await isAsked.wait()
    if isShort { await passSecond(transport) }
    #expect(try await load.value == 200)
    #expect(transport.clock.seconds < 60)
    registry.invalidate()
  }

  @Test(
    "cannot be read or returned afterwards: the error names the interceptor and says what to do",
    arguments: [true, false])
  func afterwards(isRead: Bool) async throws {
    let transport = OneConnection { _, free in .stream(Body(["busy"], free), length: 4) }
    let registry = registry(
      transport,
      Link(name: "Careless") { request, next in
        let first = try await next(request)
        _ = try await next(request)
        if isRead { _ = try await first.body.collect(upTo: 10) }
        return first
      })
    let error = await failure { try await registry.data(for: URLRequest(url: .example)) }
    let cause = try #require(error.flatMap(cause))
    #expect(cause.code == .bodyConsumed && cause.interceptor == "Careless")
    #expect(cause.message.contains("Careless called next again") && cause.message.contains("collect"))
    registry.invalidate()
  }

  @Test("is untouched if its body was collected, is in memory, or is being read by its owner")
  func kept() async throws {
    let transport = OneConnection { _, free in .stream(Body(["busy"], free), length: 4) }
    let registry = registry(
      transport,
      Link { request, next in
        var first = try await next(request)
        first.body = .data(try await first.body.collect(upTo: 10))
        _ = try await next(request)
        return first
      })
    #expect(try await registry.data(for: URLRequest(url: .example)).0 == Data("busy".utf8))
    registry.invalidate()
  }

  @Test("stays open when calls overlap: hedging discards nothing")
  func hedging() async throws {
    let arrived = Event()
    let transport = Hedged(arrived: arrived)
    let registry = InterceptorRegistry(transport: transport) {
      Link { request, next in
        async let slow = next(request)
        await arrived.wait()
        let fast = try await next(request)
        _ = try await slow
        // Not sequential to any of them: both were open at once.
        return fast
      }
    }
    #expect(try await registry.data(for: URLRequest(url: .example)).0 == Data("2".utf8))
    registry.invalidate()
  }

  @Test("stays open after a hedge until a next alone comes, which discards both")
  func afterHedging() async throws {
    let transport = OneConnection { _, free in .stream(Body(["busy"], free), length: 4) }
    let registry = registry(
      transport,
      Link { request, next in
        _ = try await withThrowingTaskGroup(of: InterceptedResponse.self) { group in
          for _ in 1...2 { group.addTask { try await next(request) } }
          defer { group.cancelAll() }
          return try await group.next()
        }
        return try await next(request)
      })
    #expect(try await registry.data(for: URLRequest(url: .example)).1.statusCode == 200)
    registry.invalidate()
  }

  @Test("stays open when hedged calls do not overlap after all, because the first one was fast")
  func fastHedging() async throws {
    let registry = InterceptorRegistry(
      transport: NestedRequestTests.Script { request in
        let body = AsyncStream<Data> { continuation in
          continuation.yield(Data("body".utf8))
          continuation.finish()
        }
        return InterceptedResponse(to: request, body: .stream(body), source: .network)
      }
    ) {
      Link { request, next in
        async let one = next(request)
        async let two = next(request)
        let (first, second) = try await (one, two)
        let bodies = try await [first.body.collect(upTo: 10), second.body.collect(upTo: 10)]
        #expect(bodies == [Data("body".utf8), Data("body".utf8)])
        return InterceptedResponse(to: request)
      }
    }
    for _ in 0..<200 { _ = try await registry.data(for: URLRequest(url: .example)) }
    registry.invalidate()
  }

  @Test("is discarded for the next call after one that was refused")
  func afterRefusal() async throws {
    let transport = OneConnection { _, free in .stream(Body(["busy"], free), length: 4) }
    let registry = registry(
      transport,
      Link { request, next in
        _ = try await next(request)
        var without = request
        without.url = URL(string: "http://api.example.com/again")!
        var consumed = request
        consumed.body = .stream(AsyncStream<Data> { $0.finish() })
        _ = try await consumed.body.collect(upTo: 1)
        let refused = try? await next(consumed)
        #expect(refused == nil)
        return try await next(without)
      })
    #expect(try await registry.data(for: URLRequest(url: .example)).1.statusCode == 200)
    registry.invalidate()
  }

  private struct Hedged: Transport {
    let capabilities: TransportCapabilities = []
    let arrived: Event
    let isAnswered = Event()

    func load(_ request: InterceptedRequest) async throws -> InterceptedResponse {
      if request.attempt == 1 {
        arrived.happen()
        await isAnswered.wait()
      } else {
        isAnswered.happen()
      }
      let body = AsyncStream<Data> { continuation in
        continuation.yield(Data("\(request.attempt)".utf8))
        continuation.finish()
      }
      return InterceptedResponse(to: request, body: .stream(body), source: .network)
    }
  }

  @Test("is not retained for it: dropping a response ends its transfer at once")
  func dropped() async throws {
    let transport = OneConnection { _, free in .stream(Body(["busy"], hangs: true, free), length: 4) }
    let registry = registry(
      transport,
      Link { request, next in
        _ = try await next(request).status
        // The turn goes on.
        #expect(transport.isReleased.all == ["1"])
        return InterceptedResponse(to: request)
      })
    _ = try await registry.data(for: URLRequest(url: .example))
    registry.invalidate()
  }

  @Test("discard() of a dripping body ends after a second")
  func discard() async throws {
    let transport = OneConnection { _, free in .stream(Body(["bu"], hangs: true, free), length: 4) }
    let isAsked = Event()
    let registry = registry(
      transport,
      Link { request, next in
        let response = try await next(request)
        isAsked.happen()
        await response.body.discard()
        return InterceptedResponse(to: request)
      })
    let load = Task { try await registry.data(for: URLRequest(url: .example)).1.statusCode }
    await isAsked.wait()
    await passSecond(transport)
    #expect(try await load.value == 200)
    #expect(transport.clock.seconds < 60)
    registry.invalidate()
  }

  @Test(
    "of a redirect does not keep the connection that its delegate needs, and an app that refuses gets its body",
    arguments: [true, false])
  func delegate(follows: Bool) async throws {
    let transport = OneConnection { _, free in .stream(Body(["mo", "ved"], free)) }
    let registry = InterceptorRegistry(transport: transport) {
      Link { request, next in
        var response = try await next(request)
        response.status = .ok
        if request.url.path == "/away" { (response.status, response.fields[.location]) = (.found, "/there") }
        return response
      }
    }
    let delegate = AskingDelegate(registry, follows: follows)
    let session = URLSession.intercepted(by: registry, delegate: delegate)
    let (data, response) = try await session.data(from: URL(string: "http://api.example.com/away")!)
    #expect(data == Data("moved".utf8))
    #expect((response as? HTTPURLResponse)?.statusCode == (follows ? 200 : 302))
    session.invalidateAndCancel()
    registry.invalidate()
  }

  private final class AskingDelegate: NSObject, URLSessionTaskDelegate, Sendable {
    private let registry: InterceptorRegistry
    private let follows: Bool

    init(_ registry: InterceptorRegistry, follows: Bool) { (self.registry, self.follows) = (registry, follows) }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      Task {
        _ = try? await registry.data(for: URLRequest(url: URL(string: "http://api.example.com/asked")!))
        completionHandler(follows ? request : nil)
      }
    }
  }

  @Test("a response that is dropped unread is released, though a child task got it and its body retains next")
  func released() async throws {
    final class Held: Sendable {
      let released: Event
      init(_ released: Event) { self.released = released }
      deinit { released.happen() }
    }
    let released = Event()
    let registry = InterceptorRegistry(
      transport: OneConnection { _, free in .stream(Body(["network"], free)) }
    ) {
      Link { request, next in
        try await withThrowingTaskGroup(of: InterceptedResponse.self) { group in
          group.addTask { try await next(request) }
          return try #require(await group.next())
        }
      }
      Link { request, next in
        let (held, chunks) = (Held(released), AsyncStream<Data> { _ in })
        return InterceptedResponse(
          to: request,
          body: .stream(replaying: {
            _ = (held, next)
            return chunks
          }))
      }
    }
    do { _ = try await registry.load(URLRequest(url: .example)) }
    await released.wait()
    registry.invalidate()
  }
}
