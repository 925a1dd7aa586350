import Foundation
import HTTPTypes

/// How redirects are followed.
public struct RedirectPolicy: Sendable, Hashable {
  /// The maximum number of redirects in one load; one more fails it with `URLError.httpTooManyRedirects`.
  public var maximumHops: Int
  /// Whether a redirect may lead from `https` to `http`. Off by default: a request made over TLS stays on TLS.
  public var allowsDowngrade: Bool

  /// Makes a policy.
  public init(maximumHops: Int = 20, allowsDowngrade: Bool = false) {
    self.maximumHops = maximumHops
    self.allowsDowngrade = allowsDowngrade
  }
}

extension Load {
  /// The request of the next hop, or `nil` when the redirect itself is the last response.
  func redirect(
    to target: Redirect, after response: InterceptedResponse, from hop: Hop
  ) async throws -> Hop? {
    var proposed = target.request
    if target.keepsBody, let data = hop.body.inMemory, !data.isEmpty { proposed.httpBody = data }
    let policy = registry.redirectPolicy
    try target.check(policy, load: self)
    // On Apple platforms the loading system follows the redirect from here on.
    guard hop.number < policy.maximumHops else {
      throw URLError(
        .httpTooManyRedirects,
        userInfo: [NSLocalizedDescriptionKey: "the load was redirected more than \(policy.maximumHops) times."])
    }
    if let delegate {
      // While the app makes up its mind, nobody is late.
      setWaiting(false)
      defer { setWaiting(true) }
      guard let answer = try await delegate.redirect(to: proposed, after: response) else { return nil }
      proposed = answer
    }
    var body = proposed.takeBody() ?? .empty
    if target.keepsBody, body.isEmpty { body = try await replay(hop.body) }
    return Hop(urlRequest: proposed, body: body, number: hop.number + 1, isUpload: hop.isUpload)
  }

  /// A body for another round.
  func replay(_ body: MessageBody) async throws -> MessageBody {
    guard let reader = body.consumedBy else { return body }
    if let fresh = try await delegate?.newBody() { return fresh }
    throw MessageBody.consumed(by: reader, wantedBy: "a redirect that keeps the body")
  }
}

/// Where a redirect leads (RFC 9110, section 15.4).
struct Redirect {
  var request: URLRequest
  let keepsBody: Bool
  private let source: URL

  /// The fields that never go to another origin: credentials and what asks for them, and what one side of a connection
  /// says to the other (RFC 9110, section 7.6.1).
  static let credentials: Set<String> = [
    "authorization", "cookie", "cookie2", "proxy-authorization", "host", "www-authenticate", "proxy-authenticate",
    "connection",
    "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
  ]

  init?(after response: InterceptedResponse, to original: URLRequest) {
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
      code == 303 ? method != "HEAD" && method != "GET" : (code == 301 || code == 302) && method == "POST"
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
      for name in Self.credentials { request.setValue(nil, forHTTPHeaderField: name) }
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
