import Foundation

/// The credential that a request carries because a challenge was answered with it, for the links that see the request
/// again.
///
/// A `Digest` field is another one with each request, and the same user has one of each: whoever tells users apart goes
/// by this. Its description says nothing of it, so that it is printed nowhere.
public struct AnsweredChallenge: Sendable, CustomStringConvertible, CustomReflectable {
  /// The name.
  public let user: String
  /// The password.
  public let password: String

  /// What is in a credential; `nil` for one without a user or a password.
  init?(_ credential: URLCredential) {
    guard let user = credential.user, let password = credential.password else { return nil }
    self.init(user: user, password: password)
  }

  /// Makes the note of a credential.
  public init(user: String, password: String) {
    self.user = user
    self.password = password
  }

  /// Says nothing of it.
  public var description: String { "a credential" }
  /// Shows nothing of it.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Where ``AnsweredChallenge`` is noted.
public enum AnsweredChallengeKey: InterceptedRequest.Key {
  /// A request without the note answers no challenge.
  public static let defaultValue: AnsweredChallenge? = nil
}

extension LoadContext {
  /// What the session could answer a challenge of `url`'s origin with, without asking anybody: the URL's user info,
  /// else what its storage holds for the origin.
  ///
  /// - Parameter url: What is to be loaded.
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
