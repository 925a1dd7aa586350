import Foundation
import HTTPTypes

/// The challenges that one load meets, and what it answers.
///
/// A challenge is answered inside the load: the request runs through the chain once more, with a credential. The
/// loading system never sees a challenge that it would answer past us, hang on or trap on (P14).
struct Authentication {
  /// The answer to the last challenge.
  private struct Answer {
    let space: ProtectionSpace
    let credential: URLCredential
    /// For a challenge of the scheme Digest; Basic else.
    let digest: DigestChallenge?
    /// Whom it is for: nobody else gets it.
    let origin: URL
    /// Requests that were answered for.
    var count = 0

    /// The value of `Authorization`.
    func field(for request: URLRequest, at url: URL) -> String? {
      guard let digest else { return credential.basicField }
      return digest.field(for: credential, method: request.httpMethod ?? "GET", url: url, count: count)
    }
  }

  /// A challenge that can be answered.
  private struct Candidate {
    let space: ProtectionSpace
    let digest: DigestChallenge?
  }

  private var answer: Answer?
  /// Whether the URL's own user and password have been turned down.
  private var hasRefusedUserInfo = false
  /// What the server has refused in this load, in the order in which it was tried.
  private var refused: [URLCredential] = []
  private var rounds = 0

  /// Credentials that one load sends at most, whatever realms a server makes up.
  private static let maximumRounds = 20

  /// Puts the last answer into the next request, if that goes to the origin the answer is for, and says what it is made
  /// of.
  mutating func authorize(_ request: inout URLRequest) -> AnsweredChallenge? {
    guard let origin = answer?.origin, let url = request.url, url.hasSameOrigin(as: origin) else { return nil }
    answer?.count += 1
    request.setValue(answer?.field(for: request, at: url), forHTTPHeaderField: "Authorization")
    return answer.flatMap { AnsweredChallenge($0.credential) }
  }

  /// The request to try again with a credential, or `nil` when `response` is to stand.
  mutating func answer(
    _ response: InterceptedResponse, to hop: Hop, of load: Load
  ) async throws -> Hop? {
    guard response.status == .unauthorized else {
      accepted(in: load)
      return nil
    }
    if load.leavesChallengesToTransport, response.source == .network { return nil }
    guard rounds < Self.maximumRounds, let url = hop.url, hop.body.consumedBy == nil || load.delegate != nil
    else { return nil }
    for candidate in Self.candidates(response.fields[values: .wwwAuthenticate], at: url) {
      let isStale = candidate.digest?.isStale == true && answer?.space == candidate.space
      let decision: ChallengeAnswer
      if isStale, let answer {
        // The credential was right, and the server wants it with another nonce: nobody need be asked.
        decision = ChallengeAnswer(.useCredential, answer.credential)
      } else {
        noteRefusal(in: candidate.space)
        noteUserInfo(of: hop.urlRequest, candidate, response)
        decision = try await decide(candidate.space, at: url, response, load)
      }
      switch decision.disposition {
      case .rejectProtectionSpace: continue
      case .cancelAuthenticationChallenge: throw URLError(.cancelled)
      default: break
      }
      guard let credential = decision.credential, !refused.contains(where: { $0.isSame(as: credential) }) else {
        return nil
      }
      let next = Answer(space: candidate.space, credential: credential, digest: candidate.digest, origin: url)
      guard next.field(for: hop.urlRequest, at: url) != nil, let body = try? await load.replay(hop.body) else {
        return nil
      }
      rounds += 1
      answer = next
      var again = hop
      again.body = body
      return again
    }
    return nil
  }

  /// The challenges that can be answered, the strongest first (RFC 9110, section 11.4).
  private static func candidates(_ fields: [String], at url: URL) -> [Candidate] {
    HTTPChallenge.parse(fields).compactMap { challenge -> Candidate? in
      let digest = DigestChallenge(challenge)
      guard challenge.scheme == "basic" || digest != nil else { return nil }
      return Candidate(space: ProtectionSpace(challenge, at: url), digest: digest)
    }
    .enumerated().sorted { one, other in
      let (first, second) = (one.element.digest?.strength ?? 0, other.element.digest?.strength ?? 0)
      return first == second ? one.offset < other.offset : first > second
    }
    .map(\.element)
  }

  /// The last answer was wrong, if it was for this space.
  private mutating func noteRefusal(in space: ProtectionSpace) {
    guard let last = answer else { return }
    if last.space == space { refused.append(last.credential) } else { refused = [] }
    answer = nil
  }

  /// The URL's user and password went ahead of the challenge, as Basic, and were wrong.
  private mutating func noteUserInfo(of request: URLRequest, _ candidate: Candidate, _ response: InterceptedResponse) {
    guard !hasRefusedUserInfo, candidate.digest == nil, response.source == .network,
      request.value(forHTTPHeaderField: "Authorization") == nil, let credential = request.url?.userInfo
    else { return }
    hasRefusedUserInfo = true
    refused.append(credential)
  }

  /// What the app, or the system's own rule, says about a challenge.
  private func decide(
    _ space: ProtectionSpace, at url: URL, _ response: InterceptedResponse, _ load: Load
  ) async throws -> ChallengeAnswer {
    let storage = load.context.credentialStorage
    guard let delegate = load.delegate, let delegateID = try delegate.delegateID else {
      return ChallengeAnswer.byDefault(proposed(space, at: url, storage), refused)
    }
    load.setWaiting(false)
    defer { load.setWaiting(true) }
    return try await load.installation.challenges.answer(delegateID, space, refused: refused) {
      let proposed = proposed(space, at: url, storage)
      let challenge = URLAuthenticationChallenge(
        protectionSpace: space.object, proposedCredential: proposed, previousFailureCount: refused.count,
        failureResponse: response.head, error: nil, sender: UnusedSender())
      let answer = try await delegate.answer(challenge)
      guard answer.disposition == .performDefaultHandling else { return answer }
      return ChallengeAnswer.byDefault(proposed, refused)
    }
  }

