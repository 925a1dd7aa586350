import Foundation
import HTTPTypes

extension LoadContext {
  /// Adds the session's cache policy, its header fields, then its cookies (rule 3).
  ///
  /// - Parameters:
  ///   - origin: The first URL of the load. On a hop to another origin, the session's credentials are not added (rule
  ///     4).
  ///   - bySession: Whether the loading system has already added the cookies.
  /// - Returns: Whether the request's `Cookie` comes from the storage, and must be recomputed for the next hop.
  @discardableResult
  func prepare(
    _ request: inout URLRequest, origin: URL?, _ policy: RedirectPolicy, bySession: Bool = false
  ) -> Bool {
    if cachePolicy != .useProtocolCachePolicy, request.cachePolicy == .useProtocolCachePolicy {
      request.cachePolicy = cachePolicy
    }
    if !additionalFields.isEmpty { addHeaders(to: &request, origin: origin, policy) }
    if bySession {
      if request.value(forHTTPHeaderField: "Cookie") == nil { return false }
      guard request.httpShouldHandleCookies else {
        removeCookies(from: &request)
        return false
      }
    }
    return addCookies(to: &request)
  }

  /// Adds the session's header fields that the request does not set itself (P10).
  private func addHeaders(to request: inout URLRequest, origin: URL?, _ policy: RedirectPolicy) {
    let isForeign = if let origin, let url = request.url { !url.hasSameOrigin(as: origin) } else { false }
    // Foundation scans all fields on each access.
    var fields = request.allHTTPHeaderFields ?? [:]
    var present = Set(fields.keys.map { $0.lowercased() })
    for (name, value) in additionalFields where present.insert(name.lowercased()).inserted {
      if isForeign, Redirect.isWithheld(name, policy) { continue }
      fields[name] = value
    }
    request.allHTTPHeaderFields = fields
  }

