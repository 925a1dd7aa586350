import Foundation
import HTTPTypes

/// Whose answers a load may give and take.
extension ArchiveLoad {
  /// What equal loads have in common, their user included.
  var flightKey: FlightKey { FlightKey(key: key, user: policy.user(of: asked)) }

  // MARK: Cookies

  /// The record as it is stored: what `Set-Cookie` carries is a credential, and never goes to a store.
  func withoutCookies(_ record: CacheRecord) -> CacheRecord {
    guard record.fields.contains(where: { Self.isCookie($0.name) }) else { return record }
    var bare = record
    bare.fields = HTTPFields(record.fields.filter { !Self.isCookie($0.name) })
    bare.trailers = HTTPFields(record.trailers.filter { !Self.isCookie($0.name) })
    bare.flags.insert(.hadCookies)
    return bare
  }

  private static func isCookie(_ name: HTTPField.Name) -> Bool {
    name == .setCookie || name.canonicalName == "set-cookie2"
  }

  // MARK: Challenges

  /// What the session would answer a challenge with, where the request carries no credentials and the archive goes by
  /// them.
  var challengeAnswers: [AnsweredChallenge] {
    guard place.splitsByCredentials, !isAfterChallenge, !asked.hasAuthorization,
      request[AnsweredChallengeKey.self] == nil
    else {
      return []
    }
    return request.context.challengeAnswers(for: url)
  }

  /// What was loaded with the answer to a challenge, for a session that would answer it again: without the origin there
  /// is nobody to pose it. Only where nothing else answers the request.
  ///
  /// - Parameter error: Why the origin cannot be reached; `nil` where it may not be asked.
  func afterChallenge(_ error: (any Error)? = nil) async -> InterceptedResponse? {
    for answer in challengeAnswers {
      var other = self
      other.isAfterChallenge = true
      other.place = RequestKey(request, body: body, challenge: answer, configuration) { store.digest($0) }
      guard let entries = try? await store.entries(for: other.key) else { continue }
      let stored = other.understood(entries)
      let now = now
      let decision = other.decide(stored, now)
      switch decision.action {
      case .serve(let answer), .serveAndRevalidate(let answer):
        guard let range = bytes(of: answer, in: stored[answer.index]) else {
          return other.respond(answer, stored[answer.index].record, .empty, decision, now)
        }
        guard let body = try? await stored[answer.index].entry.body(in: range) else { continue }
        return other.respond(answer, stored[answer.index].record, body, decision, now)
      case .forward:
        if let error, let response = try? await other.unreachable(error, decision, stored) { return response }
      case .gatewayTimeout, .unavailable: continue
      }
    }
    return nil
  }
}

/// What loads that are under way for the same thing, and the same user, have in common.
struct FlightKey: Hashable, Sendable {
  let key: ArchiveKey
  let user: RequestDigest?
}
