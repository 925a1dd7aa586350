/// Which hosts a rule is for: one name, or all names below one, and perhaps one port only.
///
/// | text | hosts |
/// |---|---|
/// | `api.example.com` | that name |
/// | `*.example.com` | `a.example.com`, `a.b.example.com` and so on, but not `example.com` |
/// | `api.example.com:8443` | that name, for URLs with that port |
/// | `203.0.113.9`, `[2001:db8::9]:8443` | that literal in a URL |
/// | `*` | all names but single labels and those below `local` and `localhost`; no literals |
///
/// Names are compared in the form of ``HostName``.
public struct HostPattern: Hashable, Sendable {
  /// The name, without the `*.`; `nil` for `*`.
  public let name: HostName?
  /// Whether it stands for all names below ``name``, and not for ``name`` itself.
  public let isWildcard: Bool
  /// The port that a URL must have; `nil` for any.
  public let port: Int?

  /// Makes a pattern.
  ///
  /// - Throws: ``HostError/Code/invalidName`` for a wildcard over a literal, and for what is not a port.
  public init(_ name: HostName, isWildcard: Bool = false, port: Int? = nil) throws {
    if isWildcard, name.isAddress {
      throw HostError(.invalidName, "\"*.\(name)\" has no meaning: there is nothing below an address.", host: name.description)
    }
    if let port { try Self.check(port: port, of: name.description) }
    self.name = name
    self.isWildcard = isWildcard
    self.port = port
  }

  /// Reads a pattern.
  ///
  /// - Throws: ``HostError/Code/invalidName`` for everything else than the forms above; a `*` inside of a name, for example.
  public init(_ text: String) throws {
    if let address = HostAddress(parsing: text) {
      try self.init(HostName(address.literal))
      return
    }
    if text.utf8.contains(UInt8(ascii: "/")), let scheme = text.range(of: "://") {
      let rest = text[scheme.upperBound...].prefix { !"/?#".contains($0) }
      throw HostError(.invalidName, "\"\(text)\" is a URL: write the host alone, \"\(rest)\".", host: text)
    }
    let (host, port) = try Self.separatingPort(of: text)
    if host == "*" {
      if let port { try Self.check(port: port, of: text) }
      self.init(everythingAt: port)
      return
    }
    let isWildcard = host.utf8.starts(with: "*.".utf8)
    try self.init(HostName(isWildcard ? String(host.dropFirst(2)) : host), isWildcard: isWildcard, port: port)
  }

  private init(everythingAt port: Int?) {
    name = nil
    isWildcard = true
    self.port = port
  }

  static func check(port: Int, of host: String) throws {
    guard (1...65535).contains(port) else {
      throw HostError(.invalidName, "\(port) is not a port: use 1 to 65535.", host: host)
    }
  }

  /// What comes before a port, and the port.
  static func separatingPort(of text: String) throws -> (host: String, port: Int?) {
    guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")), text.utf8.last != UInt8(ascii: "]") else { return (text, nil) }
    let digits = text[text.index(after: colon)...]
    guard !digits.isEmpty, digits.utf8.count <= 5, digits.utf8.allSatisfy({ (48...57).contains($0) }), let port = Int(digits) else {
      throw HostError(.invalidName, "\"\(digits)\" in \"\(text)\" is not a port: use 1 to 65535.", host: text)
    }
    return (String(text[..<colon]), port)
  }
}

extension HostPattern: CustomStringConvertible {
  /// The form that ``init(_:)`` reads.
  public var description: String {
    let host = [isWildcard ? "*" : nil, name?.description].compactMap { $0 }.joined(separator: ".")
    guard let port else { return host }
    return host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}