  /// The URL's user info, else what the storage holds; once a credential has been refused, that one.
  private func proposed(_ space: ProtectionSpace, at url: URL, _ storage: URLCredentialStorage?) -> URLCredential? {
    if let last = refused.last { return last }
    if let credential = url.userInfo { return credential }
    return storage.flatMap { space.credential(in: $0) }
  }

  /// The last answer was right: it is kept, if that is what whoever gave it wants.
  private func accepted(in load: Load) {
    guard let answer, answer.credential.persistence != .none, let storage = load.context.credentialStorage
    else { return }
    answer.space.keep(answer.credential, in: storage)
  }
}

extension Load {
  /// On Apple platforms the inner session asks the app by itself, when there is one to ask.
  var leavesChallengesToTransport: Bool { PlatformClient.transportAnswersChallenges && delegate != nil }
}

/// What to do about a challenge.
struct ChallengeAnswer: Sendable {
  let disposition: URLSession.AuthChallengeDisposition
  let credential: URLCredential?

  init(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential? = nil) {
    self.disposition = disposition
    self.credential = credential
  }

  /// Default handling: the proposed credential, unless one has failed already.
  static func byDefault(_ proposed: URLCredential?, _ refused: [URLCredential]) -> ChallengeAnswer {
    ChallengeAnswer(.useCredential, refused.isEmpty ? proposed : nil)
  }
}

/// Where the loads of one installation wait to have their challenges answered: one at a time for each realm, as an app
/// that asks a person wants it. Realms do not wait for each other: to answer for one, an app may need a load of
/// another.
final class ChallengeCoordinator: Sendable {
  /// The loads that wait for the answer to one question.
  private struct Line {
    var queue: [Promise<Void>] = []
    /// What was answered while others waited, so that they need not ask again.
    var answer: URLCredential?
  }

  /// Two sessions of one installation may have different users.
  private struct Key: Hashable {
    let delegateID: ObjectIdentifier
    let space: ProtectionSpace
  }

  /// There is a line for a key while somebody is being served.
  private let lines = Locked<[Key: Line]>([:])

  /// Waits for its turn, then asks, unless somebody else has been given a credential for the same space meanwhile.
  func answer(
    _ delegateID: ObjectIdentifier, _ space: ProtectionSpace, refused: [URLCredential],
    _ ask: () async throws -> ChallengeAnswer
  ) async throws -> ChallengeAnswer {
    let key = Key(delegateID: delegateID, space: space)
    try await enter(key)
    defer { leave(key) }
    if let known = lines.withLock({ $0[key]?.answer }), !refused.contains(where: { $0.isSame(as: known) }) {
      return ChallengeAnswer(.useCredential, known)
    }
    let answer = try await ask()
    if let credential = answer.credential, credential.persistence != .none {
      lines.withLock { $0[key]?.answer = credential }
    }
    return answer
  }

  private func enter(_ key: Key) async throws {
    let turn = Promise<Void>()
    try await withTaskCancellationHandler {
      try await turn.value {
        let isFree = lines.withLock { lines in
          guard lines[key] != nil else {
            lines[key] = Line()
            return true
          }
          lines[key]?.queue.append(turn)
          return false
        }
        if isFree { turn.settle(.success(())) } else if Task.isCancelled { withdraw(turn, key) }
      }
    } onCancel: {
      withdraw(turn, key)
    }
  }

  /// Takes a turn off the queue, unless it has come.
  private func withdraw(_ turn: Promise<Void>, _ key: Key) {
    let wasWaiting = lines.withLock { lines in
      guard let position = lines[key]?.queue.firstIndex(where: { $0 === turn }) else { return false }
      lines[key]?.queue.remove(at: position)
      return true
    }
    if wasWaiting { turn.settle(.failure(CancellationError())) }
  }

  private func leave(_ key: Key) {
    let next = lines.withLock { lines -> Promise<Void>? in
      guard lines[key]?.queue.isEmpty == false else {
        lines[key] = nil
        return nil
      }
      return lines[key]?.queue.removeFirst()
    }
    next?.settle(.success(()))
  }
}

/// The sender that a challenge must have; apps answer through completion handlers instead.
/// https://developer.apple.com/documentation/foundation/urlauthenticationchallenge/sender
private final class UnusedSender: NSObject, URLAuthenticationChallengeSender, Sendable {
  func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
  func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
  func cancel(_ challenge: URLAuthenticationChallenge) {}
  func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
  func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
}

extension URLCredential {
  fileprivate func isSame(as other: URLCredential) -> Bool {
    user == other.user && password == other.password
  }

  /// The value of `Authorization` (RFC 7617, section 2), in UTF-8; `nil` without a password, or for a user that cannot
  /// be written in it.
  fileprivate var basicField: String? {
    guard let user, let password, !user.contains(":") else { return nil }
    return "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
  }
}

extension URL {
  /// User and password, where there is a user.
  var userInfo: URLCredential? {
    guard let user = user(percentEncoded: false), !user.isEmpty else { return nil }
    return URLCredential(user: user, password: password(percentEncoded: false) ?? "", persistence: .none)
  }
}

extension InterceptedRequest {
  /// Takes user name and password out of the URL and puts them into `Authorization`, as Basic, where the request has
  /// none: they go ahead of a challenge, as with `URLSession`.
  mutating func moveUserInfo() {
    guard url.user != nil || url.password != nil else { return }
    if !fields.contains(.authorization), let field = url.userInfo?.basicField { fields[.authorization] = field }
    url = url.withoutUserInfo
  }
}
