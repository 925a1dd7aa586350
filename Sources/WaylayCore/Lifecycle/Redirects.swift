import Foundation
import HTTPTypes

/// The policy for redirects.
public struct RedirectPolicy: Sendable, Hashable {
  /// The maximum number of redirects in one load; one more fails it with `URLError.httpTooManyRedirects`.
  public var maximumHops: Int
  /// Whether a redirect may lead from `https` to `http`. Off by default: a request made over TLS stays on TLS.
  public var allowsDowngrade: Bool
  /// The names of credential fields, such as `X-Api-Key`, that are also sent to another origin; `Authorization` and
  /// `Cookie` never are. Empty by default.
  public var forwardedCredentials: Set<String>

  /// Makes a policy.
  public init(maximumHops: Int = 20, allowsDowngrade: Bool = false, forwardedCredentials: Set<String> = []) {
    self.maximumHops = maximumHops
    self.allowsDowngrade = allowsDowngrade
    self.forwardedCredentials = forwardedCredentials
  }

  func forwards(_ name: String) -> Bool {
    forwardedCredentials.contains { $0.lowercased() == name } && !CredentialNames.standard.contains(name)
  }
}

extension Load {
  /// The request of the next hop; `nil` if the redirect itself is the last response.
  func redirect(
    to target: Redirect, after response: InterceptedResponse, from hop: Hop
  ) async throws -> Hop? {
    var proposed = target.request
    if target.keepsBody, let data = hop.body.inMemory, !data.isEmpty { proposed.httpBody = data }
    let policy = registry.redirectPolicy
    try target.check(policy, load: self)
    if !target.withheld.isEmpty {
      let names = target.withheld.joined(separator: ", ")
      let error = WaylayError(
        .credentialsWithheld,
        "\(names) was not sent on the redirect to \(proposed.url?.host ?? ""), which is another origin. If that host "
          + "should get it, allow it with RedirectPolicy(forwardedCredentials: [\"\(target.withheld[0])\"]).",
        url: proposed.url, requestID: id)
      reportWithheld(error)
    }
    // On Apple platforms the loading system follows the redirect.
    guard hop.number < policy.maximumHops else {
      let (url, limit) = (target.request.url, policy.maximumHops)
      throw URLError(
        .httpTooManyRedirects,
        userInfo: URLError.failingURL(url).merging([
          NSLocalizedDescriptionKey:
            "the load was redirected more than \(limit) times, and stopped before \(url?.redacted ?? "")."
        ]) { $1 })
    }
    if let delegate {
      // The app's decision does not count as idle time.
      setWaiting(false)
      defer { setWaiting(true) }
      guard let answer = try await delegate.redirect(to: proposed, after: response) else { return nil }
      proposed = answer
    }
    var body = proposed.takeBody() ?? .empty
    if target.keepsBody, body.isEmpty { body = try await replay(hop.body) }
    return Hop(urlRequest: proposed, body: body, number: hop.number + 1, isUpload: hop.isUpload)
  }

  /// The body for sending a request again: the same one if it is replayable, otherwise a new stream from the app.
  func replay(_ body: MessageBody) async throws -> MessageBody {
    guard let reader = body.consumedBy else { return body }
    if let fresh = try await delegate?.newBody() { return fresh }
    throw MessageBody.consumed(by: reader, wantedBy: "a redirect that keeps the body")
  }
}

/// The target of a redirect (RFC 9110, section 15.4).
struct Redirect {
  var request: URLRequest
  let keepsBody: Bool
  /// The credential fields, apart from those that HTTP defines, that another origin does not get.
  private(set) var withheld: [String] = []
  private let source: URL

  /// The other fields that are never sent to another origin: challenges, and hop-by-hop fields (RFC 9110, section
  /// 7.6.1).
  private static let bound: Set<String> = [
    "host", "www-authenticate", "proxy-authenticate", "connection", "keep-alive", "proxy-connection", "te", "trailer",
    "transfer-encoding", "upgrade",
  ]

  /// Whether a field is withheld from another origin.
  static func isWithheld(_ name: String, _ policy: RedirectPolicy) -> Bool {
    let canonical = name.lowercased()
    // The words of a name are known by its letter case.
    return bound.contains(canonical) || CredentialNames.isCredential(name) && !policy.forwards(canonical)
  }

  init?(after response: InterceptedResponse, to original: URLRequest, _ policy: RedirectPolicy = RedirectPolicy()) {
    let code = response.status.code
    guard code / 100 == 3, [301, 302, 303, 307, 308].contains(code), let location = response.fields[.location],
      let from = original.url,
      var target = URL(string: location, relativeTo: from)?.absoluteURL
    else { return nil }
    // RFC 9110, section 10.2.2: a Location without a fragment inherits the one of the request.
    if target.fragment == nil, let fragment = from.fragment,
      var parts = URLComponents(url: target, resolvingAgainstBaseURL: true)
    {
      parts.percentEncodedFragment = fragment.addingPercentEncoding(withAllowedCharacters: .urlFragmentAllowed)
      target = parts.url ?? target
    }
    source = from
    request = original
    request.url = target
    let method = (original.httpMethod ?? "GET").uppercased()
    let becomesGet =
      switch code {
      case 301, 302: method == "POST"
      case 303: method != "HEAD" && method != "GET"
      default: false
      }
    keepsBody = !becomesGet
    if becomesGet {
      request.httpMethod = "GET"
      for name in [
        "Content-Length", "Content-Type", "Content-Encoding", "Content-Language", "Content-Location",
        "Transfer-Encoding", "Expect",
      ] {
        request.setValue(nil, forHTTPHeaderField: name)
      }
    }
    if !from.hasSameOrigin(as: target) {
      let options = original.value(forHTTPHeaderField: "Connection")?.split(separator: ",") ?? []
      for option in options { request.setValue(nil, forHTTPHeaderField: option.trimmingCharacters(in: .whitespaces)) }
      for name in original.allHTTPHeaderFields?.keys.sorted() ?? [] where Self.isWithheld(name, policy) {
        request.setValue(nil, forHTTPHeaderField: name)
        if CredentialNames.isCredential(name), !CredentialNames.standard.contains(name.lowercased()) {
          withheld.append(name)
        }
      }
    }
  }

