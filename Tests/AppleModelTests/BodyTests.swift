#if !canImport(Darwin)
  import AppleCore
  import AppleModel
  import Foundation
  import FoundationNetworking
  import Testing

  /// What the server of the inner session gets of the bodies that an app gives its tasks.
  @Suite("Bodies on Apple platforms, against the model", .timeLimit(.minutes(10)))
  struct BodyTests {
    private let ledger = InnerSession.Ledger()

    private func outcome(
      of request: URLRequest, _ plan: AppPlan = AppPlan(),
      @InterceptorBuilder _ links: () -> [any RequestInterceptor] = { [Pass()] }
    ) async throws -> Outcome {
      let registry = InterceptorRegistry(transport: InnerSession.transport(InnerSession.Server(), ledger), links)
      defer { registry.invalidate() }
      let configuration = URLSessionConfiguration.ephemeral.intercepted(by: registry)
      let ours = try #require(configuration.protocolClasses?.first as? URLProtocol.Type)
      let outcome = await AppleLoadingSystem([ours]).load(request, plan)
      #expect(outcome.violations.isEmpty)
      return outcome
    }

    private func post(_ path: String, fields: [String: String] = [:]) throws -> URLRequest {
      var request = URLRequest(url: try #require(URL(string: "https://model.test/" + path)))
      request.httpMethod = "POST"
      for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
      return request
    }

    @Test("a POST through 307 sends its body again, with its length", arguments: AppPlan.Length.allCases)
    func redirected(length: AppPlan.Length) async throws {
      var request = try post("upload/2")
      request.httpBody = Data(repeating: 1, count: 1000)
      var plan = AppPlan()
      plan.length = length
      #expect(try await outcome(of: request, plan).response?.statusCode == 200)
      #expect(ledger.received.map(\.body.count) == [1000, 1000, 1000])
      #expect(ledger.received.map(\.contentLength) == ["1000", "1000", "1000"])
    }

    @Test("a long stream that was sent fails at a 307, rather than going out empty")
    func consumed() async throws {
      var request = try post("upload/1")
      request.httpBodyStream = InputStream(data: Data(repeating: 1, count: 100_000))
      let error = try #require(try await outcome(of: request).error as? URLError)
      #expect(error.cause(as: WaylayError.self)?.code == .bodyConsumed)
      #expect(ledger.received.count == 1)
    }

    @Test("a stream that nobody has read goes on to where an interceptor redirects")
    func unread() async throws {
      var request = try post("moved/1")
      request.httpBodyStream = InputStream(data: Data(repeating: 1, count: 1000))
      let outcome = try await outcome(of: request) { Moved() }
      #expect(outcome.response?.statusCode == 200)
      #expect(ledger.received.map(\.body.count) == [1000])
    }

    @Test("a body of 4 MiB is data to the chain, and one byte more is a stream; both are sent with their length")
    func limit() async throws {
      for (count, isData) in [(4 << 20, true), (4 << 20 + 1, false)] {
        var request = try post("upload/0", fields: ["Content-Length": "\(count)"])
        request.httpBodyStream = InputStream(data: Data(count: count))
        let seen = Locked<Bool?>(nil)
        let outcome = try await outcome(of: request) { Look { body in seen.withLock { $0 = body.inMemory != nil } } }
        #expect(outcome.response?.statusCode == 200)
        #expect(seen.withLock { $0 } == isData)
        #expect(ledger.received.last?.contentLength == "\(count)")
        #expect(ledger.received.last?.body.count == count)
      }
    }

    @Test(
      "up to 64 KiB of a stream are data to the chain, whether its length is known or not",
      arguments: [1, 65_536, 65_537])
    func unknownLength(count: Int) async throws {
      var request = try post("upload/0")
      request.httpBodyStream = InputStream(data: Data(repeating: 1, count: count))
      let seen = Locked<Bool?>(nil)
      let outcome = try await outcome(of: request) { Look { body in seen.withLock { $0 = body.inMemory != nil } } }
      #expect(outcome.response?.statusCode == 200)
      #expect(seen.withLock { $0 } == (count <= 65_536))
      #expect(ledger.received.last?.body.count == count)
      #expect(ledger.received.last?.contentLength == (count <= 65_536 ? "\(count)" : nil))
    }

    @Test("a stream whose bytes are written only after the head was read is not waited for")
    func notAtHand() async throws {
      let (input, output) = BoundPair.make()
      var request = try post("early")
      request.httpBodyStream = input
      let outcome = try await outcome(of: request) {
        Link { request, next in
          let response = try await next(request)
          output.write("after the head")
          return response
        }
      }
      #expect(String(decoding: outcome.body, as: UTF8.self) == "after the head")
    }

    @Test("a stream of unknown length is sent in chunks")
    func chunked() async throws {
      var request = try post("upload/0")
      request.httpBodyStream = InputStream(data: Data(repeating: 1, count: 100_000))
      #expect(try await outcome(of: request).response?.statusCode == 200)
      #expect(ledger.received.map(\.contentLength) == [nil])
      #expect(ledger.received.map(\.body.count) == [100_000])
    }

    @Test("an upload whose stream fails never looks complete", arguments: [0, 1, 70_000, 1_000_000])
    func failing(after count: Int) async throws {
      var request = try post("upload/0")
      request.httpBodyStream = FailingInput(after: count)
      let error = try #require(try await outcome(of: request).error as? URLError)
      #expect(error.cause(as: WaylayError.self)?.code == .bodyUnreadable)
      #expect(ledger.received.isEmpty)
    }

    @Test("a stream that is longer or shorter than its length never looks complete", arguments: [-1, 1])
    func wrongLength(difference: Int) async throws {
      for count in [1000, 5 << 20] {
        var request = try post("upload/0", fields: ["Content-Length": "\(count + difference)"])
        request.httpBodyStream = InputStream(data: Data(count: count))
        let error = try #require(try await outcome(of: request).error as? URLError)
        #expect(error.cause(as: WaylayError.self)?.code == .bodyUnreadable)
        #expect(ledger.received.isEmpty)
      }
    }

    @Test("a kept connection that is lost gets the body again, where it can be read again")
    func lost() async throws {
      let fields = ["X-Lost": "2"]
      var request = try post("upload/0", fields: fields)
      request.httpBody = Data(repeating: 1, count: 1000)
      #expect(try await outcome(of: request).response?.statusCode == 200)
      let replayed = try await outcome(of: try post("upload/0", fields: fields)) { Replay(count: 300_000) }
      #expect(replayed.response?.statusCode == 200)
      #expect(ledger.received.map(\.body.count) == [1000, 300_000])
      request = try post("upload/0", fields: fields)
      request.httpBodyStream = InputStream(data: Data(repeating: 1, count: 100_000))
      let error = try #require(try await outcome(of: request).error as? URLError)
      #expect(error.cause(as: WaylayError.self)?.code == .bodyConsumed)
    }

    @Test("a body whose end is written only after the head was read does not wait for its end")
    func afterHead() async throws {
      let (chunks, continuation) = AsyncStream.makeStream(of: Data.self)
      let registry = InterceptorRegistry(transport: InnerSession.transport(InnerSession.Server(), ledger))
      let url = try #require(URL(string: "https://model.test/early"))
      var request = URLRequest(url: url)
      request.httpMethod = "POST"
      let response = try await registry.load(request, body: .stream(chunks))
      continuation.yield(Data("after the head".utf8))
      continuation.finish()
      #expect(String(decoding: try await response.body.collect(upTo: 100), as: UTF8.self) == "after the head")
      registry.invalidate()
    }

    @Test(
      "an app that refuses a redirect gets it as its response, whatever the loading system does with the object",
      arguments: AppPlan.Loader.allCases)
    func refused(_ loader: AppPlan.Loader) async throws {
      var plan = AppPlan()
      plan.followsRedirects = false
      plan.loader = loader
      var request = try post("upload/1")
      request.httpBody = Data(repeating: 1, count: 10)
      let outcome = try await outcome(of: request, plan)
      #expect(outcome.response?.statusCode == 307)
      #expect(outcome.error == nil)
      #expect(outcome.hops == 1)
    }
  }

  @Suite("Redirects that an app answers in its own way, against the model", .timeLimit(.minutes(10)))
  struct RedirectAnswerTests {
    private let requests = Locked<[InterceptedRequest]>([])

    private func outcome(
      _ plan: AppPlan, _ link: Link, timeout: TimeInterval = 60, ofSession: TimeInterval = 60
    ) async throws -> Outcome {
      let registry = InterceptorRegistry(transport: InnerSession.transport()) { link }
      defer { registry.invalidate() }
      let configuration = URLSessionConfiguration.ephemeral
      configuration.httpAdditionalHeaders = ["Proxy-Authorization": "Basic session"]
      configuration.timeoutIntervalForRequest = ofSession
      let system = AppleLoadingSystem(configuration.intercepted(by: registry))
      let url = try #require(URL(string: "https://first.test/"))
      let outcome = await system.load(URLRequest(url: url, timeoutInterval: timeout), plan)
      #expect(outcome.violations.isEmpty)
      return outcome
    }

    /// Leads to another origin, and adds a credential of its own to each request.
    private var leading: Link {
      Link { request, next in
        requests.withLock { $0.append(request) }
        guard request.url.host == "first.test" else {
          var request = request
          request.fields[.authorization] = "Bearer chain"
          let response = try await next(request)
          return response
        }
        return InterceptedResponse(to: request, status: .found, fields: [.location: "https://second.test/"])
      }
    }

    @Test("an app that follows after a long time is not taken for one that has refused")
    func slow() async throws {
      var plan = AppPlan()
      plan.secondsToFollow = 29
      let outcome = try await outcome(plan, leading)
      #expect(outcome.response?.statusCode == 200)
      #expect(outcome.hops == 2)
    }

    @Test(
      "an app that refuses and keeps the request gets the redirect in half of its task's time, and within 30 s",
      arguments: [
        (request: 60.0, session: 60.0, seconds: 30), (60, 10, 5), (8, 60, 4), (2, 60, 1), (3600, 60, 30),
      ])
    func kept(request: TimeInterval, session: TimeInterval, seconds: Int) async throws {
      var plan = AppPlan()
      (plan.followsRedirects, plan.loader, plan.keepsRefused) = (false, .hanging, true)
      let outcome = try await outcome(plan, leading, timeout: request, ofSession: session)
      #expect(outcome.error == nil)
      #expect(outcome.response?.statusCode == 302)
      #expect(outcome.hops == 1)
      #expect(outcome.seconds == seconds)
    }

    @Test("an app that refuses and keeps nothing gets the redirect a second later")
    func letGo() async throws {
      var plan = AppPlan()
      (plan.followsRedirects, plan.loader) = (false, .hanging)
      let outcome = try await outcome(plan, leading)
      #expect(outcome.response?.statusCode == 302)
      // One second may have begun before.
      #expect((1...2).contains(outcome.seconds))
    }

    @Test(
      """
      a request that an interceptor derives from its own stays out of the chain, over a redirect too; one that it makes \
      anew runs the whole chain
      """,
      arguments: [(isDerived: true, isOwn: false), (true, true), (false, false), (false, true)])
    func nested(isDerived: Bool, isOwn: Bool) async throws {
      let (seen, system) = (Locked<[String]>([]), Locked<AppleLoadingSystem?>(nil))
      var plan = AppPlan()
      plan.followsByOwnRequest = isOwn
      let registry = InterceptorRegistry(transport: InnerSession.transport()) {
        Link { [plan] request, next in
          seen.withLock { $0.append(request.url.path) }
          if request.url.path == "/start" {
            return InterceptedResponse(to: request, status: .found, fields: [.location: "/outer"])
          }
          guard request.url.path == "/outer", let system = system.withLock({ $0 }) else {
            return try await next(request)
          }
          var inner = isDerived ? request.urlRequest : URLRequest(url: request.url)
          inner.url = URL(string: "https://model.test/upload/2")
          let outcome = await system.load(inner, plan)
          #expect(outcome.violations.isEmpty)
          #expect(outcome.hops == 3)
          return InterceptedResponse(to: request, body: .data(outcome.body))
        }
      }
      let loader = AppleLoadingSystem(URLSessionConfiguration.ephemeral.intercepted(by: registry))
      system.withLock { $0 = loader }
      let events = registry.events()
      let outcome = await loader.load(URLRequest(url: try #require(URL(string: "https://model.test/start"))))
      #expect(String(decoding: outcome.body, as: UTF8.self).hasPrefix("GET 0 "))
      let inner = ["/upload/2", "/upload/1", "/upload/0"]
      #expect(seen.withLock { $0 } == ["/start", "/outer"] + (isDerived ? [] : inner))
      registry.invalidate()
      system.withLock { $0 = nil }
      // Two loads, whose hops have one id each.
      var paths: [InterceptedRequest.ID: [String]] = [:]
      for await event in events where event.kind == .started {
        paths[event.id, default: []].append(event.url?.path ?? "")
      }
      #expect(Set(paths.values) == [["/start", "/outer"], inner])
    }

    @Test(
      "a request of the app's own is the same load's next hop, and gets no credential of another origin",
      arguments: [true, false])
    func ownRequest(isOwn: Bool) async throws {
      var plan = AppPlan()
      plan.followsByOwnRequest = isOwn
      let outcome = try await outcome(plan, leading)
      #expect(outcome.response?.statusCode == 200)
      let requests = requests.withLock { $0 }
      #expect(requests.map(\.hop) == [0, 1])
      #expect(Set(requests.map(\.id)).count == 1)
      #expect(requests.first?.fields[.proxyAuthorization] == "Basic session")
      #expect(requests.last?.fields[.proxyAuthorization] == nil)
    }
  }

  private struct Link: RequestInterceptor {
    let load: @Sendable (InterceptedRequest, InterceptorChain.Next) async throws -> InterceptedResponse

    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      try await load(request, next)
    }
  }

  @Suite("Back pressure on Apple platforms, against the model", .timeLimit(.minutes(10)))
  struct BackPressureTests {
    private func body(_ server: InnerSession.Server, _ ledger: InnerSession.Ledger) async throws -> MessageBody {
      let registry = InterceptorRegistry(transport: InnerSession.transport(server, ledger))
      return try await registry.load(URLRequest(url: try #require(URL(string: "https://model.test/flood")))).body
    }

    @Test("64 MiB reach a reader that takes 5 ms for each chunk, and no suspension is left or nested")
    func slowReader() async throws {
      var server = InnerSession.Server()
      server.flood = 1024
      let isSuspending = Promise<Void>()
      server.onSuspend = { isSuspending.settle(.success(())) }
      let ledger = InnerSession.Ledger()
      let body = try await body(server, ledger)
      // However busy the machine is, the server is ahead once.
      try await isSuspending.value()
      var count = 0
      for try await chunk in body {
        count += chunk.count
        // The reader's own time is what the test is about.
        try await Task.sleep(for: .milliseconds(5))
      }
      #expect(count == 64 << 20)
      #expect(ledger.suspensions > 0)
      #expect(ledger.deepest == 1)
      #expect(ledger.suspensions - ledger.resumptions <= 1)
    }

    @Test("a reader that has taken everything while the task was being suspended is not left asleep")
    func drainedMeanwhile() async throws {
      let isSuspending = Promise<Void>()
      let hasRead = DispatchSemaphore(value: 0)
      var server = InnerSession.Server()
      server.late = 0
      server.onSuspend = {
        isSuspending.settle(.success(()))
        _ = hasRead.wait(timeout: .now() + 60)
      }
      let ledger = InnerSession.Ledger()
      let body = try await body(server, ledger)
      try await isSuspending.value()
      var count = 0
      for try await chunk in body {
        count += chunk.count
        hasRead.signal()
      }
      #expect(count == 48 * 64 * 1024)
      #expect(ledger.suspensions > 0)
    }
  }

  @Suite("What the inner session of Apple platforms says beside bodies, against the model", .timeLimit(.minutes(10)))
  struct InnerSessionTests {
    private let ledger = InnerSession.Ledger()

    private func text(
      of path: String, fields: [String: String] = [:], _ server: InnerSession.Server = InnerSession.Server(),
      _ configuration: URLSessionConfiguration = .ephemeral, clock: TimerClock = .system
    ) async throws -> String {
      let registry = InterceptorRegistry(clock: clock, transport: InnerSession.transport(server, ledger, configuration))
      defer { registry.invalidate() }
      var request = URLRequest(url: try #require(URL(string: "https://model.test/" + path)))
      for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
      return String(decoding: try await registry.load(request).body.collect(upTo: 100), as: UTF8.self)
    }

    @Test("the parts of multipart/x-mixed-replace, each with a response of its own, are one body that ends")
    func parts() async throws {
      #expect(try await text(of: "parts") == "one two three")
    }

    @Test("a session that waits for a network does so without the idle timeout of the load")
    func offline() async throws {
      let timer = HandTimer()
      var server = InnerSession.Server()
      server.whileOffline = { timer.advance(by: 3600) }
      let configuration = URLSessionConfiguration.ephemeral
      configuration.waitsForNetwork = true
      #expect(try await text(of: "offline", server, configuration, clock: timer.clock) == "online")
    }

    @Test("a network that is never waited for leaves the idle timeout to the load")
    func silent() async throws {
      let timer = HandTimer()
      let registry = InterceptorRegistry(clock: timer.clock, transport: InnerSession.transport()) { Late(timer: timer) }
      let error = await #expect(throws: URLError.self) {
        try await registry.load(URLRequest(url: try #require(URL(string: "https://model.test/"))))
      }
      #expect(error?.code == .timedOut)
      registry.invalidate()
    }

    @Test("the inner session has the credentials of the app's session, which it proposes and stores")
    func credentials() async throws {
      let configuration = URLSessionConfiguration.ephemeral
      configuration.urlCredentialStorage = URLCredentialStorage()
      _ = try await text(of: "parts", InnerSession.Server(), configuration)
      #expect(ledger.credentialStorages.count == 1)
      #expect(ledger.credentialStorages.first == configuration.urlCredentialStorage)
    }

    @Test("without an app to ask, what the response carries is left to the load, and all else to the system")
    func methods() async throws {
      for (method, disposition) in [
        (NSURLAuthenticationMethodHTTPBasic, URLSession.AuthChallengeDisposition.rejectProtectionSpace),
        (NSURLAuthenticationMethodHTTPDigest, .rejectProtectionSpace),
        // What these constants are on Apple platforms; they are unavailable here.
        ("NSURLAuthenticationMethodClientCertificate", .performDefaultHandling),
        ("NSURLAuthenticationMethodServerTrust", .performDefaultHandling),
        (NSURLAuthenticationMethodNTLM, .performDefaultHandling),
      ] {
        let said = try await text(of: "challenge", fields: ["X-Challenges": "1", "X-Method": method])
        #expect(said == "\(disposition.rawValue)", "\(method)")
      }
    }
  }

  /// A clock that is moved by hand.
  private final class HandTimer: Sendable {
    private let state = Locked<(now: UInt64, pending: [(UInt64, @Sendable () -> Void)])>((1_000, []))

    var clock: TimerClock {
      TimerClock(now: { [self] in state.withLock { $0.now } }) { [self] deadline, wake in
        state.withLock { $0.pending.append((deadline, wake)) }
      }
    }

    func advance(by seconds: UInt64) {
      let due = state.withLock { state in
        state.now += seconds * 1_000_000_000
        let due = state.pending.filter { $0.0 <= state.now }
        state.pending.removeAll { $0.0 <= state.now }
        return due
      }
      for (_, wake) in due { wake() }
    }
  }

  /// Answers when its load has long expired.
  private struct Late: RequestInterceptor {
    let timer: HandTimer

    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      timer.advance(by: 3600)
      try Task.checkCancellation()
      return try await next(request)
    }
  }

  private struct Pass: RequestInterceptor {
    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      try await next(request)
    }
  }

  private struct Look: RequestInterceptor {
    let look: @Sendable (MessageBody) -> Void

    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      look(request.body)
      return try await next(request)
    }
  }

  private struct Moved: RequestInterceptor {
    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      guard request.url.path.hasPrefix("/moved") else { return try await next(request) }
      return InterceptedResponse(to: request, status: .temporaryRedirect, fields: [.location: "/upload/0"])
    }
  }

  private struct Replay: RequestInterceptor {
    let count: Int

    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      var request = request
      request.body = .stream {
        AsyncStream { [count] continuation in
          for _ in 0..<count / 1000 { continuation.yield(Data(repeating: 2, count: 1000)) }
          continuation.finish()
        }
      }
      return try await next(request)
    }
  }
#endif