  /// Removes the cookies that the loading system on Linux has added to a request that handles its cookies itself (P29).
  private func removeCookies(from request: inout URLRequest) {
    guard sendsCookies, let cookieStorage, let url = request.url,
      let present = request.value(forHTTPHeaderField: "Cookie"),
      let stored = cookieStorage.cookies(for: url), !stored.isEmpty
    else { return }
    guard present != Self.header(stored) else { return request.setValue(nil, forHTTPHeaderField: "Cookie") }
    // The storage has changed since the task was made: remove its cookies, and keep the request's own ones.
    let pairs = Set(stored.map { "\($0.name)=\($0.value)" })
    let own = present.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }.filter {
      !pairs.contains($0)
    }
    request.setValue(own.isEmpty ? nil : own.joined(separator: "; "), forHTTPHeaderField: "Cookie")
  }

  private func addCookies(to request: inout URLRequest) -> Bool {
    guard sendsCookies, request.httpShouldHandleCookies, let cookieStorage, let url = request.url,
      let stored = cookieStorage.cookies(for: url), !stored.isEmpty
    else { return false }
    let matching = withinLimits(stored.filter { $0.matches(url) })
    let present = request.value(forHTTPHeaderField: "Cookie")
    guard !matching.isEmpty else {
      // The loading system on Linux filters by host only, so it has added Secure cookies and cookies of other paths:
      // remove them.
      if present != nil, present == Self.header(stored) { request.setValue(nil, forHTTPHeaderField: "Cookie") }
      return false
    }
    let header = Self.header(matching)
    if present != header { request.setValue(header, forHTTPHeaderField: "Cookie") }
    return true
  }

  /// Limits the cookies to half of a head: otherwise a server could set so many that every later request fails.
  private func withinLimits(_ cookies: [HTTPCookie]) -> [HTTPCookie] {
    var room = limits.fieldBytes / 2
    return cookies.filter { cookie in
      let size = cookie.name.utf8.count + cookie.value.utf8.count + 3
      guard size <= room else { return false }
      room -= size
      return true
    }
  }

  private static func header(_ cookies: [HTTPCookie]) -> String? {
    HTTPCookie.requestHeaderFields(with: cookies)["Cookie"]
  }

  /// Stores the cookies of a response from the network or a mock, under the first URL of the load (P19), within the
  /// limits.
  ///
  /// - Returns: The number of ignored cookies, which exceeded a limit by themselves or together.
  @discardableResult
  func storeCookies(of response: InterceptedResponse, for request: URLRequest) -> Int {
    guard let url = request.url, request.httpShouldHandleCookies else { return 0 }
    return storeCookies(of: response, url, request.mainDocumentURL.flatMap(RequestNote.document))
  }

  /// Stores the cookies of a response that does not return through the chain, such as the response to background work.
  ///
  /// The core stores the cookies of a response that returns through the chain.
  ///
  /// - Returns: How many cookies were ignored because one or all together exceeded one of the ``MessageLimits``.
  @discardableResult
  package func storeCookies(of response: InterceptedResponse, for request: InterceptedRequest) -> Int {
    guard request.options.handlesCookies else { return 0 }
    return storeCookies(of: response, request.url, request.options.mainDocumentURL)
  }

  private func storeCookies(of response: InterceptedResponse, _ url: URL, _ document: URL?) -> Int {
    // A lookup by name builds an index of all fields, which costs more than a scan of a few.
    guard response.fields.contains(where: { $0.name == .setCookie }), response.source.storesCookies, let cookieStorage,
      accepts(cookiesOf: url, for: document)
    else { return 0 }
    let values = response.fields[values: .setCookie]
    // A cookie of the maximum size, and 4 KiB of attributes.
    let longest = limits.cookieBytes.saturating(adding: 4096)
    let readable = values.prefix(limits.cookieCount).filter { $0.utf8.count <= longest }
    let cookies = readable.flatMap { field in
      HTTPCookie.reading(field, for: url).filter { $0.meetsPrefixRules(of: field) }
    }
    let small = cookies.filter { $0.name.utf8.count + $0.value.utf8.count <= limits.cookieBytes }
    let isSecure = url.scheme?.lowercased() == "https"
    let secure = isSecure ? [] : (cookieStorage.cookies ?? []).filter(\.isSecure)
    let allowed = small.compactMap { $0.settable(by: url) }.filter { cookie in
      isSecure || !cookie.isSecure && !secure.contains(where: cookie.shadows)
    }
    let ours = withRoom(allowed, in: cookieStorage, url)
    if !ours.isEmpty { cookieStorage.setCookies(ours, for: url, mainDocumentURL: document) }
    let foreign = small.count - allowed.count
    return max(0, values.count - ours.count - foreign)
  }

  /// The cookies that replace stored ones, and as many new ones as fit besides those of the host.
  private func withRoom(_ cookies: [HTTPCookie], in storage: HTTPCookieStorage, _ url: URL) -> [HTTPCookie] {
    func key(_ cookie: HTTPCookie) -> [String] { [cookie.name, cookie.domain, cookie.path] }
    var known = Set((storage.cookies(for: url) ?? []).map(key))
    return cookies.filter { cookie in
      if known.contains(key(cookie)) { return true }
      guard known.count < limits.cookieCount else { return false }
      known.insert(key(cookie))
      return true
    }
  }

  /// Whether the configuration's policy accepts cookies of `url` for the document URL. The storage has its own policy
  /// in addition.
  private func accepts(cookiesOf url: URL, for document: URL?) -> Bool {
    switch cookieAcceptPolicy {
    case .always: return true
    case .onlyFromMainDocumentDomain:
      guard let main = document?.host?.lowercased(), let host = url.host?.lowercased() else { return true }
      return main == host || main.hasSuffix("." + host) || host.hasSuffix("." + main)
    default: return false
    }
  }
}

extension HTTPCookie {
  /// Whether a request for `url` gets the cookie (RFC 6265, section 5.4).
  fileprivate func matches(_ url: URL) -> Bool {
    if isSecure, url.scheme?.lowercased() != "https" { return false }
    if let expiresDate, expiresDate <= Date() { return false }
    return covers(url.path.isEmpty ? "/" : url.path)
  }

