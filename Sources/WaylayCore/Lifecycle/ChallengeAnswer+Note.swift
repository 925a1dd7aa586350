import Foundation

/// The credential of a request that answers a challenge, for the interceptors that see the request again.
///
/// One user's `Digest` field differs with each request: use this credential to distinguish users. Its description
/// reveals nothing, so that it is not printed anywhere.
public struct AnsweredChallenge: Sendable, CustomStringConvertible, CustomReflectable {
  /// The user name.
  public let user: String
  /// The password.
  public let password: String

  /// What is in a credential; `nil` for one without a user or a password.
  init?(_ credential: URLCredential) {
    guard let user = credential.user, let password = credential.password else { return nil }
    self.init(user: user, password: password)
  }

  /// Makes an annotation from a credential.
  public init(user: String, password: String) {
    self.user = user
    self.password = password
  }

  /// A fixed text that reveals nothing.
  public var description: String { "a credential" }
  /// A mirror without children, which reveals nothing.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The key of the ``AnsweredChallenge`` annotation.
public enum AnsweredChallengeKey: InterceptedRequest.Key {
  /// A request without the annotation answers no challenge.
  public static let defaultValue: AnsweredChallenge? = nil
}

extension LoadContext {
  /// The credentials with which the session could answer a challenge from `url`'s origin without asking anybody: the
  /// URL's user info, otherwise those in its storage for the origin.
  ///
  /// - Parameter url: The URL to load.
  public func challengeAnswers(for url: URL) -> [AnsweredChallenge] {
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