  func check(_ policy: RedirectPolicy, load: Load) throws {
    let scheme = request.url?.scheme?.lowercased() ?? ""
    guard scheme == "http" || scheme == "https" || scheme == source.scheme?.lowercased() else {
      throw WaylayError(
        .redirectRefused, "the server redirected to the scheme \"\(scheme)\", which is never followed.", url: load.url,
        requestID: load.id)
    }
    if source.scheme?.lowercased() == "https", scheme == "http", !policy.allowsDowngrade {
      throw WaylayError(
        .redirectRefused,
        "the server redirected from https to http: request the http URL yourself, or allow it with "
          + "RedirectPolicy(allowsDowngrade: true).",
        url: load.url, requestID: load.id)
    }
  }
}

extension Load {
  /// Whether a hop has left the load's first origin for a host that the scope of its chain does not name: the target is
  /// the server's choice, so interceptors must not add credentials (rule 4).
  func hasLeftScope(_ hop: Hop, _ chain: InterceptorChain?) -> Bool {
    guard let url = hop.url, let origin else { return false }
    return !url.hasSameOrigin(as: origin) && !(chain?.scope.names(url) ?? false)
  }

  /// Removes the credentials that an interceptor has added to a request, and reports the removal.
  ///
  /// Credentials that were present before the interceptor stay: the answer to a challenge, the storage's cookies, and
  /// those of the redirect itself.
  ///
  /// - Parameter interceptor: Its name; `nil` if the interceptors of a chain made the canonical form together.
  func withhold(from request: inout InterceptedRequest, before: InterceptedRequest, by interceptor: String?) {
    guard !request.storage.isSame(as: before.storage) else { return }
    let withheld =
      request.fields.restoreCredentials(of: before.fields, registry.redirectPolicy)
      + request.restoreURLCredentials(of: before.url)
    guard !withheld.isEmpty else { return }
    let host = before.url.host ?? ""
    let error = WaylayError(
      .credentialsWithheld,
      "\(interceptor ?? "canonicalRequest(for:)") set \(withheld.joined(separator: ", ")) on a redirect to \(host), "
        + "which is not the load's first host: it was removed. If \(host) should get it, register the interceptor in a "
        + "chain whose scope names that host: InterceptorChain(\"api\", for: .host(\"\(host)\")).",
      interceptor: interceptor, url: before.url, requestID: id)
    reportWithheld(error)
  }

  private func reportWithheld(_ error: WaylayError) {
    report(.credentialsWithheld, error: error)
    registry.logger?.warning(
      "\(error.message)", metadata: [LogKey.load: "\(id)", LogKey.url: "\(error.url?.redacted ?? "")"])
  }
}

extension HTTPFields {
  /// Removes credential values that are absent from `others`, and restores those of `others` if none remains; returns
  /// the names of the changed fields.
  fileprivate mutating func restoreCredentials(of others: HTTPFields, _ policy: RedirectPolicy) -> [String] {
    var restored: [String] = []
    for name in Set(map(\.name)) where CredentialNames.isCredential(name.rawName) {
      if policy.forwards(name.canonicalName) { continue }
      let (ours, theirs) = (self[values: name].flatMap(name.parts), others[values: name].flatMap(name.parts))
      let kept = ours.filter(theirs.contains)
      guard kept.count < ours.count else { continue }
      var values = kept.isEmpty ? theirs : kept
      // All cookies are in one field.
      if name == .cookie, !values.isEmpty { values = [values.joined(separator: "; ")] }
      self[values: name] = values
      restored.append(name.rawName)
    }
    return restored.sorted()
  }
}

extension HTTPField.Name {
  /// The elements of a value: a `Cookie` field has several.
  fileprivate func parts(of value: String) -> [String] {
    self == .cookie ? value.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) } : [value]
  }
}

extension URLQueryItem {
  /// Whether the item is a credential by its name or, as in `key=AIza…`, by its shape.
  fileprivate var isCredential: Bool {
    CredentialNames.isCredential(name) || value.map(CredentialShapes.areFound) ?? false
  }
}

extension InterceptedRequest {
  /// Removes a user and credential query items that are absent from the other URL, and restores that URL's user;
  /// returns the names of the changes.
  fileprivate mutating func restoreURLCredentials(of other: URL) -> [String] {
    guard url != other, var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return [] }
    let others = URLComponents(url: other, resolvingAgainstBaseURL: true)
    var restored: [String] = []
    if (parts.user, parts.password) != (others?.user, others?.password), parts.user != nil {
      (parts.user, parts.password) = (others?.user, others?.password)
      restored.append("a user")
    }
    let known = Set(others?.queryItems ?? [])
    let items = zip(parts.percentEncodedQueryItems ?? [], parts.queryItems ?? [])
    let added = items.filter { !known.contains($1) && $1.isCredential }
    if !added.isEmpty {
      let kept = items.filter { known.contains($1) || !$1.isCredential }.map(\.0)
      parts.percentEncodedQueryItems = kept.isEmpty ? nil : kept
      restored += added.map(\.1.name)
    }
    if !restored.isEmpty { url = parts.url ?? other }
    return restored
  }
}
