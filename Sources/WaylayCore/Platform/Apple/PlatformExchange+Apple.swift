#if canImport(Darwin) || WAYLAY_APPLE_MODEL
  import Foundation

  // Written from the documentation, type-checked, and not run by this package's own checks, which run on Linux.

  /// What an exchange on the inner session does differently on Apple platforms.
  enum PlatformExchange {
    static let capabilities: TransportCapabilities = [.backPressure, .streamedUploads]

    /// Bytes that may wait for a slow reader before its task is suspended.
    static let highWater = 1 << 20

    /// Asks the app through the client of the load. Without one, server trust is the system's to judge, and any other
    /// challenge ends in the response that carried it.
    /// https://developer.apple.com/documentation/foundation/urlsession/authchallengedisposition/rejectprotectionspace
    static func answer(
      _ challenge: URLAuthenticationChallenge, of exchange: Exchange?,
      _ completion: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      if let client = exchange?.observer?.load.delegate as? PlatformClient {
        return client.forward(challenge, completion)
      }
      completion(challenge.isServerTrust ? .performDefaultHandling : .rejectProtectionSpace, nil)
    }

    /// A request body in the form the inner session can send: a stream is read as the connection takes it.
    struct Upload: Sendable {
      private let body: MessageBody
      private let pump = Locked<Task<Void, Never>?>(nil)

      init(_ body: MessageBody) async throws {
        self.body = body
      }

      /// A protocol class sees any body as a stream here, whatever task it came from.
      func makeTask(
        _ request: URLRequest, in session: URLSession, showsBody: Bool, toForeignClasses: Bool
      ) -> URLSessionTask {
        if body.isEmpty { return session.dataTask(with: request) }
        if let data = body.inMemory { return session.uploadTask(with: request, from: data) }
        if let file = body.fileURL { return session.uploadTask(with: request, fromFile: file) }
        var request = request
        request.httpBodyStream = openStream()
        return session.dataTask(with: request)
      }

      private func openStream() -> InputStream? {
        let (input, output) = Stream.boundPair(bufferSize: MessageBody.chunkSize)
        guard let output else { return input }
        let writer = StreamWriter(output)
        let task = Task { [body] in
          do {
            for try await chunk in body { try await writer.write(chunk) }
            writer.close()
          } catch {
            writer.close()
          }
        }
        pump.withLock { $0 = task }
        return input
      }

      /// Ends the reading of the body.
      func discard() {
        pump.withLock { $0 }?.cancel()
      }
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

    func write(_ data: Data) async throws {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        queue.async { continuation.resume(with: Result { try self.writeAll(data) }) }
      }
    }

    private func writeAll(_ data: Data) throws {
      try data.withUnsafeBytes { buffer in
        guard let base = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
        var written = 0
        while written < buffer.count {
          let count = output.write(base + written, maxLength: buffer.count - written)
          guard count > 0 else { throw output.streamError ?? URLError(.networkConnectionLost) }
          written += count
        }
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
    ///   load it is, and inside `stopLoading`, after which it must hear nothing, it is not.
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
