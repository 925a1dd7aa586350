#if !CORELIBS_FOUNDATION || WAYLAY_APPLE_MODEL
  import Foundation

  // Written from the documentation, type-checked, and not run by this package's own checks, which run on Linux.

  /// The parts of an exchange on the inner session that differ between platforms.
  enum PlatformExchange {
    static let capabilities: TransportCapabilities = [.backPressure, .streamedUploads]

    /// Whether the session's challenges can meet the demands: an identity can only be made from PKCS #12.
    static func supports(_ demands: TransportSecurity.Demands) -> Bool {
      if case .pem = demands.certificate?.form { false } else { true }
    }

    /// The number of bytes buffered for a slow reader before the task is suspended.
    static let highWater = 1 << 20

    /// Asks the app through the client of the load. Without a client, a challenge that the load answers itself is
    /// rejected, so that the load gets the response with it; the system handles any other: server trust, identities,
    /// proxies.
    /// https://developer.apple.com/documentation/foundation/urlsession/authchallengedisposition/rejectprotectionspace
    static func answer(
      _ challenge: URLAuthenticationChallenge, of exchange: SessionExchange?,
      _ completion: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      // Pins are checked in addition to the certificate, whose validation follows.
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
        /// Retained as long as the exchange: releasing it would end the stream as if it were complete.
        var writer: StreamWriter?
      }

      private let body: MessageBody
      /// The declared length of a body that is sent as a stream.
      private let length: Int64?
      private let sending = Locked(Sending())

      init(_ request: InterceptedRequest) async throws {
        body = request.body
        length = request.declaredLength
      }

      /// The session knows the length of data and files, and that of a stream only from this field: without it, the
      /// body is sent in chunks. https://developer.apple.com/documentation/foundation/urlrequest/httpbodystream
      var contentLength: String? {
        body.isEmpty || body.inMemory != nil || body.fileURL != nil ? nil : length.map { "\($0)" }
      }

      /// Makes the task. Protocol classes see any body as a stream here, whatever kind of task it came from.
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

      /// A new stream of the body, if the body is replayable.
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
            // Do not close the stream: the sent part would pass for the whole body.
            if !Task.isCancelled { exchange?.fail(error) }
          }
        }
        let former = sending.withLock { Swift.exchange(&$0, with: Sending(pump: pump, writer: writer)) }
        former.pump?.cancel()
        return input
      }

      /// Writes the body, and checks that it has the declared length.
      ///
      /// - Returns: Whether all of it was written. The session stops reading after an early response, or before it
      ///   starts over.
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
    /// The length of the body: the known one, or the declared one.
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

    /// Writes data. Returns whether all of it was written: `false` if the reader has stopped.
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
  /// Unchecked: used on the client's thread only. Answers may come on any thread, because ``Question`` is thread-safe.
  final class ChallengeForwarder: @unchecked Sendable {
    typealias Completion = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

    private unowned let client: PlatformClient
    private var waiting: [(URLAuthenticationChallenge, Completion)] = []
    private var outstanding: (challenge: URLAuthenticationChallenge, question: Question)?
    private var isClosed = false

    init(_ client: PlatformClient) {
      self.client = client
    }

    /// Asks the app, after all pending challenges.
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

    /// Cancels all pending challenges, at the latest when the load ends.
    ///
    /// - Parameter isTelling: Whether to inform the app of the cancellation: before the terminal event of a load, but
    ///   not inside `stopLoading`, after which the client must not be called.
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

  /// The sender of one challenge. The first answer counts, on any thread, unless the challenge was withdrawn.
  private final class Question: NSObject, URLAuthenticationChallengeSender, Sendable {
    private let completion: Locked<ChallengeForwarder.Completion?>

    init(_ completion: @escaping ChallengeForwarder.Completion) {
      self.completion = Locked(completion)
    }

    var isAnswered: Bool { completion.withLock { $0 == nil } }

    /// Withdraws the challenge; returns `nil` if it was answered.
    func withdraw() -> ChallengeForwarder.Completion? {
      completion.withLock { $0.take() }
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
