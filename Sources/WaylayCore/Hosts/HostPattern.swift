import Foundation

/// A pattern for hosts: one name or all names below it, optionally on one port only. The same text means the same
/// everywhere: in the scope of a chain, in a rule of a rewriter and in the URL pattern of a stub.
///
/// ```swift
/// let pattern = try HostPattern("*.example.com:8443")
/// print(pattern.matches(URL(string: "https://API.Example.com.:8443/v1")!))   // true
/// ```
///
/// | text | hosts |
/// |---|---|
/// | `api.example.com` | that name, case-insensitive, with or without a trailing dot |
/// | `bücher.example`, `xn--bcher-kva.example` | that name, in either form |
/// | `*.example.com` | `a.example.com`, `a.b.example.com` and so on, but not `example.com` |
/// | `api.example.com:8443` | that name on that port, explicit or the scheme's default |
/// | `203.0.113.9`, `2001:db8::9`, `[2001:db8::9]:8443` | that address in any spelling |
/// | `*`, `*:8443` | every host |
///
/// Names compare in the form of ``HostName``.
public struct HostPattern: Hashable, Sendable {
  /// The name, without the `*.`; `nil` for `*`.
  public let name: HostName?
  /// Whether the pattern matches all names below ``name``, but not ``name`` itself.
  public let isWildcard: Bool
  /// The port that a URL must have; `nil` matches any port.
  public let port: Int?

  /// Makes a pattern.
  ///
  /// - Throws: `WaylayError.invalidHost` for a wildcard with an address, and for an invalid port.
  public init(_ name: HostName, isWildcard: Bool = false, port: Int? = nil) throws(WaylayError) {
    if isWildcard, name.isAddress {
      throw WaylayError(.invalidHost, "\"*.\(name)\" matches nothing: an address has no subdomains.")
    }
    try self.init(name: name, isWildcard: isWildcard, port: port)
  }

  /// Parses a pattern.
  ///
  /// - Throws: `WaylayError.invalidHost` for anything but the forms above, such as a `*` inside a name.
  public init(_ text: String) throws(WaylayError) {
    if let address = HostAddress(parsing: text) {
      try self.init(name: HostName(address), isWildcard: false, port: nil)
      return
    }
    if let host = Self.host(ofURL: text) {
      throw WaylayError(
        .invalidHost,
        "\"\(text.withRedactedURLs)\" is a URL: write only its host, \"\(host)\", and the port if needed.")
    }
    let (host, port) = try Self.separatingPort(of: text)
    if host == "*" {
      try self.init(name: nil, isWildcard: true, port: port)
      return
    }
    let isWildcard = host.utf8.starts(with: "*.".utf8)
    guard !host.dropFirst(isWildcard ? 1 : 0).utf8.contains(UInt8(ascii: "*")) else {
      throw WaylayError(
        .invalidHost,
        "\"\(text)\" has a \"*\" inside a name: it stands for whole names in front, as in \"*.example.com\", or for every host, as \"*\"."
      )
    }
    try self.init(HostName(isWildcard ? String(host.dropFirst(2)) : host), isWildcard: isWildcard, port: port)
  }

  private init(name: HostName?, isWildcard: Bool, port: Int?) throws(WaylayError) {
    if let port, !(1...65535).contains(port) {
      throw WaylayError(.invalidHost, "\(port) is not a port: use 1 to 65535.")
    }
    self.name = name
    self.isWildcard = isWildcard
    self.port = port
  }

  /// The host, and the port, of a text that is no host but a URL, or a host with a path.
  private static func host(ofURL text: String) -> Substring? {
    guard text.utf8.contains(UInt8(ascii: "/")) else { return nil }
    var rest = text[...]
    if let scheme = rest.range(of: "://") {
      rest = rest[scheme.upperBound...]
    } else if rest.hasPrefix("//") {
      rest = rest.dropFirst(2)
    }
    rest = rest.prefix { !"/?#".contains($0) }
    if let user = rest.lastIndex(of: "@") { rest = rest[rest.index(after: user)...] }
    return rest.isEmpty ? nil : rest
  }

  /// What comes before a port, and the port.
  private static func separatingPort(of text: String) throws(WaylayError) -> (host: String, port: Int?) {
    guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")), text.utf8.last != UInt8(ascii: "]") else {
      return (text, nil)
    }
    let digits = text[text.index(after: colon)...]
    guard !digits.isEmpty, digits.utf8.count <= 5, digits.utf8.allSatisfy({ (48...57).contains($0) }),
      let port = Int(digits)
    else {
      throw WaylayError(.invalidHost, "\"\(digits)\" in \"\(text)\" is not a port: use 1 to 65535.")
    }
    return (String(text[..<colon]), port)
  }
}

extension HostPattern {
  /// Whether the pattern matches the host on that port.
  public func matches(_ host: HostName, port: Int?) -> Bool { matches(comparable: host.description, port: port) }

  /// Whether the pattern matches the host of a URL. A URL without a port uses its scheme's default: 80 for `http`, 443
  /// for `https`.
  public func matches(_ url: URL) -> Bool {
    guard let host = url.host, !host.isEmpty else { return false }
    return matches(comparable: HostName.comparable(host), port: url.portOrDefault)
  }

  /// The same for a host in the form in which hosts are compared: ``HostName/comparable(_:)``.
  package func matches(comparable host: String, port: Int?) -> Bool {
    guard self.port == nil || self.port == port else { return false }
    guard let name else { return true }
    return isWildcard ? HostName.isBelow(host, name.description) : host == name.description
  }

  /// The one host that it is for, in the form in which hosts are compared; `nil` where it is for many.
  package var exactHost: String? { isWildcard ? nil : name?.description }
}

extension HostPattern: CustomStringConvertible {
  /// The text form, which ``init(_:)`` parses.
  public var description: String {
    let host = [isWildcard ? "*" : nil, name?.description].compactMap { $0 }.joined(separator: ".")
    guard let port else { return host }
    return host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}
