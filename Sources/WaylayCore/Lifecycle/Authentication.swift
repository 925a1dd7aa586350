import Foundation
import HTTPTypes

/// The challenges of one load, and the credentials that it sends.
///
/// A challenge is answered inside the load: the request runs through the chain once more, with a credential. The
/// loading system never sees a challenge that it would answer itself, hang on or trap on (P14).
struct Authentication {
  /// The reply to the last challenge.
  private struct Attempt {
    let space: ProtectionSpace
    let credential: URLCredential
    /// The challenge if its scheme is Digest; `nil` for Basic.
    let digest: DigestChallenge?
    /// The only origin that gets the credential.
    let origin: URL
    /// The number of requests sent with the nonce.
    var count = 0

    /// The value of `Authorization`.
    func field(for request: URLRequest, at url: URL) -> String? {
      guard let digest else { return credential.basicField }
      return digest.field(for: credential, method: request.httpMethod ?? "GET", url: url, count: count)
    }
  }

  /// A challenge that can be answered.
  private typealias Challenge = (space: ProtectionSpace, digest: DigestChallenge?)

  private var last: Attempt?
  var hasSentCredential: Bool { last != nil }
  /// The credentials that the server has refused in this load, in order.
  private var refused: [URLCredential] = []
  private var rounds = 0

  /// The maximum number of credentials per load, regardless of the number of realms.
  private static let maximumRounds = 20

  /// Adds the last credential to the next request if the request goes to its origin. Returns the credential.
  mutating func authorize(_ request: inout URLRequest) -> AnsweredChallenge? {
    guard let origin = last?.origin, let url = request.url, url.hasSameOrigin(as: origin) else { return nil }
    last?.count += 1
    request.setValue(last?.field(for: request, at: url), forHTTPHeaderField: "Authorization")
    return last.flatMap { AnsweredChallenge($0.credential) }
  }

  /// The request to send again with a credential; `nil` if `response` is final.
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
    for challenge in Self.challenges(response.fields[values: .wwwAuthenticate], at: url) {
      let isStale = challenge.digest?.isStale == true && last?.space == challenge.space
      let reply: ChallengeReply
      if isStale, let last {
        // The credential was right, and only the nonce is stale: reuse it without asking the app.
        reply = ChallengeReply(.useCredential, last.credential)
      } else {
        noteRefusal(in: challenge.space)
        reply = try await self.reply(to: challenge.space, at: url, response, load)
      }
      switch reply.disposition {
      case .rejectProtectionSpace: continue
      case .cancelAuthenticationChallenge: throw URLError(.cancelled)
      default: break
      }
      guard let credential = reply.credential, !refused.contains(where: { $0.isSame(as: credential) }) else {
        return nil
      }
      let next = Attempt(space: challenge.space, credential: credential, digest: challenge.digest, origin: url)
      guard next.field(for: hop.urlRequest, at: url) != nil, let body = try? await load.replay(hop.body) else {
        return nil
      }
      rounds += 1
      last = next
      var again = hop
      again.body = body
      return again
    }
    return nil
  }

  /// The challenges that can be answered, the strongest first (RFC 9110, section 11.4).
  private static func challenges(_ fields: [String], at url: URL) -> [Challenge] {
    HTTPChallenge.parse(fields).compactMap { challenge -> Challenge? in
      let digest = DigestChallenge(challenge)
      guard challenge.scheme == "basic" || digest != nil else { return nil }
      return (ProtectionSpace(challenge, at: url), digest)
    }
    .sorted { $0.digest?.strength ?? 0 > $1.digest?.strength ?? 0 }
  }

  /// Records the last credential as refused, if it was for this space.
  private mutating func noteRefusal(in space: ProtectionSpace) {
    guard let last else { return }
    if last.space == space { refused.append(last.credential) } else { refused = [] }
    self.last = nil
  }

  /// Asks the app, or applies the system's default handling, about a challenge.
  private func reply(
    to space: ProtectionSpace, at url: URL, _ response: InterceptedResponse, _ load: Load
  ) async throws -> ChallengeReply {
    let storage = load.context.credentialStorage
    guard let delegate = load.delegate, let delegateID = try delegate.delegateID else {
      return ChallengeReply.byDefault(proposed(space, at: url, storage), refused)
    }
    load.setWaiting(false)
    defer { load.setWaiting(true) }
    return try await load.installation.core.challenges.answer(delegateID, space, refused: refused) {
      let proposed = proposed(space, at: url, storage)
      let challenge = URLAuthenticationChallenge(
        protectionSpace: space.object, proposedCredential: proposed, previousFailureCount: refused.count,
        failureResponse: response.head, error: nil, sender: UnusedSender())
      let answer = try await delegate.answer(challenge)
      guard answer.disposition == .performDefaultHandling else { return answer }
      return ChallengeReply.byDefault(proposed, refused)
    }
  }

  /// The proposed credential: the URL's user info, else a stored one; after a refusal, the refused one.
  private func proposed(_ space: ProtectionSpace, at url: URL, _ storage: URLCredentialStorage?) -> URLCredential? {
    if let last = refused.last { return last }
    if let credential = url.userInfo { return credential }
    return storage.flatMap { space.credential(in: $0) }
  }

  /// The server accepted the last credential: stores it if its persistence requires that.
  private func accepted(in load: Load) {
    guard let last, last.credential.persistence != .none, let storage = load.context.credentialStorage
    else { return }
    last.space.keep(last.credential, in: storage)
  }
}

