#if canImport(Darwin)
  import Foundation

  // Written from the documentation, and not run by this package's own checks, which run on Linux.
  // https://developer.apple.com/documentation/foundation/urlprotocolclient/urlprotocol(_:didreceive:)-6n9aj
  // https://developer.apple.com/documentation/foundation/urlauthenticationchallengesender

  /// Hands the inner session's challenges to the app, one at a time, as the Read Me of CustomHTTPProtocol asks.
  ///
  /// Unchecked: used on the client's thread only, but for `forward`, which goes there first.
  final class ChallengeForwarder: NSObject, URLAuthenticationChallengeSender, @unchecked Sendable {
    typealias Completion = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

    private let loader: InterceptingProtocol
    private var waiting: [(URLAuthenticationChallenge, Completion)] = []
    private var outstanding: (URLAuthenticationChallenge, Completion)?

    init(_ loader: InterceptingProtocol) {
      self.loader = loader
    }

    /// Asks the app; on the client's thread.
    func forward(_ challenge: URLAuthenticationChallenge, _ completion: @escaping Completion) {
      waiting.append((challenge, completion))
      askNext()
    }

    private func askNext() {
      guard outstanding == nil, !waiting.isEmpty else { return }
      let (challenge, completion) = waiting.removeFirst()
      let ours = URLAuthenticationChallenge(authenticationChallenge: challenge, sender: self)
      outstanding = (ours, completion)
      loader.client?.urlProtocol(loader, didReceive: ours)
    }

    /// Withdraws what is outstanding, as must be done before a load fails; on the client's thread.
    func cancelAll() {
      if let (challenge, completion) = outstanding {
        outstanding = nil
        loader.client?.urlProtocol(loader, didCancel: challenge)
        completion(.cancelAuthenticationChallenge, nil)
      }
      for (_, completion) in waiting { completion(.cancelAuthenticationChallenge, nil) }
      waiting = []
    }

    private func answer(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?) {
      guard let (_, completion) = outstanding else { return }
      outstanding = nil
      completion(disposition, credential)
      askNext()
    }

    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
      answer(.useCredential, credential)
    }

    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {
      answer(.useCredential, nil)
    }

    func cancel(_ challenge: URLAuthenticationChallenge) {
      answer(.cancelAuthenticationChallenge, nil)
    }

    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {
      answer(.performDefaultHandling, nil)
    }

    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {
      answer(.rejectProtectionSpace, nil)
    }
  }
#endif
