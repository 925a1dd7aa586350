#if !canImport(Darwin)
  import Foundation

  /// A transport with an inner session's way of asking: the challenges of a connection arrive on queues of the session,
  /// several of them at once, and each waits for its answer.
  package struct ModelTransport: Transport {
    package let capabilities: TransportCapabilities = []

    package init() {}

    /// Asks as many challenges as the request's `X-Challenges` says, and answers with what was said to each.
    package func load(_ request: InterceptedRequest) async throws -> InterceptedResponse {
      let count = request.urlRequest.value(forHTTPHeaderField: "X-Challenges").flatMap { Int($0) } ?? 0
      guard let client = Lineage.current?.load?.delegate as? PlatformClient else {
        preconditionFailure("the load has no client of the Apple half")
      }
      let answers = (0..<count).map { _ in Promise<ChallengeReply>() }
      for (number, answer) in answers.enumerated() {
        DispatchQueue.global().async {
          client.forward(Self.challenge(number)) { answer.settle(.success(ChallengeReply($0, $1))) }
        }
      }
      var dispositions = ""
      for answer in answers {
        let given = try await withTaskCancellationHandler {
          try await answer.value()
        } onCancel: {
          answer.settle(.failure(CancellationError()))
        }
        guard given.disposition != .cancelAuthenticationChallenge else { throw URLError(.userCancelledAuthentication) }
        dispositions += "\(given.disposition.rawValue)"
      }
      return InterceptedResponse(to: request, body: .data(Data(dispositions.utf8)), source: .network)
    }

    private static func challenge(_ number: Int) -> URLAuthenticationChallenge {
      URLAuthenticationChallenge(
        protectionSpace: URLProtectionSpace(
          host: "model.test", port: 443, protocol: NSURLProtectionSpaceHTTPS, realm: "\(number)",
          authenticationMethod: NSURLAuthenticationMethodDefault),
        proposedCredential: nil, previousFailureCount: 0, failureResponse: nil, error: nil, sender: NobodyAsks())
    }
  }

  /// The inner session's challenges are answered by completion handler.
  private final class NobodyAsks: NSObject, URLAuthenticationChallengeSender, Sendable {
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    func cancel(_ challenge: URLAuthenticationChallenge) {}
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
  }
#endif