extension Load {
  /// On Apple platforms the inner session asks the app itself, if there is a delegate.
  var leavesChallengesToTransport: Bool { PlatformClient.transportAnswersChallenges && delegate != nil }
}

/// How to handle a challenge.
struct ChallengeReply: Sendable {
  let disposition: URLSession.AuthChallengeDisposition
  let credential: URLCredential?

  init(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential? = nil) {
    self.disposition = disposition
    self.credential = credential
  }

  /// Default handling: the proposed credential, unless one was refused already.
  static func byDefault(_ proposed: URLCredential?, _ refused: [URLCredential]) -> ChallengeReply {
    ChallengeReply(.useCredential, refused.isEmpty ? proposed : nil)
  }
}

/// Serializes the challenges of an installation: one at a time per realm, because an app may show a dialog. Realms do
/// not wait for each other: to answer for one realm, an app may need a load of another.
final class ChallengeCoordinator: Sendable {
  /// The loads that wait for the app's reply.
  private struct Line {
    var queue: [Promise<Void>] = []
    /// The last answer, which waiting loads reuse instead of asking again.
    var answer: URLCredential?
  }

  /// Two sessions of one installation may have different users.
  private struct Key: Hashable {
    let delegateID: ObjectIdentifier
    let space: ProtectionSpace
  }

  /// A key has a line while one of its loads is being answered.
  private let lines = Locked<[Key: Line]>([:])

  /// Waits in the queue, then asks; reuses a credential that another load has received for the same space meanwhile.
  func answer(
    _ delegateID: ObjectIdentifier, _ space: ProtectionSpace, refused: [URLCredential],
    _ ask: () async throws -> ChallengeReply
  ) async throws -> ChallengeReply {
    let key = Key(delegateID: delegateID, space: space)
    try await enter(key)
    defer { leave(key) }
    if let known = lines.withLock({ $0[key]?.answer }), !refused.contains(where: { $0.isSame(as: known) }) {
      return ChallengeReply(.useCredential, known)
    }
    let answer = try await ask()
    if let credential = answer.credential, credential.persistence != .none {
      lines.withLock { $0[key]?.answer = credential }
    }
    return answer
  }

  private func enter(_ key: Key) async throws {
    let ticket = Promise<Void>()
    try await ticket.valueUnlessCancelled {
      let isFree = lines.withLock { lines in
        guard lines[key] != nil else {
          lines[key] = Line()
          return true
        }
        lines[key]?.queue.append(ticket)
        return false
      }
      if isFree, !ticket.settle(.success(())) { leave(key) }
    } onCancel: {
      lines.withLock { lines in lines[key]?.queue.removeAll { $0 === ticket } }
    }
  }

  /// Resumes the next waiting load that was not cancelled.
  private func leave(_ key: Key) {
    var next: Promise<Void>?
    repeat {
      next = lines.withLock { lines in
        guard lines[key]?.queue.isEmpty == false else {
          lines[key] = nil
          return nil
        }
        return lines[key]?.queue.removeFirst()
      }
    } while next?.settle(.success(())) == false
  }
}

/// The sender that a challenge requires; it is unused, because apps answer through completion handlers.
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

  /// The value of `Authorization` (RFC 7617, section 2), in UTF-8; `nil` without a password, or for a user name with a
  /// colon.
  fileprivate var basicField: String? {
    guard let user, let password, !user.contains(":") else { return nil }
    return "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
  }
}

