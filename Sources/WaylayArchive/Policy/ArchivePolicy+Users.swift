/// Whose a stored response is, where users are told apart by their cookies.
///
/// RFC 9111 has one user to a private cache. An archive may be shared by sessions with different cookies, and its
/// sessions by users who take turns: a stored response that is one user's is to another request what a variant is that
/// does not match (section 4.1). It may be validated for it, and then is its user's too, and is never given unasked.
extension ArchivePolicy {
  /// The user of a request, as a keyed digest; `nil` where users are not told apart by cookies.
  func user(of request: CacheRequest) -> RequestDigest? {
    guard let rule = request.userCookies else { return nil }
    let identity = rule.identity(of: request.cookie)
    return identity.isEmpty ? .allAbsent : RequestDigest(digest(Array("user ".utf8) + identity))
  }

  /// Whether a response is for the user of a request.
  func isForUser(_ record: CacheRecord, _ request: CacheRequest, _ memo: inout DigestMemo) -> Bool {
    guard !record.users.isEmpty, request.userCookies != nil else { return true }
    let user = memo.user ?? self.user(of: request)
    memo.user = user
    return user.map { record.users.contains($0) } ?? true
  }

  /// Those whose a response is; empty for everybody's.
  func users(
    of response: Response, _ directives: ResponseDirectives, _ lifetime: Lifetime, _ request: CacheRequest
  ) -> [RequestDigest] {
    guard let user = user(of: request), isPersonal(response, directives, lifetime, hasUser: user != .allAbsent) else {
      return []
    }
    return [user]
  }

  /// Whether a response is one user's: `private`, and, where the request says who asks, whatever the origin does not
  /// let anybody reuse without a word from it.
  private func isPersonal(
    _ response: Response, _ directives: ResponseDirectives, _ lifetime: Lifetime, hasUser: Bool
  ) -> Bool {
    if directives.isPrivate { return true }
    if Self.isForEverybody(directives) || !hasUser { return false }
    if directives.isNoCache || directives.isNoStore { return true }
    switch lifetime.source {
    case .maxAge, .expires, .heuristic: return lifetime.seconds == 0 || response.fields.contains(.setCookie)
    default: return true
    }
  }

  /// Whether the origin says that caches of many users may reuse a response.
  static func isForEverybody(_ directives: ResponseDirectives) -> Bool {
    guard !directives.isPrivate else { return false }
    if directives.isPublic { return true }
    guard case .value(let seconds) = directives.sharedMaxAge else { return false }
    return seconds > 0
  }

  /// Whether an answer must not be kept at all: it makes its user, and nothing in the request tells him from the next
  /// one.
  func makesItsUser(_ response: Response, _ directives: ResponseDirectives, _ request: CacheRequest) -> Bool {
    guard directives.isPrivate, let rule = request.userCookies, rule.isSet(by: response.fields) else { return false }
    return user(of: request) == .allAbsent
  }
}
