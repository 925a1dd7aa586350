#if canImport(Darwin) || WAYLAY_APPLE_MODEL
  import Foundation

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
