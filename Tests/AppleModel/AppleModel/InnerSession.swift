#if !canImport(Darwin)
  package import AppleCore
  import Foundation
  package import FoundationNetworking

  /// What a server of the inner session was sent: a request whose end has come.
  package struct Received: Sendable, Equatable {
    package var method: String
    package var path: String
    package var load: String
    /// The length that its head says; none for a body that comes in chunks.
    package var contentLength: String?
    package var body: Data
    /// Whether the app's body cannot be complete.
    package var isBroken = false
  }

  /// An inner session for the Apple half: it calls its delegate on a queue of its own, as Apple's does, reads the bodies
  /// of requests, and answers for a server.
  ///
  /// Where the documentation leaves it open, it does the least comfortable thing: suspensions nest, and data goes on to
  /// arrive after one.
  package final class InnerSession: URLSession, @unchecked Sendable {
    /// A server, by the path of the request.
    package struct Server: Sendable {
      package init() {}

      /// The size of each answer to `flood`, in chunks of 64 KiB.
      package var flood = 48
      /// Chunks that arrive although the task is suspended.
      package var late = 3
      /// Called inside `suspend()`, before it takes effect.
      package var onSuspend: @Sendable () -> Void = {}
      /// Called after a task has been told that there is no network, before there is one.
      package var whileOffline: @Sendable () -> Void = {}
    }

    /// What all sessions of a run have seen.
    package final class Ledger: Sendable {
      fileprivate struct State {
        var received: [Received] = []
        var suspensions = 0
        var resumptions = 0
        var deepest = 0
        var credentialStorages: [URLCredentialStorage?] = []
      }

      fileprivate let state = Locked(State())

      package init() {}

      package var received: [Received] { state.withLock { $0.received } }
      /// Those of the sessions that were made.
      package var credentialStorages: [URLCredentialStorage?] { state.withLock { $0.credentialStorages } }
      package var suspensions: Int { state.withLock { $0.suspensions } }
      package var resumptions: Int { state.withLock { $0.resumptions } }
      /// How many suspensions of one task were in force at once.
      package var deepest: Int { state.withLock { $0.deepest } }
    }

    let server: Server
    let ledger: Ledger
    // Unchecked: a delegate of ours is Sendable; the queue is one.
    let events: any URLSessionDataDelegate
    let queue = DispatchQueue(label: "model.delegate-queue")

    /// A transport of the Apple half over such a session.
    package static func transport(
      _ server: Server = Server(), _ ledger: Ledger = Ledger(), _ configuration: URLSessionConfiguration = .ephemeral
    ) -> any Transport {
      URLSessionTransport(configuration: configuration, limits: MessageLimits()) { configuration, delegate in
        guard let delegate = delegate as? any URLSessionDataDelegate else { preconditionFailure("no data delegate") }
        return InnerSession(configuration, delegate, server, ledger)
      }
    }

    private init(
      _ configuration: URLSessionConfiguration, _ delegate: any URLSessionDataDelegate, _ server: Server,
      _ ledger: Ledger
    ) {
      self.server = server
      self.ledger = ledger
      events = delegate
      ledger.state.withLock { $0.credentialStorages.append(configuration.urlCredentialStorage) }
      super.init(configuration: configuration, delegate: nil, delegateQueue: nil)
    }

    private func make(_ request: URLRequest, _ body: InnerTask.Body) -> InnerTask {
      InnerTask(self, request, body)
    }

    package override func dataTask(with request: URLRequest) -> URLSessionDataTask {
      if let stream = request.httpBodyStream { return make(request, .stream(stream)) }
      return make(request, request.httpBody.map { .data($0) } ?? .none)
    }

    package override func uploadTask(with request: URLRequest, from body: Data) -> URLSessionUploadTask {
      make(request, .data(body))
    }

    package override func uploadTask(with request: URLRequest, fromFile file: URL) -> URLSessionUploadTask {
      make(request, .file(file))
    }
  }

  /// A task of the inner session.
  final class InnerTask: URLSessionUploadTask, @unchecked Sendable {
    enum Body {
      case none
      case data(Data)
      case file(URL)
      case stream(InputStream)
    }

    fileprivate struct State {
      var hasStarted = false
      var isCancelled = false
      var isOver = false
      var held = 0
      var wakers: [CheckedContinuation<Void, Never>] = []
    }

    private let session: InnerSession
    private let request: URLRequest
    // Unchecked: used by the one task that runs.
    private var body: Body
    private let status = Locked(State())

    override init() { preconditionFailure("a session makes it") }

    init(_ session: InnerSession, _ request: URLRequest, _ body: Body) {
      (self.session, self.request, self.body) = (session, request, body)
      super.init()
    }

    private var isCancelled: Bool { status.withLock { $0.isCancelled } }
    private func field(_ name: String) -> String? { request.value(forHTTPHeaderField: name) }

    // MARK: Called by whoever has the task

    override func resume() {
      let (isFirst, wakers) = status.withLock { state -> (Bool, [CheckedContinuation<Void, Never>]) in
        guard state.hasStarted else {
          state.hasStarted = true
          return (true, [])
        }
        if state.held > 0 {
          state.held -= 1
          session.ledger.state.withLock { $0.resumptions += 1 }
        }
        return (false, state.held == 0 ? state.takeWakers() : [])
      }
      for waker in wakers { waker.resume() }
      if isFirst { Task { await run() } }
    }

    override func suspend() {
      session.server.onSuspend()
      status.withLock { state in
        state.held += 1
        session.ledger.state.withLock { ledger in
          ledger.suspensions += 1
          ledger.deepest = max(ledger.deepest, state.held)
        }
      }
    }

    /// Takes effect a little later: what has been written by then is read.
    override func cancel() {
      session.queue.async {
        let wakers = self.status.withLock { state in
          state.isCancelled = true
          return state.takeWakers()
        }
        for waker in wakers { waker.resume() }
        if case .stream(let stream) = self.body { stream.close() }
        self.end(URLError(.cancelled))
      }
    }

    // MARK: What the loading system does

    private func run() async {
      do {
        let dispositions = try await challenges()
        // A server that answers before it has got all.
        let isEarly = request.url?.path.hasPrefix("/early") ?? false
        if isEarly { respond(200) }
        guard let sent = try await send() else { return end(URLError(.cancelled)) }
        session.ledger.state.withLock { $0.received.append(sent) }
        try await answer(sent, dispositions)
        end(nil)
      } catch {
        end(error)
      }
    }

    /// One call of the delegate after another, and none after the end.
    private func tell(_ event: @escaping @Sendable () -> Void) {
      session.queue.async { if !self.status.withLock({ $0.isOver }) { event() } }
    }

    private func end(_ error: (any Error)?) {
      session.queue.async {
        let isFirst = self.status.withLock { state in
          defer { state.isOver = true }
          return !state.isOver
        }
        if isFirst { self.session.events.urlSession(self.session, task: self, didCompleteWithError: error) }
      }
    }

    /// Asks as many challenges as the request says, at once, and returns what was said to each.
    private func challenges() async throws -> String {
      let count = field("X-Challenges").flatMap { Int($0) } ?? 0
      var said = ""
      let answers = (0..<count).map { number in
        let answer = Promise<URLSession.AuthChallengeDisposition>()
        session.queue.async {
          self.session.events.urlSession(self.session, task: self, didReceive: self.challenge(number)) {
            disposition, _ in
            answer.settle(.success(disposition))
          }
        }
        return answer
      }
      for answer in answers {
        let disposition = try await answer.value()
        guard disposition != .cancelAuthenticationChallenge else { throw URLError(.cancelled) }
        said += "\(disposition.rawValue)"
      }
      return said
    }

    private func challenge(_ number: Int) -> URLAuthenticationChallenge {
      URLAuthenticationChallenge(
        protectionSpace: URLProtectionSpace(
          host: "model.test", port: 443, protocol: NSURLProtectionSpaceHTTPS, realm: "\(number)",
          authenticationMethod: field("X-Method") ?? NSURLAuthenticationMethodDefault),
        proposedCredential: nil, previousFailureCount: 0, failureResponse: nil, error: nil, sender: SilentSender())
    }

    /// Sends the request; the server has it when its end is there. `nil` for one that was cancelled before.
    private func send() async throws -> Received? {
      var received = Received(
        method: request.httpMethod ?? "GET", path: request.url?.path ?? "", load: field("X-Load") ?? "",
        contentLength: field("Content-Length"), body: Data())
      received.isBroken = field("X-Broken") != nil
      // A kept connection may be lost while the request is sent, some times.
      for lost in 0...(field("X-Lost").flatMap { Int($0) } ?? 0) {
        if lost > 0, case .stream(let former) = body {
          former.close()
          guard let stream = await newStream() else { throw URLError(.requestBodyStreamExhausted) }
          body = .stream(stream)
        }
        guard let bytes = await read() else { return nil }
        received.body = bytes
      }
      switch body {
      case .none: break
      case .data, .file: received.contentLength = "\(received.body.count)"
      case .stream:
        // The server waits for the rest in vain.
        if let length = received.contentLength, length != "\(received.body.count)" {
          throw URLError(.networkConnectionLost)
        }
      }
      return isCancelled ? nil : received
    }

    private func newStream() async -> InputStream? {
      let answer = Locked<InputBox?>(nil)
      let isThere = Promise<Void>()
      session.queue.async {
        self.session.events.urlSession(
          self.session, task: self,
          needNewBodyStream: { stream in
            answer.withLock { $0 = InputBox(stream: stream) }
            isThere.settle(.success(()))
          })
      }
      try? await isThere.value()
      return answer.withLock { $0?.stream }
    }

    /// Unchecked: handed from one thread to the next.
    private struct InputBox: @unchecked Sendable { let stream: InputStream? }

    private func read() async -> Data? {
      switch body {
      case .none: return Data()
      case .data(let data): return data
      case .file(let url): return try? Data(contentsOf: url)
      case .stream(let stream):
        let box = InputBox(stream: stream)
        return await withCheckedContinuation { continuation in
          DispatchQueue.global().async { continuation.resume(returning: self.readAll(box)) }
        }
      }
    }

    private func readAll(_ box: InputBox) -> Data? {
      guard let stream = box.stream else { return nil }
      stream.open()
      var data = Data()
      var buffer = [UInt8](repeating: 0, count: 16 * 1024)
      while !isCancelled {
        let count = stream.read(&buffer, maxLength: buffer.count)
        guard count > 0 else { return count == 0 && !isCancelled ? data : nil }
        data.append(contentsOf: buffer[..<count])
      }
      return nil
    }

    // MARK: The server

    private func answer(_ sent: Received, _ dispositions: String) async throws {
      let path = sent.path.split(separator: "/").map(String.init)
      switch path.first {
      case "early": say(sent.body)
      case "parts":
        for part in ["one ", "two ", "three"] {
          respond(200, ["Content-Type": "text/plain"])
          say(Data(part.utf8))
        }
      case "offline":
        tell {
          let events = self.session.events as? any ConnectivityDelegate
          events?.urlSession(self.session, taskIsWaitingForConnectivity: self)
          self.session.server.whileOffline()
        }
        respond(200)
        say(Data("online".utf8))
      case "upload":
        // The first hops lead on; the last one says what it got.
        let left = path.dropFirst().first.flatMap { Int($0) } ?? 0
        guard left == 0 else {
          return respond(307, ["Location": "/upload/\(left - 1)"])
        }
        respond(200)
        say(Data("\(sent.method) \(sent.body.count) \(sent.body.checksum)".utf8))
      case "flood":
        respond(200)
        for number in 0..<session.server.flood {
          await untilResumed(letting: session.server.late)
          if isCancelled { throw URLError(.cancelled) }
          say(Data(repeating: UInt8(truncatingIfNeeded: number), count: 64 * 1024))
        }
      default:
        respond(200)
        say(Data(dispositions.utf8))
      }
    }

    private func respond(_ status: Int, _ fields: [String: String] = [:]) {
      guard let url = request.url,
        let head = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
      else { return }
      if status == 307 {
        // Redirects are told before anything else; whoever does not follow gets the response.
        tell {
          self.session.events.urlSession(
            self.session, task: self, willPerformHTTPRedirection: head, newRequest: self.request
          ) { _ in }
        }
      }
      tell { self.session.events.urlSession(self.session, dataTask: self, didReceive: head) { _ in } }
    }

    private func say(_ data: Data) {
      tell { self.session.events.urlSession(self.session, dataTask: self, didReceive: data) }
    }

    /// Waits while the task is suspended, after some more data than it should.
    private func untilResumed(letting late: Int) async {
      // The delegate has seen what was said.
      await withCheckedContinuation { continuation in session.queue.async { continuation.resume() } }
      let isHeld = status.withLock { state in
        if state.held == 0 { overdue = 0 } else { overdue += 1 }
        return state.held > 0 && overdue > late
      }
      guard isHeld else { return }
      await withCheckedContinuation { continuation in
        let goesOn = status.withLock { state in
          if state.held > 0, !state.isCancelled { state.wakers.append(continuation) }
          return state.held == 0 || state.isCancelled
        }
        if goesOn { continuation.resume() }
      }
    }

    /// Chunks since the suspension.
    private var overdue = 0
  }

  extension InnerTask.State {
    fileprivate mutating func takeWakers() -> [CheckedContinuation<Void, Never>] {
      defer { wakers = [] }
      return wakers
    }
  }

  extension Data {
    /// FNV-1a of every 61st byte: builds for debugging take their time for each.
    package var checksum: UInt64 {
      stride(from: startIndex, to: endIndex, by: 61).reduce(0xcbf2_9ce4_8422_2325) {
        ($0 ^ UInt64(self[$1])) &* 0x100_0000_01b3
      }
    }
  }

  /// The sender of a challenge that is answered by completion handler.
  package final class SilentSender: NSObject, URLAuthenticationChallengeSender, Sendable {
    package override init() {}
    package func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    package func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    package func cancel(_ challenge: URLAuthenticationChallenge) {}
    package func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
    package func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
  }
#endif
