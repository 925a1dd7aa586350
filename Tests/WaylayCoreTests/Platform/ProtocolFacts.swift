// Facts of Foundation on Linux: this file is empty elsewhere.
#if canImport(FoundationNetworking)
  import TestSupport
  import Foundation
  import TestOrigin
  import Testing
  import WaylayCore

  // What Foundation on Linux does to a protocol class, where the package works round it. A failure here means that a
  // toolchain has changed, not that the package is broken: read the row in Internals/Foundation.md, write down there where
  // it ends, then see whether the work-round it names can go.
  //
  // Not pinned, because they are races or speeds: P1, P17, P20, P22's look-up.

  @Suite("Platform facts: the loading system calls us", .facts, .timeLimit(.minutes(2)))
  struct ProtocolFacts {
    @Test("P3: only the last didLoad reaches data(for:), and a delegate gets every chunk")
    func chunks() async throws {
      let script = Probe.Script(start: { $0.answer(200, [:], ["aaa", "bbb"]) })
      let (session, url) = Probe.session(script)
      let (data, _) = try await session.data(from: url)
      #expect(
        String(decoding: data, as: UTF8.self) == "bbb",
        "P3 has changed: ClientRelay.stream need not collect chunks for completion handlers any more")
      let recorder = Recorder()
      let (delegating, other) = Probe.session(script, delegate: recorder)
      delegating.dataTask(with: other).resume()
      await recorder.finished.wait()
      #expect(
        recorder.entries.contains(.data("aaa")) && recorder.entries.contains(.data("bbb")),
        "P3 has changed: a delegate does not get every chunk any more, so streaming to it is broken")
    }

    @Test("P4: task.delegate is the session's delegate, for a task with a completion handler too")
    func delegates() async throws {
      let seen = Log<Bool>()
      let recorder = Recorder()
      let script = Probe.Script(start: { probe in
        seen.add(probe.task?.delegate === recorder)
        probe.answer()
      })
      let (session, url) = Probe.session(script, delegate: recorder)
      _ = await complete(session, url)
      #expect(seen.all == [true], "P4 has changed: PlatformClient asks task.delegate about redirects and challenges")
    }

    @Test("P5: telling the client of a redirect ends the process", .exitTest)
    func redirect() async {
      await #expect(
        processExitsWith: .failure,
        "P5 has changed: redirects may be handed to the loading system, as on Apple platforms"
      ) {
        Process.limit(isToFail: true)
        let script = Probe.Script(start: { probe in
          guard let url = probe.request.url,
            let head = HTTPURLResponse(
              url: url, statusCode: 302, httpVersion: "HTTP/1.1", headerFields: ["Location": "/next"])
          else { return }
          probe.client?.urlProtocol(probe, wasRedirectedTo: probe.request, redirectResponse: head)
        })
        let (session, url) = Probe.session(script)
        // An error would end the process too.
        _ = try? await session.data(from: url)
      }
    }

    @Test(
      "P6: canInit(with: URLRequest) is called once per task, canInit(with: URLSessionTask) and canonicalRequest never")
    func asked() async throws {
      let (session, url) = Probe.session()
      _ = try await session.data(from: url)
      #expect(
        Probe.log.calls(url) == [.canInitRequest, .startLoading],
        """
        P6 has changed: InterceptingProtocol leans on one canInit, right before init, and on nobody asking for a \
        canonical request
        """
      )
    }

    @Test(
      """
      P7: init runs inside resume(), where a task-local value is visible, and startLoading does not; mainDocumentURL \
      survives
      """
    )
    func visible() async throws {
      let script = Probe.Script(start: { probe in
        probe.answer(
          200,
          [
            "X-Init": probe.seenNote, "X-Start": Probe.note,
            "X-Tag": probe.request.mainDocumentURL?.absoluteString ?? "",
          ])
      })
      let (session, url) = Probe.session(script)
      var request = URLRequest(url: url)
      request.mainDocumentURL = URL(string: "tag:1")
      let copy = request
      let (_, response) = try await Probe.$note.withValue("seen") { try await session.data(for: copy) }
      let head = try #require(response as? HTTPURLResponse)
      #expect(
        head.value(forHTTPHeaderField: "X-Init") == "seen",
        "P7 has changed: re-entry is not recognised by the task any more")
      #expect(
        head.value(forHTTPHeaderField: "X-Start") == "none",
        "P7 has changed: a task-local value is visible in startLoading")
      #expect(
        head.value(forHTTPHeaderField: "X-Tag") == "tag:1",
        "P7 has changed: RequestTag does not reach the protocol any more")
    }

    @Test("P8: a property of an NSMutableURLRequest is lost when it becomes a URLRequest")
    func property() {
      let mutable = NSMutableURLRequest(url: .example)
      URLProtocol.setProperty("tag", forKey: "key", in: mutable)
      // Nothing can be converted to or from the reference type here but the URL request itself.
      let request = mutable._bridgeToSwift()
      #expect(
        URLProtocol.property(forKey: "key", in: request) == nil,
        "P8 has changed: RequestTag could use a property here as on Apple platforms")
    }

    @Test("P9: an upload's body is not in the request that the protocol sees; a data task's is")
    func uploads() async throws {
      let script = Probe.Script(start: { probe in
        let hasBody = probe.request.httpBody != nil || probe.request.httpBodyStream != nil
        probe.answer(200, ["X-Body": hasBody ? "yes" : "no"])
      })
      let (session, url) = Probe.session(script)
      var request = URLRequest(url: url)
      request.httpMethod = "POST"
      let (_, uploaded) = try await session.upload(for: request, from: Data("x".utf8))
      #expect(
        (uploaded as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-Body") == "no",
        "P9 has changed: TaskInternals.uploadBody need not read knownBody any more")
      request.httpBody = Data("x".utf8)
      let (_, sent) = try await session.data(for: request)
      #expect(
        (sent as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-Body") == "yes",
        "P9 has changed: httpBody is gone from a data task")
    }

    @Test("P10: the configuration's header fields and timeout are not in the request that the protocol sees")
    func additional() async throws {
      let script = Probe.Script(start: { probe in
        let sees = probe.request.value(forHTTPHeaderField: "X-Additional") != nil
        probe.answer(200, ["X-Sees": "\(sees)", "X-Timeout": "\(probe.request.timeoutInterval)"])
      })
      let (session, url) = Probe.session(script) {
        $0.httpAdditionalHeaders = ["X-Additional": "1"]
        $0.timeoutIntervalForRequest = 7
      }
      let (_, response) = try await session.data(from: url)
      let head = try #require(response as? HTTPURLResponse)
      #expect(
        head.value(forHTTPHeaderField: "X-Sees") == "false",
        "P10 has changed: LoadContext.prepare need not add header fields any more")
      #expect(
        head.value(forHTTPHeaderField: "X-Timeout") == "60.0",
        "P10 has changed: the request knows its timeout, so LoadContext need not tell 60 s from the default")
    }

    @Test(
      "P11: a registered class is not asked by a session with a configuration; a class set on a live configuration is")
    func live() async throws {
      let (_, url) = Probe.session()
      let session = URLSession(configuration: .ephemeral)
      _ = URLProtocol.registerClass(Probe.self)
      let code = await failureCode { try await session.data(from: url) }
      URLProtocol.unregisterClass(Probe.self)
      #expect(
        code != nil, "P11 has changed: registerClass reaches sessions of one's own, so every registered class is global"
      )
      session.configuration.protocolClasses = [Probe.self]
      let answer = try await session.text(from: url)
      #expect(
        answer.1 == "answer", "P11 has changed: interceptSharedSession cannot change a live configuration any more")
    }

    @Test("P12: a generic subclass is a class of its own for each type argument made at run time")
    func classes() {
      let registry = InterceptorRegistry { Link.answer("x") }
      let classes = (0..<100).map { _ in ObjectIdentifier(registry.protocolClass) }
      #expect(Set(classes).count == 100, "P12 has changed: ProtocolClasses gives two installations one class")
      registry.invalidate()
    }

    @Test("P13: a download task through a custom protocol ends the process", .exitTest)
    func download() async {
      await #expect(
        processExitsWith: .failure,
        "P13 has changed: a download task may end well without TaskInternals.setDownloadedFile"
      ) {
        Process.limit(isToFail: true)
        let (session, url) = Probe.session()
        _ = try? await session.download(from: url)
      }
    }

    @Test("P14: the retry with a delegate's credential bypasses the protocol and goes to the network")
    func bypass() async throws {
      try await withOrigin { origin in
        let credential = Passed(URLCredential(user: "a", password: "b", persistence: .none))
        let session = ProbeChallenge.session(port: origin.port, "Basic realm=\"r\"", credential.value)
        let (_, response) = try await session.data(from: origin.url("/hello"))
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        #expect(
          origin.requests.count == 1, "P14 has changed: ChallengeProofResponse need not hide a challenge any more")
      }
    }

    @Test(
      "P14: of the schemes Basic alone is a challenge: a delegate is not asked about any other",
      arguments: ["Digest", "NTLM", "Negotiate"])
    func otherSchemes(scheme: String) async throws {
      try await withOrigin { origin in
        let credential = URLCredential(user: "a", password: "b", persistence: .none)
        let session = ProbeChallenge.session(port: origin.port, "\(scheme) realm=\"r\", nonce=\"n\"", credential)
        let answer = try await session.text(from: origin.url("/hello"))
        #expect(
          answer.0 == 401 && origin.requests.isEmpty,
          "P14 has changed: Foundation answers \(scheme), so Authentication should ask about it too")
      }
    }

    @Test("P15: a timeout never fires for a custom protocol, long after it has for the network")
    func timeouts() async throws {
      try await withOrigin { origin in
        let (session, url) = Probe.session(Probe.Script(start: { _ in }))
        var request = URLRequest(url: url)
        request.timeoutInterval = 0.2
        let recorder = Recorder()
        let task = session.dataTask(with: request)
        task.delegate = recorder
        task.resume()
        await Probe.log.wait(.startLoading, url, count: 1)
        var silent = URLRequest(url: origin.url("/never"))
        silent.timeoutInterval = 1
        let copy = silent
        let code = await failureCode { try await URLSession(configuration: .ephemeral).data(for: copy) }
        #expect(code == .timedOut)
        #expect(
          task.state == .running && recorder.entries.isEmpty,
          "P15 has changed: LoadWatch and the loading system would both time a load out"
        )
        task.cancel()
      }
    }

    @Test(
      "P16: suspend() calls stopLoading, resume() startLoading again on the same object; a finished load is not stopped"
    )
    func suspend() async throws {
      let objects = Log<ObjectIdentifier>()
      let script = Probe.Script(start: { probe in
        objects.add(ObjectIdentifier(probe))
        if objects.all.count == 2 { probe.answer() }
      })
      let recorder = Recorder()
      let (session, url) = Probe.session(script, delegate: recorder)
      let task = session.dataTask(with: url)
      task.resume()
      await Probe.log.wait(.startLoading, url, count: 1)
      task.suspend()
      await Probe.log.wait(.stopLoading, url, count: 1)
      task.resume()
      await recorder.finished.wait()
      #expect(
        Probe.log.calls(url) == [.canInitRequest, .startLoading, .stopLoading, .startLoading]
          && Set(objects.all).count == 1,
        """
        P16 has changed: InterceptingProtocol takes a second startLoading for a resume, and stopLoading for a pause \
        or a cancel
        """
      )
    }

    @Test("P2, P18, P22: making another session's task inside startLoading ends the process", .exitTest)
    func trap() async {
      await #expect(
        processExitsWith: .failure,
        "P18 has changed: an inline interceptor could use the loading system, and rule 9 could go"
      ) {
        Process.limit(isToFail: true)
        let (other, otherURL) = Probe.session()
        let (session, url) = Probe.session(
          Probe.Script(start: { probe in
            other.dataTask(with: otherURL).resume()
            probe.answer()
          }))
        // An error would end the process too.
        _ = try? await session.data(from: url)
      }
    }

    @Test(
      """
      P19: a protocol's Set-Cookie is not stored, its answer is not cached, and a delegate's disposition does not \
      count
      """
    )
    func stored() async throws {
      let fields = ["Set-Cookie": "a=1", "Cache-Control": "max-age=600"]
      let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
      let (session, url) = Probe.session(Probe.Script(start: { $0.answer(200, fields) })) { $0.urlCache = cache }
      _ = try await session.data(from: url)
      #expect(
        session.configuration.httpCookieStorage?.cookies?.isEmpty ?? true,
        "P19 has changed: cookies would be stored twice")
      #expect(
        cache.cachedResponse(for: URLRequest(url: url)) == nil, "P19 has changed: a protocol's answers are cached")
      let refusing = RefusingDelegate()
      let (delegating, other) = Probe.session(delegate: refusing)
      delegating.dataTask(with: other).resume()
      await refusing.finished.wait()
      #expect(
        refusing.error.withLock { $0 } == nil, "P19 has changed: a disposition of .cancel now cancels a protocol's task"
      )
    }

    @Test("P21: resume() on a running task calls startLoading again, where the client may be called")
    func secondStart() async throws {
      let starts = Log<Int>()
      let script = Probe.Script(start: { probe in
        starts.add(1)
        guard starts.all.count == 1 else { return probe.answer() }
        let task = Passed(probe.task)
        DispatchQueue.global().async { task.value?.resume() }
      })
      let (session, url) = Probe.session(script)
      let answer = try await session.text(from: url)
      #expect(
        answer.1 == "answer" && starts.all.count == 2,
        """
        P21 has changed: the public way back to the client's queue, which TaskInternals names as the alternative, is \
        gone
        """
      )
    }

    @Test("P25: data(from:delegate:) loses its delegate; task.delegate does not")
    func lostDelegate() async throws {
      let second = Event()
      let seen = Log<Bool>()
      let script = Probe.Script(start: { probe in
        seen.add(probe.task?.delegate != nil)
        probe.answer()
        if seen.all.count == 2 { second.happen() }
      })
      let (session, url) = Probe.session(script)
      let recorder = Recorder()
      _ = try await session.data(from: url, delegate: recorder)
      let task = session.dataTask(with: url)
      task.delegate = recorder
      task.resume()
      await second.wait()
      #expect(
        seen.all == [false, true], "P25 has changed: say in the guide that data(from:delegate:) keeps its delegate")
    }

    @Test("P26: protection spaces that describe the same realm are not equal")
    func spaces() {
      func space() -> URLProtectionSpace {
        URLProtectionSpace(
          host: "example.com", port: 80, protocol: NSURLProtectionSpaceHTTP, realm: "r",
          authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
      }
      #expect(space() != space(), "P26 has changed: ProtectionSpace need not look through a storage any more")
    }

    @Test("P29: a session replaces an app's cookies by the storage's, whatever the request says")
    func cookies() async throws {
      let configuration = URLSessionConfiguration.ephemeral
      configuration.httpCookieStorage?.setCookie(
        try #require(HTTPCookie(properties: [.name: "stored", .value: "1", .domain: "127.0.0.1", .path: "/"])))
      let session = URLSession(configuration: configuration)
      try await withOrigin { origin in
        var request = URLRequest(url: origin.url("/echo"))
        request.httpShouldHandleCookies = false
        request.setValue("mine=1", forHTTPHeaderField: "Cookie")
        _ = try await session.data(for: request)
        #expect(
          origin.requests.last?["Cookie"] == ["stored=1"],
          "P29 has changed: LoadContext.removeCookies is not needed any more")
      }
      session.invalidateAndCancel()
    }

    @Test("P27: cancelling a task on the queue that all sessions share ends the process", .exitTest)
    func cancelTrap() async {
      await #expect(
        processExitsWith: .failure,
        "P27 has changed: PlatformClient.cancel need not leave the queue"
      ) {
        Process.limit(isToFail: true)
        await Probe.cancelOnWorkQueue()
      }
    }
  }

  /// Answers every request to a port of loopback with one challenge.
  private final class ProbeChallenge: URLProtocol {
    private static let challenges = Locked<[Int: String]>([:])

    static func session(port: Int, _ challenge: String, _ credential: URLCredential) -> URLSession {
      challenges.withLock { $0[port] = challenge }
      let configuration = URLSessionConfiguration.ephemeral
      configuration.protocolClasses = [ProbeChallenge.self]
      return URLSession(configuration: configuration, delegate: CredentialDelegate(credential), delegateQueue: nil)
    }

    override class func canInit(with request: URLRequest) -> Bool {
      request.url?.port.map { port in challenges.withLock { $0[port] != nil } } ?? false
    }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func stopLoading() {}

    override func startLoading() {
      guard let url = request.url, let challenge = Self.challenges.withLock({ $0[url.port ?? 0] }),
        let head = HTTPURLResponse(
          url: url, statusCode: 401, httpVersion: "HTTP/1.1", headerFields: ["WWW-Authenticate": challenge])
      else { return }
      client?.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed)
      client?.urlProtocolDidFinishLoading(self)
    }
  }

  private final class CredentialDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private let credential: URLCredential

    init(_ credential: URLCredential) {
      self.credential = credential
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      completionHandler(.useCredential, credential)
    }
  }

  private final class RefusingDelegate: NSObject, URLSessionDataDelegate, Sendable {
    let finished = Event()
    let error = Locked<(any Error)?>(nil)

    func urlSession(
      _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
      completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
      completionHandler(.cancel)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      self.error.withLock { $0 = error }
      finished.happen()
    }
  }
#endif
