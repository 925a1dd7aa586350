import Foundation

extension URL {
  /// The URL as logs and messages may show it: no user info, no query values, no fragment.
  package var redacted: String {
    guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return "<unreadable URL>" }
    parts.user = nil
    parts.password = nil
    parts.fragment = nil
    if let items = parts.queryItems, !items.isEmpty {
      parts.queryItems = nil
      return (parts.string ?? "") + "?" + items.map { $0.value == nil ? "…" : "\($0.name)=…" }.joined(separator: "&")
    }
    return parts.string ?? "<unreadable URL>"
  }

  /// The URL without user name and password.
  package var withoutUserInfo: URL {
    guard user != nil || password != nil, var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else {
      return self
    }
    parts.user = nil
    parts.password = nil
    return parts.url ?? self
  }
}