  /// Whether the cookie's path matches the other path (RFC 6265, section 5.1.4): equal, or a prefix that ends at a
  /// slash.
  private func covers(_ other: String) -> Bool {
    other == path || other.hasPrefix(path) && (path.hasSuffix("/") || other.dropFirst(path.count).first == "/")
      || path.isEmpty
  }

  /// Whether the cookie would replace or shadow a secure cookie, which a response without TLS must not do (RFC 6265bis,
  /// section 5.7, step 17).
  fileprivate func shadows(_ secure: HTTPCookie) -> Bool {
    let (ours, theirs) = (domain.lowercased(), secure.domain.lowercased())
    func isWithin(_ one: String, _ other: String) -> Bool {
      let (one, other) = (one.drop { $0 == "." }, other.drop { $0 == "." })
      return one == other || one.hasSuffix("." + other)
    }
    return name == secure.name && (isWithin(ours, theirs) || isWithin(theirs, ours)) && secure.covers(path)
  }

  /// Whether the cookie fulfills the requirements of its name's prefix (RFC 6265bis, section 4.1.3).
  fileprivate func meetsPrefixRules(of field: String) -> Bool {
    let name = name.lowercased()
    guard name.hasPrefix("__host-") else { return isSecure || !name.hasPrefix("__secure-") }
    let attributes = field.split(separator: ";").dropFirst().map { $0.lowercased().filter { !$0.isWhitespace } }
    return isSecure && path == "/" && attributes.contains("path=/")
      && !attributes.contains { $0.hasPrefix("domain=") && $0 != "domain=" }
  }

  /// The cookie if a server at `url` may set it (RFC 6265, section 5.3, steps 5 and 6): for its own host, or for a
  /// parent domain with more than one label; `nil` otherwise. A single-label host sets cookies for itself only: `com`
  /// must not set cookies for all names below `.com`.
  fileprivate func settable(by url: URL) -> HTTPCookie? {
    guard let host = url.host?.lowercased() else { return nil }
    let isForSubdomains = domain.hasPrefix(".")
    let domain = (isForSubdomains ? String(self.domain.dropFirst()) : self.domain).lowercased()
    if host == domain {
      guard isForSubdomains, !domain.contains("."), var properties else { return self }
      properties[.domain] = host
      return HTTPCookie(properties: properties)
    }
    let isAddress = host.contains(":") || host.allSatisfy { $0.isNumber || $0 == "." }
    return !isAddress && host.hasSuffix("." + domain) && domain.contains(".") ? self : nil
  }
}

extension HTTPCookie {
  /// The cookies of a `Set-Cookie` field.
  ///
  /// On Linux, Foundation mixes units when it counts and cuts names, values and dates: a field beyond ASCII loses its
  /// value or crashes the process (P30). So it gets ASCII only: names are ASCII anyway (RFC 6265, section 4.1.1), the
  /// value is inserted afterwards, and a malformed attribute is ignored (section 5.2).
  static func reading(_ field: String, for url: URL) -> [HTTPCookie] {
    guard field.utf8.contains(where: { $0 >= 0x80 }) else {
      return cookies(withResponseHeaderFields: ["Set-Cookie": field], for: url)
    }
    let parts = field.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
    guard let pair = parts.first, let equals = pair.firstIndex(of: UInt8(ascii: "=")) else { return [] }
    let name = pair[...equals]
    let attributes = parts.dropFirst().filter { $0.allSatisfy { $0 < 0x80 } }
    guard name.allSatisfy({ $0 < 0x80 }) else { return [] }
    let readable = ([Array(name) + [UInt8(ascii: "x")]] + attributes.map { Array($0) }).joined(separator: [0x3B])
    let value = String(decoding: pair[pair.index(after: equals)...], as: UTF8.self)
    let cookies = cookies(
      withResponseHeaderFields: ["Set-Cookie": String(decoding: Array(readable), as: UTF8.self)], for: url)
    guard cookies.count == 1, var properties = cookies[0].properties else { return [] }
    properties[.value] = value.trimmingCharacters(in: .whitespaces)
    return HTTPCookie(properties: properties).map { [$0] } ?? []
  }
}
