// Facts of Foundation on Linux: this file is empty elsewhere.
#if canImport(FoundationNetworking)
  import TestSupport
  import Foundation
  import TestOrigin
  import Testing
  import WaylayCore

  // What `URLSession` on Linux does when we use it, where the package works round it; see ProtocolFacts.swift.
  //
  // Pinned elsewhere or later: U8 to U11 with the transport on libcurl. Not pinned: U13, which only the thread
  // sanitizer shows. U14 is what the traps here and in ProtocolFacts.swift lean on.

  @Suite("Platform facts: we use the loading system", .facts, .timeLimit(.minutes(2)))
  struct SessionFacts {
    @Test("P23: the body of a 3xx without Location is lost, and an unknown Content-Encoding fails the request")
    func lostBodies() async throws {
      try await withOrigin { origin in
        origin.reply(to: "/coded") { _ in .text("x", fields: [("Content-Encoding", "unheard-of")]) }
        let session = URLSession(configuration: .ephemeral)
        let answer = try? await session.text(from: origin.url("/status/302"))
        #expect(answer?.1 != "status 302", "P23 has changed: URLSessionTransport keeps the body of a 3xx")
        let code = await failureCode { try await session.data(from: origin.url("/coded")) }
        #expect(code != nil, "P23 has changed: URLSessionTransport passes on a body of an unknown coding")
      }
    }

    @Test("P24: URLSession stores nothing in its cache, and asks the server again whatever the policy")
    func neverCached() async throws {
      try await withOrigin { origin in
        origin.reply(to: "/cacheable") { _ in .text("x", fields: [("Cache-Control", "max-age=600"), ("ETag", "\"1\"")])
        }
        let configuration = URLSessionConfiguration.default
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
        configuration.urlCache = cache
        let session = URLSession(configuration: configuration)
        var request = URLRequest(url: origin.url("/cacheable"))
        _ = try await session.data(for: request)
        #expect(cache.cachedResponse(for: request) == nil, "P24 has changed: URLSession stores responses on Linux")
        request.cachePolicy = .returnCacheDataElseLoad
        _ = try await session.data(for: request)
        #expect(origin.requests.count == 2, "P24 has changed: URLSession looks at the cache policy on Linux")
      }
    }

    @Test("U1: data events never reach a delegate that only the task has")
    func taskDelegate() async throws {
      try await withOrigin { origin in
        let recorder = Recorder()
        let session = URLSession(configuration: .ephemeral)
        var request = URLRequest(url: origin.url("/hello"))
        request.timeoutInterval = 1
        let task = session.dataTask(with: request)
        task.delegate = recorder
        task.resume()
        await origin.until { $0.requests.count == 1 }
        // The same request beside it, with its own end, shows that there was time enough.
        _ = await failureCode { try await session.data(for: URLRequest(url: origin.url("/slow/300"))) }
        #expect(
          !recorder.entries.contains(.data("hello")),
          "U1 has changed: URLSessionTransport would not need a delegate of the session")
        task.cancel()
      }
    }

    @Test("U2: a delegate that takes nothing does not hold the server back")
    func noBackPressure() async throws {
      try await withOrigin { origin in
        let size = 48 << 20
        let delegate = StuckDelegate()
        let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
        let task = session.dataTask(with: origin.url("/bytes/\(size)"))
        task.resume()
        await delegate.isStuck.wait()
        // With back pressure this would wait for ever, and the time limit would say so.
        await origin.until { $0.bytesSent >= size }
        task.cancel()
        delegate.release()
      }
    }

    @Test("U3: a redirect to another host takes Authorization along")
    func leak() async throws {
      try await withAway { origin, other in
        var request = URLRequest(url: origin.url("/away"))
        request.setValue("secret", forHTTPHeaderField: "Authorization")
        _ = try await URLSession(configuration: .ephemeral).data(for: request)
        #expect(
          other.requests.first?["Authorization"] == ["secret"],
          """
          U3 has changed: URLSession drops credentials by itself; URLSessionTransport still must not let it follow \
          redirects
          """
        )
      }
    }

    @Test("U22: an IPv6 literal fails with the code -1000")
    func literal() async throws {
      let code = await failureCode {
        try await URLSession(configuration: .ephemeral).data(from: URL(string: "http://[::1]:9/")!)
      }
      #expect(code == .badURL, "U22 has changed: URLSession takes IPv6 literals; say so in the guide")
    }

    @Test("U4: connectionProxyDictionary is ignored")
    func proxies() async throws {
      try await withOrigin { origin in
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = ["HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": 9]
        let answer = try await URLSession(configuration: configuration).text(from: origin.url("/hello"))
        #expect(answer.1 == "hello", "U4 has changed: connectionProxyDictionary counts now")
      }
    }

    @Test("U4: every failure of TLS has the code -1, and no challenge about server trust comes")
    func tlsErrors() async throws {
      let authority = try TestAuthority()
      for kind in [TestOrigin.TLS.Certificate.Kind.valid, .expired, .wrongName, .selfSigned] {
        let origin = try await TestOrigin.start(tls: .init(authority: authority, kind: kind))
        let recorder = TrustRecorder()
        let session = URLSession(configuration: .ephemeral, delegate: recorder, delegateQueue: nil)
        let error = await failure { try await session.data(from: origin.url("/hello")) }
        await origin.stop()
        // A valid one is refused too: nothing makes URLSession trust a private authority.
        #expect(
          (error as? URLError)?.errorCode == -1, "U4 has changed: TLS errors of a \(kind) certificate can be told apart"
        )
        #expect(
          !recorder.wasAsked.hasHappened,
          "U4 has changed: a server-trust challenge comes, so certificates can be pinned by delegate")
      }
    }

    @Test("U5: https and an address send no server name, whatever the Host field says")
    func serverName() async throws {
      let origin = try await TestOrigin.start(
        tls: .init(authority: try TestAuthority(), names: ["api.example.com", "127.0.0.1"]))
      var request = URLRequest(url: origin.url("/hello"))
      request.setValue("api.example.com", forHTTPHeaderField: "Host")
      _ = await failure { [request] in try await URLSession(configuration: .ephemeral).data(for: request) }
      await origin.until { $0.connectionCount == 1 && $0.openConnectionCount == 0 }
      #expect(origin.connections.map(\.sni) == [nil], "U5 has changed: a Host field sets the server name")
      await origin.stop()
    }

    @Test("U6: metrics of a task are never delivered")
    func metrics() async throws {
      try await withOrigin { origin in
        let delegate = MetricsDelegate()
        let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
        session.dataTask(with: origin.url("/hello")).resume()
        await delegate.finished.wait()
        #expect(
          !delegate.hasMetrics.hasHappened, "U6 has changed: URLSessionTransport could take its metrics from the task")
      }
    }

    @Test("U16: trailers end a process that uses URLSession", .exitTest)
    func trailers() async {
      await #expect(
        processExitsWith: .failure,
        "U16 has changed: URLSessionTransport survives trailers, and ParityTests can have them"
      ) {
        Process.limit(isToFail: true)
        let origin = try await TestOrigin.start()
        _ = try? await URLSession(configuration: .ephemeral).data(from: origin.url("/trailers"))
      }
    }

    @Test("U7: libcurl is in the process already")
    func curl() {
      // `RTLD_DEFAULT` is the null pointer on Linux.
      #expect(
        dlsym(nil, "curl_easy_init") != nil,
        "U7 has changed: FoundationNetworking does not bring libcurl along any more")
    }

    @Test("U12: a session that has been used holds two descriptors", .exitTest)
    func descriptors() async {
      await #expect(processExitsWith: .success, "U12 has changed: see the guide's advice on the number of sessions") {
        Process.limit()
        func open() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
        let origin = try await TestOrigin.start()
        // The first one brings what is there once for all.
        let first = URLSession(configuration: .ephemeral)
        let before = try open()
        var sessions: [URLSession] = []
        for _ in 0..<20 { sessions.append(URLSession(configuration: .ephemeral)) }
        let growth = try open() - before
        _ = first
        precondition(growth == 2 * sessions.count, "20 sessions hold \(growth) descriptors")
        await origin.stop()
      }
    }
  }

  /// Gets stuck in its first chunk until it is released.
  private final class StuckDelegate: NSObject, URLSessionDataDelegate, Sendable {
    let isStuck = Event()
    private let gate = Passed(DispatchGroup())

    override init() {
      super.init()
      gate.value.enter()
    }

    func release() {
      gate.value.leave()
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      isStuck.happen()
      _ = gate.value.wait(timeout: .now() + 60)
    }
  }

  private final class TrustRecorder: NSObject, URLSessionDataDelegate, Sendable {
    let wasAsked = Event()

    func urlSession(
      _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      wasAsked.happen()
      completionHandler(.performDefaultHandling, nil)
    }
  }

  private final class MetricsDelegate: NSObject, URLSessionDataDelegate, Sendable {
    let finished = Event()
    let hasMetrics = Event()

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
      hasMetrics.happen()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      finished.happen()
    }
  }
#endif
