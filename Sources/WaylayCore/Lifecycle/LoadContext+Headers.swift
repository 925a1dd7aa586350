import Foundation
import HTTPTypes

extension LoadContext {
  /// Adds the session's header fields, then its cookies (rule 3).
  ///
  /// - Parameters:
  ///   - origin: The URL the app asked for. On a hop to another origin the session's credentials stay behind (rule 4).
  ///   - bySession: Whether the loading system has put the cookies in already; then there is nothing to do without any.
  /// - Returns: Whether the request's `Cookie` is the storage's, and so to be made anew for the next hop.
  @discardableResult
  func prepare(_ request: inout URLRequest, origin: URL? = nil, bySession: Bool = false) -> Bool {
    if !additionalHeaders.isEmpty { addHeaders(to: &request, origin: origin) }
    if bySession, request.value(forHTTPHeaderField: "Cookie") == nil { return false }
    return addCookies(to: &request)
  }

  /// Adds the session's header fields where the request does not set them itself (P10).
  private func addHeaders(to request: inout URLRequest, origin: URL?) {
    let isForeign = if let origin, let url = request.url { !url.hasSameOrigin(as: origin) } else { false }
    for (name, value) in additionalHeaders where request.value(forHTTPHeaderField: name) == nil {
      if isForeign, Redirect.credentials.contains(name.lowercased()) { continue }
      request.setValue(value, forHTTPHeaderField: name)
    }
  }

  private func addCookies(to request: inout URLRequest) -> Bool {
    guard sendsCookies, request.httpShouldHandleCookies, let cookieStorage, let url = request.url,
      let stored = cookieStorage.cookies(for: url), !stored.isEmpty
    else { return false }
    let matching = stored.filter { $0.matches(url) }
    let present = request.value(forHTTPHeaderField: "Cookie")
    guard !matching.isEmpty else {
      // The loading system on Linux looks at the host alone, and has put Secure cookies and those of other paths in already.
      if present != nil, present == Self.header(stored) { request.setValue(nil, forHTTPHeaderField: "Cookie") }
      return false
    }
    let header = Self.header(matching)
    if present != header { request.setValue(header, forHTTPHeaderField: "Cookie") }
    return true
  }

  private static func header(_ cookies: [HTTPCookie]) -> String? {
    HTTPCookie.requestHeaderFields(with: cookies)["Cookie"]
  }

  /// Stores the cookies of a response that came from the network or a mock, under the URL the app asked for (P19).
  package func storeCookies(of response: InterceptedResponse, for request: URLRequest) {
    // Looking a field up by name makes an index of all of them, which costs more than looking through a few.
    guard response.fields.contains(where: { $0.name == .setCookie }), response.source.storesCookies,
      request.httpShouldHandleCookies, cookieAcceptPolicy != .never, let cookieStorage, let url = request.url
    else { return }
    let cookies = response.fields[values: .setCookie].flatMap {
      HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": $0], for: url)
    }
    let ours = cookies.filter { $0.mayBeSet(by: url) }
    guard !ours.isEmpty else { return }
    cookieStorage.setCookies(ours, for: url, mainDocumentURL: request.mainDocumentURL)
  }
}

extension HTTPCookie {
  /// Whether the cookie goes along with a request for `url` (RFC 6265, section 5.4).
  fileprivate func matches(_ url: URL) -> Bool {
    if isSecure, url.scheme?.lowercased() != "https" { return false }
    if let expiresDate, expiresDate <= Date() { return false }
    let requestPath = url.path.isEmpty ? "/" : url.path
    // Section 5.1.4: equal, or a prefix that ends at a slash.
    return requestPath == path || requestPath.hasPrefix(path) && (path.hasSuffix("/") || requestPath.dropFirst(path.count).first == "/")
      || path.isEmpty
  }

  /// Whether a server at `url` may set the cookie (RFC 6265, section 5.3, steps 5 and 6): for its own host, or for a parent
  /// domain that is more than one label.
  fileprivate func mayBeSet(by url: URL) -> Bool {
    guard let host = url.host?.lowercased() else { return false }
    let domain = (self.domain.hasPrefix(".") ? String(self.domain.dropFirst()) : self.domain).lowercased()
    if host == domain { return true }
    let isAddress = host.contains(":") || host.allSatisfy { $0.isNumber || $0 == "." }
    return !isAddress && host.hasSuffix("." + domain) && domain.contains(".")
  }
}
