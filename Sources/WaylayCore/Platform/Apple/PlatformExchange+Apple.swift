#if !CORELIBS_FOUNDATION || WAYLAY_APPLE_MODEL
  import Foundation

  // Written from the documentation, type-checked, and not run by this package's own checks, which run on Linux.

  /// What an exchange on the inner session does differently on Apple platforms.
  enum PlatformExchange {
    static let capabilities: TransportCapabilities = [.backPressure, .streamedUploads]

    /// Whether the session's challenges can do it; an identity is made of PKCS #12 alone.
    static func supports(_ demands: TransportSecurity.Demands) -> Bool {
      if case .pem = demands.certificate?.form { false } else { true }
    }

    /// Bytes that may wait for a slow reader before its task is suspended.
    static let highWater = 1 << 20

    /// Asks the app through the client of the load. Without one, a challenge that the load answers ends in the response
    /// that carried it, and any other is the system's: server trust, identities, proxies.
    /// https://developer.apple.com/documentation/foundation/urlsession/authchallengedisposition/rejectprotectionspace
    static func answer(
      _ challenge: URLAuthenticationChallenge, of exchange: SessionExchange?,
      _ completion: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      // Pins come besides the judgement on the certificate, which follows as ever.
      if let demands = exchange?.demands, let pins = demands.pins ?? demands.reported, challenge.isServerTrust {
        exchange?.isPinned = challenge.leafCertificate.flatMap(PublicKeyInfo.digest).map(pins.contains) ?? false
      }
      if exchange?.demands?.pins != nil, exchange?.isPinned == false {
        exchange?.fail(
          TransportError(
            .serverCertificateUntrusted, code: .pinMismatch, phase: .securing, requestBytesSent: 0,
            message: "the server's public key is not among the pins of \(challenge.protectionSpace.host)."))
        return completion(.cancelAuthenticationChallenge, nil)
      }
      if let certificate = exchange?.demands?.certificate, challenge.asksForCertificate {
        let credential = URLCredential.certificate(certificate)
        return completion(credential == nil ? .cancelAuthenticationChallenge : .useCredential, credential)
      }
      if let client = exchange?.observer?.load.delegate as? PlatformClient {
        return client.forward(challenge, completion)
      }
      completion(challenge.isForLoad ? .rejectProtectionSpace : .performDefaultHandling, nil)
    }

    /// A request body in the form the inner session can send: a stream is read as the connection takes it.
    struct Upload: Sendable {
      private struct Sending {
        var pump: Task<Void, Never>?
        /// Kept as long as the exchange: without it the stream would end, as if it were complete.
        var writer: StreamWriter?
      }

      private let body: MessageBody
      /// What the head says of a body that is sent as a stream.
      private let length: Int64?
      private let sending = Locked(Sending())

      init(_ request: InterceptedRequest) async throws {
        body = request.body
        length = request.declaredLength
      }

      /// The session knows the length of data and files, and that of a stream by this field alone: without one the body
      /// goes out in chunks.
      /// https://developer.apple.com/documentation/foundation/urlrequest/httpbodystream
      var contentLength: String? {
        body.isEmpty || body.inMemory != nil || body.fileURL != nil ? nil : length.map { "\($0)" }
      }

      /// A protocol class sees any body as a stream here, whatever task it came from.
      func makeTask(
        _ request: URLRequest, in session: URLSession, for exchange: SessionExchange, toForeignClasses: Bool
      ) -> URLSessionTask {
        if body.isEmpty { return session.dataTask(with: request) }
        if let data = body.inMemory { return session.uploadTask(with: request, from: data) }
        if let file = body.fileURL { return session.uploadTask(with: request, fromFile: file) }
        var request = request
        request.httpBodyStream = openStream(for: exchange)
        return session.dataTask(with: request)
      }

      /// The body once more, where it can be read once more.
      /// https://developer.apple.com/documentation/foundation/urlsessiontaskdelegate/urlsession(_:task:neednewbodystream:)
      func newStream(for exchange: SessionExchange) -> InputStream? {
        if let data = body.inMemory { return InputStream(data: data) }
        if let file = body.fileURL { return InputStream(url: file) }
        if body.isReplayable { return openStream(for: exchange) }
        exchange.fail(
          MessageBody.consumed(by: body.consumedBy ?? "the transport", wantedBy: "the connection, to send it again,"))
        return nil
      }

      private func openStream(for exchange: SessionExchange) -> InputStream? {
        let (input, output) = Stream.boundPair(bufferSize: MessageBody.chunkSize)
        guard let output else { return input }
        let writer = StreamWriter(output)
        let pump = Task { [self, weak exchange] in
          do {
            if try await copy(to: writer) { writer.close() }
          } catch {
            // Not closed: what has been sent would be taken for all of it.
            if !Task.isCancelled { exchange?.fail(error) }
          }
        }
        let former = sending.withLock { sending in
          defer { sending = Sending(pump: pump, writer: writer) }
          return sending
        }
        former.pump?.cancel()
        return input
      }

      /// Writes the body, and checks its length against the one that the head says.
      ///
      /// - Returns: Whether all of it was written. The session ends the reading where an answer has come early, or where
      ///   it begins again.
      private func copy(to writer: StreamWriter) async throws -> Bool {
        var count: Int64 = 0
        for try await chunk in body {
          count += Int64(chunk.count)
          if let length, count > length { throw MessageBody.wrongLength(count, declared: length) }
          guard await writer.write(chunk) else { return false }
        }
        if let length, count < length { throw MessageBody.wrongLength(count, declared: length) }
        return true
      }

      /// Ends the reading of the body.
      func discard() {
        sending.withLock { $0.pump }?.cancel()
      }
    }
  }

  extension InterceptedRequest {
    /// The length of the body: what it knows itself, or what its field says.
    fileprivate var declaredLength: Int64? {
      body.length ?? fields[.contentLength].flatMap { Int64(decimal: $0) }
    }
  }

  extension MessageBody {
    static func wrongLength(_ count: Int64, declared: Int64) -> WaylayError {
      WaylayError(
        .bodyUnreadable,
        "the request's body is \(count < declared ? "shorter" : "longer") than declared: \(declared) bytes were declared. "
          + "Declare the actual length, or none.")
    }
  }

  /// Writes to the sending half of a bound pair, on a queue of its own, because a full buffer blocks.
  private final class StreamWriter: @unchecked Sendable {
    // Unchecked: `output` is only touched on `queue`.
    private let output: OutputStream
    private let queue = DispatchQueue(label: "waylay.output-stream")

    init(_ output: OutputStream) {
      self.output = output
      queue.async { self.output.open() }
    }

    deinit {
      output.close()
    }

    /// Whether the reader has room for all of it; not when it reads no more.
    func write(_ data: Data) async -> Bool {
      await withCheckedContinuation { continuation in
        queue.async { continuation.resume(returning: self.writeAll(data)) }
      }
    }

    private func writeAll(_ data: Data) -> Bool {
      data.withUnsafeBytes { buffer in
        guard let base = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return true }
        var written = 0
        while written < buffer.count {
          let count = output.write(base + written, maxLength: buffer.count - written)
          guard count > 0 else { return false }
          written += count
        }
        return true
      }
    }

    func close() {
      queue.async { self.output.close() }
    }
  }

  // Run by this package's checks against a model of Apple's loading system, and not yet on an Apple platform.
  // https://developer.apple.com/documentation/foundation/urlprotocolclient/urlprotocol(_:didreceive:)-6n9aj
  // https://developer.apple.com/documentation/foundation/urlauthenticationchallengesender

  /// Hands the inner session's challenges to the app, one at a time, as the Read Me of CustomHTTPProtocol asks.
  ///
  /// Unchecked: used on the client's thread only. Answers come on any thread, to a ``Question``, which guards itself.
  final class ChallengeForwarder: @unchecked Sendable {
    typealias Completion = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

    private unowned let client: PlatformClient
    private var waiting: [(URLAuthenticationChallenge, Completion)] = []
    private var outstanding: (challenge: URLAuthenticationChallenge, question: Question)?
    private var isClosed = false

    init(_ client: PlatformClient) {
      self.client = client
    }

    /// Asks the app, after what it is being asked already.
    func forward(_ challenge: URLAuthenticationChallenge, _ completion: @escaping Completion) {
      guard !isClosed else { return completion(.cancelAuthenticationChallenge, nil) }
      waiting.append((challenge, completion))
      askNext()
    }

    private func askNext() {
      if outstanding?.question.isAnswered == true { outstanding = nil }
      guard !isClosed, outstanding == nil, !waiting.isEmpty else { return }
      let (challenge, completion) = waiting.removeFirst()
      let question = Question { [client] disposition, credential in
        completion(disposition, credential)
        client.schedule { client.challenges.askNext() }
      }
      let ours = URLAuthenticationChallenge(authenticationChallenge: challenge, sender: question)
      outstanding = (ours, question)
      client.ask(ours)
    }

    /// Ends all questions, at the latest when the load ends.
    ///
    /// - Parameter isTelling: Whether the app is told to withdraw what it is being asked: before the last word of a
    ///   load it is, and inside `stopLoading`, after which it must not be called, it is not.
    func close(isTelling: Bool) {
      guard !isClosed else { return }
      isClosed = true
      if let (challenge, question) = outstanding, let completion = question.withdraw() {
        if isTelling { client.withdraw(challenge) }
        completion(.cancelAuthenticationChallenge, nil)
      }
      outstanding = nil
      for (_, completion) in waiting { completion(.cancelAuthenticationChallenge, nil) }
      waiting = []
    }
  }

  /// The sender of one challenge: whatever answers there are, on whatever threads, the first one counts, unless it has
  /// been withdrawn.
  private final class Question: NSObject, URLAuthenticationChallengeSender, Sendable {
    private let completion: Locked<ChallengeForwarder.Completion?>

    init(_ completion: @escaping ChallengeForwarder.Completion) {
      self.completion = Locked(completion)
    }

    var isAnswered: Bool { completion.withLock { $0 == nil } }

    /// Takes the question back; `nil` when it has been answered.
    func withdraw() -> ChallengeForwarder.Completion? {
      completion.withLock { completion in
        defer { completion = nil }
        return completion
      }
    }

    private func answer(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential? = nil) {
      withdraw()?(disposition, credential)
    }

    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
      answer(.useCredential, credential)
    }

    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {
      answer(.useCredential)
    }

    func cancel(_ challenge: URLAuthenticationChallenge) {
      answer(.cancelAuthenticationChallenge)
    }

    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {
      answer(.performDefaultHandling)
    }

    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {
      answer(.rejectProtectionSpace)
    }
  }
#endif
