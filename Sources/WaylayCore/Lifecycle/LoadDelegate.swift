import Foundation

/// Answers a load's questions in the app's place: the bridge asks the task's delegate.
protocol LoadDelegate: Sendable {
  /// The request to follow, or `nil` to take the redirect's own response as the answer.
  func redirect(to request: URLRequest, after response: InterceptedResponse) async throws -> URLRequest?

  /// Another stream with the body of the load's request, when the first one has been read.
  func newBody() async throws -> MessageBody?

  /// Who is asked about challenges, to tell apart those that may have different users; `nil` when there is nobody to
  /// ask.
  var delegateID: ObjectIdentifier? { get throws }

  /// A transport has sent so many bytes of a request's body, from its beginning.
  func sent(_ total: Int64)

  /// What to do about a challenge.
  func answer(_ challenge: URLAuthenticationChallenge) async throws -> ChallengeAnswer
}
