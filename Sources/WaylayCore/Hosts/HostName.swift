import Foundation

/// A host name in the one form used for comparison: lowercase A-labels without a trailing dot.
///
/// ```swift
/// let name = try HostName("API.Bücher.example.")
/// print(name)                                             // api.xn--bcher-kva.example
/// print(name == (try HostName("api.bücher.EXAMPLE")))     // true
/// ```
///
/// An address literal is a name too (``isAddress``), in its canonical form. Labels consist of letters, digits, hyphens
/// and underscores, at most 63 of them; a name has at most 253 characters (RFC 1035, section 2.3.4).
public struct HostName: Hashable, Sendable, CustomStringConvertible {
  /// The name.
  public let description: String
  /// Whether the name is an address, including forms that systems accept as one, such as `127.1` and `0x7f000001`.
  public let isAddress: Bool

  /// Normalizes a name.
  ///
  /// - Throws: `WaylayError.invalidHost` for text that is neither a name nor an address.
  public init(_ text: String) throws(WaylayError) {
    (description, isAddress) = try Self.isFolded(text) ? (text, false) : Self.folding(text)
  }

  init(_ address: HostAddress) {
    (description, isAddress) = (address.literal, true)
  }

  /// Whether the name has no dot, such as `intranet` and `localhost`.
  public var isSingleLabel: Bool { !isAddress && !description.utf8.contains(UInt8(ascii: ".")) }

  /// Whether the name is meaningful only on one machine or in one network: a single label, or a name below `local` (RFC
  /// 6762), `localhost` (RFC 6761), `home.arpa` (RFC 8375) or `internal`.
  public var isLocal: Bool {
    guard !isAddress else { return false }
    return isSingleLabel || ["local", "localhost", "home.arpa", "internal"].contains { Self.isBelow(description, $0) }
  }

  static func isBelow(_ host: String, _ name: String) -> Bool {
    let utf8 = host.utf8
    return utf8.count > name.utf8.count && host.hasSuffix(name)
      && utf8[utf8.index(utf8.endIndex, offsetBy: -name.utf8.count - 1)] == UInt8(ascii: ".")
  }

  /// The canonical text for comparing hosts: that of the name; for a URL host that is no valid name, its lowercase text
  /// without a trailing dot.
  package static func comparable(_ host: String) -> String {
    if isFolded(host) || host.isEmpty { return host }
    if let name = try? HostName(host) { return name.description }
    let text = host.lowercased()
    return text.utf8.last == UInt8(ascii: ".") ? String(text.dropLast()) : text
  }
}

