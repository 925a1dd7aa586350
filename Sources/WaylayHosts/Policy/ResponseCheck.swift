/// A check that a response over plain `http` must pass to be accepted as the host's own.
///
/// ```swift
/// var policy = HostRewriter.Policy.prefer
/// policy.responseCheck = .field("X-Served-By", equals: "example") && .noPortal(redirectsWithin: ["example.com"])
/// ```
///
/// Without TLS, nothing proves the origin of a response: a check detects captive portals and injected pages, not an
/// attacker that knows the check. A rejected response bans its address as a suspected hijack, and an idempotent request
/// goes to the next address. The check does not apply to `https`.
public struct ResponseCheck: Sendable {
  private let reject: @Sendable (InterceptedRequest?, InterceptedResponse) -> String?
}

extension ResponseCheck {
  /// Makes a check from a closure.
  ///
  /// - Parameter reject: Returns a human-readable reason why the response is not the host's own; `nil` to accept it. It
  ///   must not read the body.
  public init(_ reject: @escaping @Sendable (InterceptedResponse) -> String?) {
    self.reject = { _, response in reject(response) }
  }

  /// Makes a check from a closure that also inspects the request.
  ///
  /// - Parameter reject: Returns a human-readable reason why the response is not the host's own; `nil` to accept it. It
  ///   must not read the bodies.
  public init(byRequest reject: @escaping @Sendable (InterceptedRequest, InterceptedResponse) -> String?) {
    self.reject = { request, response in request.flatMap { reject($0, response) } }
  }

  /// Returns why a response is rejected; `nil` if it is accepted.
  ///
  /// - Parameters:
  ///   - response: The response.
  ///   - request: The request; without it, checks that inspect the request accept every response.
  public func rejection(of response: InterceptedResponse, to request: InterceptedRequest? = nil) -> String? {
    reject(request, response)
  }

  /// Requires a header field, with the given value if there is one. The name is case-insensitive.
  public static func field(_ name: String, equals value: String? = nil) -> ResponseCheck {
    ResponseCheck { response in
      let values = response.fields.filter { $0.name.rawName.lowercased() == name.lowercased() }.map(\.value)
      if let value { return values.contains(value) ? nil : "the field \(name) is not \"\(value)\"" }
      return values.isEmpty ? "the field \(name) is missing" : nil
    }
  }

  /// Requires both checks to accept.
  public static func && (one: ResponseCheck, other: ResponseCheck) -> ResponseCheck {
    ResponseCheck(reject: { one.reject($0, $1) ?? other.reject($0, $1) })
  }

  /// Requires at least one of the checks to accept.
  public static func || (one: ResponseCheck, other: ResponseCheck) -> ResponseCheck {
    ResponseCheck(reject: { request, response in
      guard let first = one.reject(request, response), let second = other.reject(request, response) else { return nil }
      return "\(first), and \(second)"
    })
  }
}

extension ResponseCheck {
  /// Detects the responses of captive portals, as far as possible without the server's help.
  ///
  /// ```swift
  /// var policy = HostRewriter.Policy.prefer
  /// policy.responseCheck = .noPortal(redirectsWithin: ["example.com"])
  /// ```
  ///
  /// It rejects
  /// - the status 511, which is reserved for portals (RFC 6585, section 6);
  /// - a redirect to an address literal, a single label or a local name, unless that is the request's own host;
  /// - a redirect to a host that shares no parent of at least two labels with the request's host, and is not below one
  ///   of `hosts`;
  /// - a successful HTML response to a request that cannot have asked for it: its `Accept` contains no HTML type and no
  ///   wildcard for one, or its path ends like that of another file type, such as `.json` or `.png`.
  ///
  /// It does not detect a portal that responds with HTML to a request whose `Accept` is missing or `*/*`, the default
  /// of `URLSession`: give the requests of your API an `Accept`. Nor does it detect a portal that responds with the
  /// requested type, modifies the body of a real response, or uses a name below the host's own parent, even if that is
  /// a public suffix such as `co.uk`. A field that only your server sends is more reliable: see ``field(_:equals:)``.
  /// No check replaces `https`.
  ///
  /// - Parameter hosts: Names that the host's redirects may lead to, including everything below them.
  public static func noPortal(redirectsWithin hosts: [String] = []) -> ResponseCheck {
    let allowed = hosts.map(folded)
    return ResponseCheck(byRequest: { request, response in
      if response.status.code == 511 { return "the network requires a login (status 511)" }
      if let target = redirectTarget(of: response), let reason = suspicion(of: target, from: request.url.host, allowed)
      {
        return reason
      }
      guard (200..<300).contains(response.status.code), isHTML(response), !mayWantHTML(request) else { return nil }
      return "it is an HTML page, and the request is for something else"
    })
  }

  private static func folded(_ host: String) -> String { (try? HostName(host))?.description ?? host.lowercased() }

  private static func redirectTarget(of response: InterceptedResponse) -> String? {
    guard (300..<400).contains(response.status.code), let location = response.fields[.location] else { return nil }
    return URL(string: location, relativeTo: response.url)?.host
  }

  private static func suspicion(of target: String, from source: String?, _ allowed: [String]) -> String? {
    let (target, source) = (folded(target), source.map(folded) ?? "")
    if target == source || allowed.contains(where: { target == $0 || target.hasSuffix(".\($0)") }) { return nil }
    let name = try? HostName(target)
    if name?.isAddress ?? true || name?.isLocal ?? true {
      return "the redirect leads to \(target), which is not on the internet"
    }
    let common = zip(labels(target), labels(source)).prefix { $0 == $1 }.count
    return common >= 2 ? nil : "the redirect leads to \(target), another owner's host"
  }

  /// The labels, last one first.
  private static func labels(_ name: String) -> [Substring] { name.split(separator: ".").reversed() }

  private static func isHTML(_ response: InterceptedResponse) -> Bool {
    let type = response.fields[.contentType]?.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    return type == "text/html" || type == "application/xhtml+xml"
  }

  /// File extensions other than those of pages: data, images, code, audio, video, fonts, archives.
  private static let otherEndings: Set<String> = [
    "json", "xml", "txt", "csv", "pdf", "png", "jpg", "jpeg", "gif", "webp", "avif", "svg", "ico", "css", "js", "mjs",
    "wasm", "mp3", "m4a",
    "aac", "ogg", "mp4", "m4v", "mov", "webm", "m3u8", "ts", "mpd", "woff", "woff2", "ttf", "otf", "zip", "gz", "apk",
    "ipa", "bin",
  ]

  private static func mayWantHTML(_ request: InterceptedRequest) -> Bool {
    let ending = request.url.pathExtension.lowercased()
    guard !otherEndings.contains(ending) else { return false }
    guard let accept = request.fields[.accept]?.lowercased(), !accept.isEmpty else { return true }
    let types = accept.split(separator: ",").map { $0.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces) }
    return types.contains { ["text/html", "application/xhtml+xml", "text/*", "application/*", "*/*"].contains($0) }
  }
}
