import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite("Requests that interceptors make", .timeLimit(.minutes(5)))
struct NestedRequestTests {
  /// How an interceptor makes a request.
  enum Way: CaseIterable, Sendable {
    case direct, session

    func text(_ request: URLRequest, _ registry: InterceptorRegistry, _ session: URLSession) async throws -> String {
      let data =
        self == .direct ? try await registry.data(for: request).0 : try await session.data(for: request).0
      return String(decoding: data, as: UTF8.self)
    }
  }

  /// A registry whose chain can make requests of its own.
  final class Bench: Sendable {
    let log = Log<String>()
    private let made = Locked<(registry: InterceptorRegistry, session: URLSession)?>(nil)

    var registry: InterceptorRegistry { made.withLock { $0! }.registry }
    var session: URLSession { made.withLock { $0! }.session }

    init(transport: (any Transport)? = nil, @InterceptorBuilder _ interceptors: (Bench) -> [any RequestInterceptor]) {
      let transport = transport ?? Script { InterceptedResponse(to: $0, body: .text("network"), source: .network) }
      let registry = InterceptorRegistry(transport: transport) { interceptors(self) }
      made.withLock { $0 = (registry, URLSession.intercepted(by: registry)) }
    }

    deinit { registry.invalidate() }

    /// An interceptor that logs, and by default does not take part in nested requests.
    func watch(_ name: String, takesPart: Bool = false) -> any RequestInterceptor {
      Participant(takesPartInNestedRequests: takesPart) { [log] request, next in
        log.add("\(name) \(request.url.path)")
        return try await next(request)
      }
    }

    func text(_ path: String, _ way: Way = .direct) async throws -> String {
      try await way.text(Self.request(path), registry, session)
    }

    static func request(_ path: String) -> URLRequest {
      URLRequest(url: URL(string: "http://api.example.com\(path)")!)
    }
  }

  struct Participant: RequestInterceptor {
    var takesPartInNestedRequests = true
    let load: @Sendable (InterceptedRequest, InterceptorChain.Next) async throws -> InterceptedResponse

    func startLoading(
      _ request: InterceptedRequest, next: InterceptorChain.Next
    ) async throws -> InterceptedResponse { try await load(request, next) }
  }

  /// A transport from a closure.
  struct Script: Transport {
    let capabilities: TransportCapabilities = []
    let answer: @Sendable (InterceptedRequest) async throws -> InterceptedResponse

    func load(_ request: InterceptedRequest) async throws -> InterceptedResponse { try await answer(request) }
  }