extension HostName {
  /// Whether a text is a name in normalized form, as most names are; any other text needs the slow path.
  static func isFolded(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
      guard (1...253).contains(bytes.count) else { return false }
      var label = 0
      var isNumber = true
      for byte in bytes {
        switch byte {
        case UInt8(ascii: "-") where label == 0: return false
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
          isNumber = false
          label += 1
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
          // A last label that begins with a digit may be a number: hexadecimal numbers contain letters.
          if label == 0 { isNumber = true }
          label += 1
        case UInt8(ascii: "."):
          guard label > 0, label <= 63 else { return false }
          (label, isNumber) = (0, false)
        default: return false
        }
      }
      return label > 0 && label <= 63 && !isNumber && !Self.endsInHexadecimal(bytes, label)
    }
  }

  private static func endsInHexadecimal(_ bytes: UnsafeBufferPointer<UInt8>, _ label: Int) -> Bool {
    label >= 2 && bytes[bytes.count - label] == UInt8(ascii: "0") && bytes[bytes.count - label + 1] == UInt8(ascii: "x")
  }

  /// The slow path: upper case, a trailing dot, addresses, characters beyond ASCII.
  static func folding(_ text: String) throws(WaylayError) -> (String, isAddress: Bool) {
    if let address = HostAddress(parsing: text) { return (address.literal, true) }
    var name = text
    if name.utf8.contains(where: { $0 >= 0x80 }) { name = try toASCII(text) }
    name = name.lowercased()
    if name.utf8.last == UInt8(ascii: ".") { name.removeLast() }
    try check(name, of: text)
    if let address = HostAddress(parsing: name) { return (address.literal, true) }
    guard endsInNumber(name) else { return (name, false) }
    guard isShortAddress(name) else {
      throw WaylayError(
        .invalidHost,
        "\"\(text)\" is neither a host name nor an address: a host that ends in a number must be an IPv4 address.")
    }
    return (name, true)
  }

  /// Whether systems parse the name as an IPv4 address: up to four numbers, the last of which fills all remaining
  /// bytes.
  private static func isShortAddress(_ name: String) -> Bool {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count <= 4 else { return false }
    let numbers = parts.map { part -> UInt64? in
      if part.hasPrefix("0x") { return part.count == 2 ? 0 : UInt64(part.dropFirst(2), radix: 16) }
      return part.hasPrefix("0") && part.count > 1 ? UInt64(part, radix: 8) : UInt64(part)
    }
    guard let last = numbers.last ?? nil, last < 1 << (8 * UInt64(5 - parts.count)) else { return false }
    return numbers.dropLast().allSatisfy { $0.map { $0 <= 255 } ?? false }
  }

  /// The A-labels of an internationalized name (UTS 46), by the URL parser.
  private static func toASCII(_ text: String) throws(WaylayError) -> String {
    // Reject characters that would end the host of a URL, or be decoded in it.
    guard !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F || "/?#@:[]\\%".utf8.contains($0) }),
      let host = URL(string: "http://\(text)/")?.host, !host.isEmpty, host.utf8.allSatisfy({ $0 < 0x80 })
    else {
      throw WaylayError(
        .invalidHost, "\"\(text)\" cannot be converted to A-labels (xn--…): check the spelling, or write the A-labels.")
    }
    return host
  }

  private static func check(_ name: String, of text: String) throws(WaylayError) {
    func refuse(_ reason: String) -> WaylayError {
      WaylayError(.invalidHost, "\"\(text.prefix(300))\" is not a host name: \(reason).")
    }
    guard !name.isEmpty else { throw refuse("it is empty") }
    guard name.utf8.count <= 253 else { throw refuse("it has more than 253 characters") }
    for label in name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
      guard !label.isEmpty else { throw refuse("it has an empty label") }
      guard label.count <= 63 else { throw refuse("it has a label of more than 63 characters") }
      let isPlain = label.allSatisfy { $0.isOfWord || $0 == UInt8(ascii: "-") }
      guard label.contains(where: { $0 != UInt8(ascii: "-") }) else { throw refuse("it has a label of hyphens only") }
      guard isPlain else { throw refuse("only letters, digits, hyphens, underscores and dots are allowed") }
    }
  }

  /// Whether the last label is a number: then many systems parse the whole name as an address (WHATWG URL, "ends in a
  /// number").
  private static func endsInNumber(_ name: String) -> Bool {
    guard let last = name.utf8.split(separator: UInt8(ascii: ".")).last else { return false }
    if last.allSatisfy(\.isASCIIDigit) { return true }
    guard last.starts(with: "0x".utf8) else { return false }
    return last.dropFirst(2).allSatisfy { $0.isASCIIDigit || (97...102).contains($0) }
  }
}

/// An IPv4 or IPv6 address.
///
/// ```swift
/// let address = try HostAddress("2001:DB8::0007")
/// print(address)          // 2001:db8::7
/// print(address.isIPv6)   // true
/// ```
///
/// Two spellings of the same address compare as equal; an IPv4-mapped IPv6 address (`::ffff:203.0.113.7`) is the IPv4
/// address. Zone identifiers (`fe80::1%eth0`) are rejected: they are meaningful on one machine only.
public struct HostAddress: Hashable, Sendable, CustomStringConvertible {
  /// Whether the address is an IPv6 address.
  public let isIPv6: Bool
  /// The first and the second half of an IPv6 address; an IPv4 address is in the last 32 bits.
  private let high: UInt64
  private let low: UInt64

  /// Parses an address literal, with or without brackets.
  ///
  /// - Throws: `WaylayError.invalidHost` for anything else, such as a name or a short form like `127.1`.
  public init(_ text: String) throws(WaylayError) {
    guard let address = HostAddress(parsing: text) else {
      throw WaylayError(
        .invalidHost, "\"\(text)\" is not an IP address: write a literal such as 203.0.113.7 or 2001:db8::7.")
    }
    self = address
  }

  /// Parses an address literal; `nil` if the text is not one.
  init?(parsing text: String) {
    guard text.utf8.count <= 47, Self.mayBeAddress(text) else { return nil }
    if text.utf8.contains(UInt8(ascii: ":")) {
      let isBracketed = text.utf8.first == UInt8(ascii: "[") && text.utf8.last == UInt8(ascii: "]")
      var address = in6_addr()
      guard inet_pton(AF_INET6, isBracketed ? String(text.dropFirst().dropLast()) : text, &address) == 1 else {
        return nil
      }
      self.init(bytes: withUnsafeBytes(of: address) { Array($0) })
    } else {
      var address = in_addr()
      guard inet_pton(AF_INET, text, &address) == 1 else { return nil }
      self.init(bytes: withUnsafeBytes(of: address) { Array($0) })
    }
  }