extension URL {
  /// The user and password; `nil` without a user.
  var userInfo: URLCredential? {
    guard let user = user(percentEncoded: false), !user.isEmpty else { return nil }
    return URLCredential(user: user, password: password(percentEncoded: false) ?? "", persistence: .none)
  }
}

/// The credential of a request that answers a challenge, for interceptors that see the request again.
///
/// The `Digest` field of one user differs from request to request: use this credential to distinguish users. Its
/// description contains no secret.
package struct AnsweredChallenge: Sendable, CustomStringConvertible, CustomReflectable {
  /// The user name.
  package let user: String
  /// The password.
  package let password: String

  /// The content of a credential; `nil` without a user or a password.
  init?(_ credential: URLCredential) {
    guard let user = credential.user, let password = credential.password else { return nil }
    self.init(user: user, password: password)
  }

  /// Makes an annotation from a credential.
  package init(user: String, password: String) {
    self.user = user
    self.password = password
  }

  /// A fixed text without secrets.
  package var description: String { "a credential" }
  /// A mirror without children, so that no secret is printed.
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The key of the ``AnsweredChallenge`` annotation.
package enum AnsweredChallengeKey: InterceptedRequest.Key {
  /// No annotation: the request answers no challenge.
  package static let defaultValue: AnsweredChallenge? = nil
}

extension LoadContext {
  /// The credentials with which the session could answer a challenge from `url`'s origin without asking the app: the
  /// URL's user info, otherwise the stored ones of the origin.
  ///
  /// - Parameter url: The URL to load.
  package func challengeAnswers(for url: URL) -> [AnsweredChallenge] {
    if let credential = url.userInfo { return [credential].compactMap(AnsweredChallenge.init) }
    guard let storage = credentialStorage, let host = url.host?.lowercased() else { return [] }
    let scheme = url.scheme?.lowercased() ?? ""
    let described = storage.allCredentials.filter { space, _ in
      !space.isProxy() && space.host.lowercased() == host && space.port == url.portOrDefault ?? 0
        && (space.`protocol` ?? "").lowercased() == scheme
    }
    return described.values.flatMap(\.values).compactMap(AnsweredChallenge.init)
  }
}

/// The realm of an origin that a credential belongs to (RFC 9110, section 11.5), as a value.
///
/// On Linux `URLProtectionSpace` compares by identity, so a lookup by an equal space finds nothing: iterate over all of
/// them instead.
struct ProtectionSpace: Hashable, Sendable {
  let host: String
  let port: Int
  let isTLS: Bool
  let realm: String?
  private let isDigest: Bool

  /// The space of a Basic or Digest challenge.
  init(_ challenge: HTTPChallenge, at url: URL) {
    isTLS = url.scheme?.lowercased() == "https"
    host = (url.host ?? "").lowercased()
    port = url.portOrDefault ?? 80
    realm = challenge.realm
    isDigest = challenge.scheme == "digest"
  }

  private var method: String { isDigest ? NSURLAuthenticationMethodHTTPDigest : NSURLAuthenticationMethodHTTPBasic }

  /// The space as a Foundation object.
  var object: URLProtectionSpace {
    URLProtectionSpace(
      host: host, port: port, protocol: isTLS ? NSURLProtectionSpaceHTTPS : NSURLProtectionSpaceHTTP, realm: realm,
      authenticationMethod: method)
  }

  private func isDescribed(by other: URLProtectionSpace) -> Bool {
    !other.isProxy() && other.host.lowercased() == host && other.port == port && other.realm == realm
      // Apps use the constant or the scheme.
      && [isTLS ? NSURLProtectionSpaceHTTPS : NSURLProtectionSpaceHTTP, isTLS ? "https" : "http"].contains(
        other.protocol ?? "")
      && [method, NSURLAuthenticationMethodDefault].contains(other.authenticationMethod)
  }

  /// The stored credential of this space: the default one, or the only one.
  func credential(in storage: URLCredentialStorage) -> URLCredential? {
    let stored = storage.allCredentials.filter { isDescribed(by: $0.key) }
    if let chosen = stored.keys.lazy.compactMap({ storage.defaultCredential(for: $0) }).first { return chosen }
    let all = stored.values.flatMap(\.values)
    return all.count == 1 ? all[0] : nil
  }

  /// Stores a credential in addition to the other ones of this space.
  func keep(_ credential: URLCredential, in storage: URLCredentialStorage) {
    storage.set(credential, for: storage.allCredentials.keys.first(where: isDescribed) ?? object)
  }
}