  @Test(
    "run through the interceptors that take part in nested requests, wherever they are in the chain",
    arguments: Way.allCases)
  func participants(way: Way) async throws {
    let bench = Bench { bench in
      bench.watch("first", takesPart: true)
      bench.watch("second")
      Link { [weak bench] request, next in
        if request.url.path == "/api", let bench { _ = try await bench.text("/token", way) }
        return try await next(request)
      }
      bench.watch("fourth", takesPart: true)
      bench.watch("fifth")
    }
    #expect(try await bench.text("/api") == "network")
    #expect(
      bench.log.all == ["first /api", "second /api", "first /token", "fourth /token", "fourth /api", "fifth /api"])
  }

  @Test("are answered by an interceptor that takes part, on each hop", arguments: Way.allCases)
  func hops(way: Way) async throws {
    let bench = Bench { bench in
      Link { [weak bench] request, next in
        guard request.url.path == "/api", let bench else { return try await next(request) }
        return InterceptedResponse(to: request, body: .text(try await bench.text("/token", way)))
      }
      bench.watch("outside")
      Participant { request, next in
        switch request.url.path {
        case "/token": InterceptedResponse(to: request, status: .found, fields: [.location: "/there"])
        case "/there": InterceptedResponse(to: request, body: .text("answered"))
        default: try await next(request)
        }
      }
    }
    #expect(try await bench.text("/api") == "answered")
    #expect(bench.log.all.isEmpty)
  }

  @Test("stay nested on each hop, though the load around them has ended")
  func outlived() async throws {
    let (isOver, hasBegun, hasEnded) = (Event(), Event(), Promise<String>())
    let bench = Bench(
      transport: Script { request in
        guard request.url.path == "/token" else { return InterceptedResponse(to: request, source: .network) }
        hasBegun.happen()
        await isOver.wait()
        return InterceptedResponse(to: request, status: .found, fields: [.location: "/there"], source: .network)
      }
    ) { bench in
      Link { [weak bench] request, next in
        guard request.url.path == "/api", let bench else { return try await next(request) }
        Task {
          do { hasEnded.settle(.success(try await bench.text("/token"))) } catch { hasEnded.settle(.failure(error)) }
        }
        await hasBegun.wait()
        return InterceptedResponse(to: request)
      }
      bench.watch("outside")
      bench.watch("inside", takesPart: true)
    }
    _ = try await bench.text("/api")
    isOver.happen()
    #expect(try await hasEnded.value() == "")
    #expect(bench.log.all == ["inside /token", "inside /there"])
  }

  @Test("do not come back to the interceptor that makes them, but to others of its type", arguments: Way.allCases)
  func own(way: Way) async throws {
    let bench = Bench { bench in
      bench.watch("another", takesPart: true)
      Participant { [weak bench] request, next in
        bench?.log.add("maker \(request.url.path)")
        if request.url.path == "/api", let bench { _ = try await bench.text("/token", way) }
        return try await next(request)
      }
      Watcher(log: bench.log)
    }
    #expect(try await bench.text("/api") == "network")
    #expect(
      bench.log.all == ["another /api", "maker /api", "another /token", "watcher /token", "watcher /api"])
  }

  @Test("do not come back to a participant whose request they derive from, though its task is another one")
  func ownDetached() async throws {
    let bench = Bench { bench in
      bench.watch("another", takesPart: true)
      Participant { [weak bench] request, next in
        bench?.log.add("maker \(request.url.path)")
        guard let bench else { return try await next(request) }
        var derived = request.urlRequest
        derived.url = Bench.request("/derived").url
        let data = try await Task.detached { [derived] in try await bench.session.data(for: derived).0 }.value
        #expect(data == Data("network".utf8))
        // What comes after it derives from the request of the load.
        return try await next(request)
      }
      Link { [weak bench] request, next in
        guard request.url.path == "/api", let bench else { return try await next(request) }
        var derived = request.urlRequest
        derived.url = Bench.request("/later").url
        _ = try await Task.detached { [derived] in try await bench.session.data(for: derived).0 }.value
        return try await next(request)
      }
    }
    #expect(try await bench.text("/api") == "network")
    #expect(
      bench.log.all == [
        "another /api", "maker /api", "another /derived", "another /later", "maker /later", "another /derived",
      ])
  }

  @Test(
    "beneath an interceptor that calls next in a detached task are nested, and do not come back",
    arguments: Way.allCases)
  func beneathDetached(way: Way) async throws {
    let bench = Bench { bench in
      bench.watch("outside")
      Link { request, next in try await Task.detached { try await next(request) }.value }
      Participant { [weak bench] request, next in
        bench?.log.add("maker \(request.url.path)")
        if let bench { _ = try await bench.text("/own", way) }
        return try await next(request)
      }
      Link { [weak bench] request, next in
        if let bench { _ = try await bench.text("/audit", way) }
        return try await next(request)
      }
    }
    #expect(try await bench.text("/api") == "network")
    #expect(bench.log.all == ["outside /api", "maker /api", "maker /audit"])
  }

  @Test("while the body is read that makes them belong to the code that made the body", arguments: Way.allCases)
  func ofBodies(way: Way) async throws {
    let bench = Bench(
      transport: Script { request in
        // Reads the body of the request.
        let sent = String(decoding: try await request.body.collect(upTo: 100), as: UTF8.self)
        return InterceptedResponse(to: request, body: .text(sent), source: .network)
      }
    ) { bench in
      bench.watch("outside")
      bench.watch("inside", takesPart: true)
      Link { [weak bench] request, next in
        guard request.url.path == "/api", let bench else { return try await next(request) }
        var request = request
        let given = request.body
        request.body = .stream(Asking(path: "/request", way: way, bench: bench))
        var response = try await next(request)
        #expect(try await response.body.collect(upTo: 100) == Data("/request".utf8))
        request.body = given
        response = try await next(request)
        #expect(try await response.body.collect(upTo: 100) == Data("/app".utf8))
        response.body = .stream(Asking(path: "/response", way: way, bench: bench))
        return response
      }
    }
    let body = MessageBody.stream(Asking(path: "/app", way: way, bench: bench))
    var request = Bench.request("/api")
    request.httpMethod = "POST"
    #expect(try await bench.registry.upload(for: request, from: body).0 == Data("/response".utf8))
    #expect(
      bench.log.all == [
        "outside /api", "inside /api", "inside /request", "outside /app", "inside /app", "inside /response",
      ])
  }

  /// A body that makes a request when it is read, and whose content is the path of that request.
  private struct Asking: AsyncSequence, AsyncIteratorProtocol {
    let path: String
    let way: Way
    let bench: Bench
    var isRead = false

    func makeAsyncIterator() -> Asking { self }

    mutating func next() async throws -> Data? {
      guard !isRead else { return nil }
      isRead = true
      _ = try await bench.text(path, way)
      return Data(path.utf8)
    }
  }

  private final class Watcher: RequestInterceptor {
    let log: Log<String>
    var takesPartInNestedRequests: Bool { true }

    init(log: Log<String>) { self.log = log }

    func startLoading(
      _ request: InterceptedRequest, next: InterceptorChain.Next
    ) async throws -> InterceptedResponse {
      log.add("watcher \(request.url.path)")
      return try await next(request)
    }
  }

  @Test("come to the participants around the interceptor that makes them, whatever runs in between")
  func around() async throws {
    let bench = Bench { bench in
      Watcher(log: bench.log)
      Participant { try await $1($0) }
      Link { [weak bench] request, next in
        if request.url.path == "/api", let bench {
          // Two at once, and one with a response open.
          async let one = bench.text("/1")
          let response = try await next(request)
          _ = try await (one, bench.text("/2"))
          return response
        }
        return try await next(request)
      }
    }
    #expect(try await bench.text("/api") == "network")
    #expect(Set(bench.log.all) == ["watcher /api", "watcher /1", "watcher /2"])
  }

  @Test("in a detached task are nested if they derive from the request of the load, and else are the app's")
  func detached() async throws {
    let bench = Bench { bench in
      bench.watch("outside")
      bench.watch("inside", takesPart: true)
      Link { [weak bench] request, next in
        guard request.url.path == "/api", let bench else { return try await next(request) }
        var derived = request.urlRequest
        derived.url = Bench.request("/derived").url
        let texts = try await Task.detached { [derived] in
          [try await bench.text("/own"), try await Way.session.text(derived, bench.registry, bench.session)]
        }.value
        return InterceptedResponse(to: request, body: .text(texts.joined(separator: " ")))
      }
    }
    #expect(try await bench.text("/api") == "network network")
    #expect(bench.log.all == ["outside /api", "inside /api", "outside /own", "inside /own", "inside /derived"])
  }

  @Test(
    "are the app's own within withoutEnclosingLoad, and nested again in the loads that these begin",
    arguments: Way.allCases)
  func appsOwn(way: Way) async throws {
    let bench = Bench { bench in
      bench.watch("outside")
      bench.watch("inside", takesPart: true)
      Link { [weak bench] request, next in
        guard let bench else { return try await next(request) }
        switch request.url.path {
        case "/api":
          try await InterceptorRegistry.withoutEnclosingLoad {
            _ = try await bench.text("/own", way)
            _ = try await Task { try await bench.text("/task", way) }.value
          }
        case "/own": _ = try await bench.text("/nested", way)
        default: break
        }
        return try await next(request)
      }
    }
    #expect(try await bench.text("/api") == "network")
    #expect(
      bench.log.all == [
        "outside /api", "inside /api", "outside /own", "inside /own", "inside /nested", "outside /task", "inside /task",
      ])
  }

  @Test("within withoutEnclosingLoad are the app's, though the load that began it ends within another")
  func appsOwnLater() async throws {
    let (isOver, isDone) = (Event(), Promise<String>())
    let bench = Bench { bench in
      bench.watch("outside")
      bench.watch("inside", takesPart: true)
      Link { [weak bench] request, next in
        guard let bench, request.url.path == "/api" else { return try await next(request) }
        let other = InterceptorRegistry(transport: Script { InterceptedResponse(to: $0) }) {
          Link { inner, next in
            Task {
              await InterceptorRegistry.withoutEnclosingLoad {
                await isOver.wait()
                do { isDone.settle(.success(try await bench.text("/own"))) } catch { isDone.settle(.failure(error)) }
              }
            }
            return try await next(inner)
          }
        }
        _ = try await other.data(for: Bench.request("/other"))
        isOver.happen()
        #expect(try await isDone.value() == "network")
        other.invalidate()
        return try await next(request)
      }
    }
    #expect(try await bench.text("/api") == "network")
    #expect(bench.log.all == ["outside /api", "inside /api", "outside /own", "inside /own"])
  }

  @Test("are nested in the load that goes on, if they derive from one within it that has ended")
  func derivedFromEnded() async throws {
    let derived = Locked<URLRequest?>(nil)
    let bench = Bench { bench in
      bench.watch("outside")
      Participant { [weak bench] request, next in
        bench?.log.add("inside \(request.url.path)")
        if request.url.path == "/token" { derived.withLock { $0 = request.urlRequest } }
        // Enough tags of loads that have ended for their table to be thinned.
        if request.url.path == "/many" { _ = request.urlRequest }
        return try await next(request)
      }
      Link { [weak bench] request, next in
        guard request.url.path == "/api", let bench else { return try await next(request) }
        _ = try await bench.text("/token")
        for _ in 0..<1_000 { _ = try await bench.text("/many") }
        let later = try #require(derived.withLock { $0.take() })
        _ = try await Task.detached { try await bench.session.data(for: later) }.value
        return try await next(request)
      }
    }
    #expect(try await bench.text("/api") == "network")
    #expect(
      bench.log.all.filter { $0 != "inside /many" } == [
        "outside /api", "inside /api", "inside /token", "inside /token",
      ])
  }

  @Test("within withoutEnclosingLoad that enter their own interceptor again and again end in an error")
  func endless() async throws {
    let bench = Bench { bench in
      Link { [weak bench] request, next in
        guard let bench else { return try await next(request) }
        let text = try await InterceptorRegistry.withoutEnclosingLoad { try await bench.text("/again") }
        return InterceptedResponse(to: request, body: .text(text))
      }
    }
    let error = await failure { try await bench.text("/api") }
    #expect(error.flatMap(cause)?.code == .loopDetected)
  }

  @Test("are nothing for a chain whose interceptors take no part: they go to the transport, without a tag")
  func bare() async throws {
    try await withOrigin { origin in
      let runs = Log<String>()
      let registry = InterceptorRegistry()
      registry.register(
        InterceptorChain("all") {
          Link { [weak registry] request, next in
            runs.add(request.url.path)
            if let registry { _ = try await registry.data(for: URLRequest(url: origin.url("/hello"))) }
            return try await next(request)
          }
        })
      _ = try await registry.data(for: URLRequest(url: origin.url("/echo")))
      #expect(runs.all == ["/echo"])
      #expect(origin.requests.map(\.path) == ["/hello", "/echo"])
      #expect(!origin.rawBytes.joined().contains("waylay-"))
      registry.invalidate()
    }
  }

  @Test("belong to the chain that covers their URL, and to no other")
  func otherChain() async throws {
    let bench = Bench { bench in
      bench.watch("default", takesPart: true)
      Link { [weak bench] request, next in
        if request.url.path == "/api", let bench {
          _ = try await bench.registry.data(for: URLRequest(url: URL(string: "http://login.example.com/")!))
        }
        return try await next(request)
      }
    }
    bench.registry.register(
      InterceptorChain("login", for: .host("login.example.com")) {
        bench.watch("login", takesPart: true)
        bench.watch("not")
      })
    _ = try await bench.text("/api")
    #expect(bench.log.all == ["default /api", "login /"])
  }

  @Test("after the cancellation of their load are nested, while interceptors of it run")
  func afterCancellation() async throws {
    let (hasBegun, isCancelled) = (Event(), Event())
    let bench = Bench { bench in
      bench.watch("outside")
      bench.watch("inside", takesPart: true)
      Link { [weak bench] request, next in
        guard request.url.path == "/api", let bench else { return try await next(request) }
        let memo = Task {
          hasBegun.happen()
          await isCancelled.wait()
          return try await bench.text("/token")
        }
        return InterceptedResponse(to: request, body: .text(try await memo.value))
      }
    }
    let load = Task { try await bench.text("/api") }
    await hasBegun.wait()
    load.cancel()
    let ended = await load.result
    #expect(throws: (any Error).self) { _ = try ended.get() }
    isCancelled.happen()
    while !bench.log.all.contains("inside /token") { await Task.yield() }
    #expect(bench.log.all == ["outside /api", "inside /api", "inside /token"])
  }

  @Test("beneath an interceptor that calls next in a task of an earlier load are nested in the later one")
  func worker() async throws {
    let (jobs, queue) = AsyncStream.makeStream(of: (@Sendable () async -> Void).self)
    let worker = Locked<Task<Void, Never>?>(nil)
    let bench = Bench { bench in
      bench.watch("outside")
      Link { request, next in
        worker.withLock { worker in
          if worker == nil { worker = Task { for await job in jobs { await job() } } }
        }
        let response = Promise<InterceptedResponse>()
        queue.yield {
          do { response.settle(.success(try await next(request))) } catch { response.settle(.failure(error)) }
        }
        return try await response.value()
      }
      Link { [weak bench] request, next in
        if request.url.path != "/audit", let bench { _ = try await bench.text("/audit") }
        return try await next(request)
      }
    }
    for path in ["/1", "/2"] { #expect(try await bench.text(path) == "network") }
    #expect(bench.log.all == ["outside /1", "outside /2"])
    queue.finish()
    worker.withLock(\.self)?.cancel()
  }

  @Test("that derive from a load are nested in it, though another registry's load makes them", arguments: Way.allCases)
  func derivedElsewhere(way: Way) async throws {
    let kept = Locked<(request: URLRequest, bench: Bench)?>(nil)
    let other = Bench { _ in
      Link { request, next in
        if let (derived, bench) = kept.withLock({ $0 }) {
          kept.withLock { $0 = nil }
          _ = try await way.text(derived, bench.registry, bench.session)
        }
        return try await next(request)
      }
    }
    let bench = Bench { bench in
      bench.watch("outside")
      bench.watch("inside", takesPart: true)
      Link { [weak bench] request, next in
        guard request.url.path == "/api", let bench else { return try await next(request) }
        var derived = request.urlRequest
        derived.url = Bench.request("/derived").url
        kept.withLock { [derived] in $0 = (derived, bench) }
        _ = try await Task.detached { try await other.text("/other") }.value
        return try await next(request)
      }
    }
    #expect(try await bench.text("/api") == "network")
    #expect(bench.log.all == ["outside /api", "inside /api", "inside /derived"])
  }

  @Test("that derive from a request of an ended load, which an interceptor passes on, are nested in the load that runs")
  func ofKeptRequest() async throws {
    let kept = Locked<InterceptedRequest?>(nil)
    let bench = Bench { bench in
      bench.watch("outside")
      Link { request, next in
        var template = kept.withLock { kept in
          if kept == nil { kept = request }
          return kept ?? request
        }
        template.url = request.url
        return try await next(template)
      }
      Link { [weak bench] request, next in
        guard request.url.path == "/2", let bench else { return try await next(request) }
        var derived = request.urlRequest
        derived.url = Bench.request("/derived").url
        _ = try await Task.detached { [derived] in try await bench.registry.data(for: derived) }.value
        return try await next(request)
      }
    }
    for path in ["/1", "/2"] { #expect(try await bench.text(path) == "network") }
    #expect(bench.log.all == ["outside /1", "outside /2"])
  }

  @Test("while the body of an inline response is read are nested, and do not come back", arguments: [true, false])
  func ofInlineBodies(takesPart: Bool) async throws {
    struct Inline: InlineResponding {
      let takesPartInNestedRequests: Bool
      let log: Log<String>
      let text: @Sendable () async throws -> String

      func respondInline(_ request: InterceptedRequest) throws -> InlineResponse {
        log.add("inline \(request.url.path)")
        let text = text
        let chunks = AsyncThrowingStream<Data, any Error>(unfolding: { [done = Locked(false)] in
          if done.withLock({ done in
            defer { done = true }; return done
          }) {
            return nil
          }
          return Data(try await text().utf8)
        })
        return .response(InterceptedResponse(to: request, body: .stream(chunks)))
      }
    }
    let bench = Bench { bench in
      Inline(takesPartInNestedRequests: takesPart, log: bench.log) { [weak bench] in
        try await bench?.text("/nested", .session) ?? ""
      }
    }
    #expect(try await bench.text("/api", .session) == "network")
    #expect(bench.log.all.allSatisfy { $0 == "inline /api" })
  }

  @Test("that a transport makes go to the bare transport", arguments: Way.allCases)
  func ofTransport(way: Way) async throws {
    let box = Locked<Bench?>(nil)
    let bench = Bench(
      transport: Script { request in
        guard request.url.path == "/api", let bench = box.withLock({ $0 }) else {
          return InterceptedResponse(to: request, body: .text("bare"), source: .network)
        }
        return InterceptedResponse(to: request, body: .text(try await bench.text("/inner", way)), source: .network)
      }
    ) { bench in
      bench.watch("inside", takesPart: true)
      Link { try await $1($0) }
    }
    box.withLock { $0 = bench }
    #expect(try await bench.text("/api") == "bare")
    #expect(bench.log.all == ["inside /api"])
    box.withLock { $0 = nil }
  }

  @Test("by a registry whose transport leads back into the chain are nested there, and not taken for the transport's")
  func throughAnother() async throws {
    let bench = Bench { bench in
      bench.watch("outside")
      bench.watch("inside", takesPart: true)
      Link { [weak bench] request, next in
        guard request.url.path == "/api", let bench else { return try await next(request) }
        let other = InterceptorRegistry(
          transport: Script { [weak bench] request in
            let data = try await bench?.registry.data(for: request.urlRequest).0 ?? Data()
            return InterceptedResponse(to: request, body: .data(data), source: .network)
          }
        ) { Link { try await $1($0) } }
        _ = try await other.data(for: Bench.request("/token"))
        other.invalidate()
        return try await next(request)
      }
    }
    #expect(try await bench.text("/api") == "network")
    #expect(bench.log.all == ["outside /api", "inside /api", "inside /token"])
  }

  @Test("that another registry's participant makes come to the one at the same place of this registry's chain")
  func samePlace() async throws {
    let inner = Bench { bench in
      bench.watch("inside", takesPart: true)
      Link { [weak bench] request, next in
        if request.url.path == "/token", let bench { _ = try await bench.text("/nested") }
        return try await next(request)
      }
    }
    let outer = Bench { _ in
      Participant { request, next in
        _ = try await inner.text("/token")
        return try await next(request)
      }
    }
    #expect(try await outer.text("/api") == "network")
    #expect(inner.log.all == ["inside /token", "inside /nested"])
  }

  @Test(
    "of a foreign protocol class beneath a transport go to the bare transport",
    .enabled(if: Platform.isLinux, "of a session's transport"))
  func ofForeignClass() async throws {
    try await withOrigin { origin in
      let log = Log<String>()
      let registry = InterceptorRegistry()
      let configuration = URLSessionConfiguration.ephemeral
      configuration.protocolClasses = [ForwardingClass.self]
      let session = URLSession(configuration: configuration.intercepted(by: registry))
      ForwardingClass.session.withLock { $0 = session }
      registry.register(
        InterceptorChain("all") {
          Participant { request, next in
            log.add(request.url.path)
            return try await next(request)
          }
        })
      let data = try await session.data(from: origin.url("/hello?foreign")).0
      #expect(String(decoding: data, as: UTF8.self) == "hello")
      #expect(log.all == ["/hello"])
      ForwardingClass.session.withLock { $0 = nil }
      registry.invalidate()
    }
  }

  /// A foreign class that asks an intercepted session.
  private final class ForwardingClass: URLProtocol {
    static let session = Locked<URLSession?>(nil)

    override class func canInit(with request: URLRequest) -> Bool { request.url?.query == "foreign" }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
      var request = request
      request.url = request.url.flatMap { URL(string: $0.absoluteString.replacing("?foreign", with: "")) }
      let session = Self.session.withLock { $0 }
      // The loading system retains it until the end.
      nonisolated(unsafe) let loader = self
      DispatchQueue.global().async { [request] in
        session?.dataTask(with: request) { data, response, error in
          guard let response else { return }
          loader.client?.urlProtocol(loader, didReceive: response, cacheStoragePolicy: .notAllowed)
          loader.client?.urlProtocol(loader, didLoad: data ?? Data())
          loader.client?.urlProtocolDidFinishLoading(loader)
        }.resume()
      }
    }

    override func stopLoading() {}
  }

  @Test("that a delegate makes for a redirect or a challenge are the app's", arguments: [true, false])
  func ofDelegates(isOverSession: Bool) async throws {
    try await withOrigin { origin in
      origin.reply(to: "/away") { _ in .text("", status: 302, fields: [("Location", "/hello")]) }
      origin.reply(to: "/closed") { request in
        request["Authorization"].isEmpty
          ? .text("", status: 401, fields: [("WWW-Authenticate", "Basic realm=\"x\"")]) : .text("open")
      }
      let log = Log<String>()
      let registry = InterceptorRegistry(transport: isOverSession ? URLSessionTransport() : nil) {
        Link { request, next in
          log.add(request.url.path)
          return try await next(request)
        }
      }
      let delegate = AskingDelegate(registry, origin.url("/asked"))
      let session = URLSession(
        configuration: URLSessionConfiguration.ephemeral.intercepted(by: registry), delegate: delegate,
        delegateQueue: nil)
      let (away, closed) = try await (
        session.text(from: origin.url("/away")), session.text(from: origin.url("/closed"))
      )
      #expect(away.1 == "hello" && closed.1 == "open")
      #expect(log.all == ["/away", "/asked", "/hello", "/closed", "/asked", "/closed"])
      session.invalidateAndCancel()
      registry.invalidate()
    }
  }

  @Test(
    "that a delegate makes for the stream of a nested upload are nested like it",
    .enabled(if: Platform.isLinux, "a session's requests are recognized there"))
  func ofNestedDelegates() async throws {
    try await withOrigin { origin in
      let log = Log<String>()
      let registry = InterceptorRegistry()
      let delegate = AskingDelegate(registry, origin.url("/hello"))
      let session = URLSession(
        configuration: .ephemeral.intercepted(by: registry), delegate: delegate, delegateQueue: nil)
      registry.register(
        InterceptorChain("all") {
          Participant { request, next in
            log.add("inside \(request.url.path)")
            return try await next(request)
          }
          Link { request, next in
            log.add("outside \(request.url.path)")
            var upload = URLRequest(url: origin.url("/echo"))
            upload.httpMethod = "POST"
            session.uploadTask(withStreamedRequest: upload).resume()
            await delegate.hasEnded.wait()
            return try await next(request)
          }
        })
      _ = try await registry.data(for: URLRequest(url: origin.url("/hello?api")))
      #expect(log.all == ["inside /hello", "outside /hello", "inside /echo", "inside /hello"])
      session.invalidateAndCancel()
      registry.invalidate()
    }
  }

  /// A delegate that makes a request before it answers.
  private final class AskingDelegate: NSObject, URLSessionTaskDelegate, Sendable {
    private let registry: InterceptorRegistry
    private let url: URL
    let hasEnded = Event()

    init(_ registry: InterceptorRegistry, _ url: URL) { (self.registry, self.url) = (registry, url) }

    private func ask(_ answer: @escaping @Sendable () -> Void) {
      Task {
        _ = try? await registry.data(for: URLRequest(url: url))
        answer()
      }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) { ask { completionHandler(request) } }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      ask { completionHandler(.useCredential, URLCredential(user: "ada", password: "pw", persistence: .none)) }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask,
      needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) { ask { completionHandler(InputStream(data: Data("body".utf8))) } }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      hasEnded.happen()
    }
  }
}