  /// A quick check of the bytes, because nearly all texts are names: an address has a colon, or only digits and dots.
  private static func mayBeAddress(_ text: String) -> Bool {
    var isIPv4 = true
    for byte in text.utf8 {
      if byte == UInt8(ascii: ":") { return true }
      if byte != UInt8(ascii: "."), !byte.isASCIIDigit { isIPv4 = false }
    }
    return isIPv4
  }

  /// Makes an address from four or sixteen bytes in network byte order; `nil` for any other number of bytes.
  public init?(bytes: some Collection<UInt8>) {
    switch bytes.count {
    case 4:
      self.init(high: 0, low: bytes.reduce(0) { $0 << 8 | UInt64($1) }, isIPv6: false)
    case 16:
      let high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
      let low = bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
      self.init(high: high, low: low)
    default: return nil
    }
  }

  /// Makes an IPv6 address; an IPv4-mapped one becomes the IPv4 address.
  private init(high: UInt64, low: UInt64) {
    let isMapped = high == 0 && low >> 32 == 0xFFFF
    self.init(high: high, low: isMapped ? low & 0xFFFF_FFFF : low, isIPv6: !isMapped)
  }

  private init(high: UInt64, low: UInt64, isIPv6: Bool) {
    self.high = high
    self.low = low
    self.isIPv6 = isIPv6
  }

  /// The address in network byte order: four or sixteen bytes.
  public var bytes: [UInt8] {
    let all = [high, low].flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * UInt64($0))) } }
    return isIPv6 ? all : Array(all.suffix(4))
  }

  /// The canonical text (RFC 5952), without brackets.
  public var literal: String {
    guard isIPv6 else { return "\(low >> 24 & 255).\(low >> 16 & 255).\(low >> 8 & 255).\(low & 255)" }
    func group(_ index: Int) -> UInt16 {
      UInt16(truncatingIfNeeded: (index < 4 ? high : low) >> (48 - 16 * UInt64(index & 3)))
    }
    // The longest run of at least two zero groups becomes "::"; of equally long runs, the first one (RFC 5952, section
    // 4.2).
    var longest = 0..<0
    var start = 0
    for index in 0...8 where index == 8 || group(index) != 0 {
      if index - start > max(1, longest.count) { longest = start..<index }
      start = index + 1
    }
    // Eight groups of four digits with separators. Built without intermediate strings: lists have thousands of
    // addresses.
    return String(unsafeUninitializedCapacity: 39) { text in
      var count = 0
      func add(_ byte: UInt8) {
        text[count] = byte
        count += 1
      }
      for index in 0..<8 {
        if longest.contains(index) {
          // A following group adds the second colon.
          if index == longest.lowerBound || index == 7 { add(UInt8(ascii: ":")) }
          continue
        }
        if index > 0 { add(UInt8(ascii: ":")) }
        for shift in [12, 8, 4, 0] where shift == 0 || group(index) >> shift != 0 {
          let digit = UInt8(truncatingIfNeeded: group(index) >> shift & 15)
          add(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
      }
      return count
    }
  }

  /// The canonical text.
  public var description: String { literal }
}

/// A pattern for hosts: one name or all names below it, optionally on one port only. The syntax is the same everywhere:
/// in the scope of a chain, in a rule of a rewriter and in the URL pattern of a stub.
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

  /// The host and the port if the text is a URL, or a host with a path; `nil` otherwise.
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

  /// Splits a text into host and port.
  private static func separatingPort(of text: String) throws(WaylayError) -> (host: String, port: Int?) {
    guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")), text.utf8.last != UInt8(ascii: "]") else {
      return (text, nil)
    }
    let digits = text[text.index(after: colon)...]
    guard !digits.isEmpty, digits.utf8.count <= 5, digits.utf8.allSatisfy(\.isASCIIDigit),
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

  /// Like ``matches(_:port:)``, for a host in canonical form: ``HostName/comparable(_:)``.
  package func matches(comparable host: String, port: Int?) -> Bool {
    guard self.port == nil || self.port == port else { return false }
    guard let name else { return true }
    return isWildcard ? HostName.isBelow(host, name.description) : host == name.description
  }

  /// The single host of the pattern, in canonical form; `nil` for a wildcard.
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
