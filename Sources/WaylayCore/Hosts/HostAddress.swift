import Foundation

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
public struct HostAddress: Sendable {
  /// The canonical text (RFC 5952), without brackets.
  public let literal: String
  /// Whether the address is an IPv6 address.
  public let isIPv6: Bool
  /// The first and the second half of an IPv6 address; an IPv4 address is in the last 32 bits.
  private let high: UInt64
  private let low: UInt64

  /// Parses an address literal, with or without brackets.
  ///
  /// - Throws: ``WaylayError/Code/invalidHost`` for anything else, such as a name or a short form like `127.1`.
  public init(_ text: String) throws(WaylayError) {
    guard let address = HostAddress(parsing: text) else {
      throw WaylayError(
        .invalidHost, "\"\(text)\" is not an IP address: write a literal such as 203.0.113.7 or 2001:db8::7.")
    }
    self = address
  }

  /// The address that a text is the literal of.
  init?(parsing text: String) {
    guard text.utf8.count <= 47, Self.mayBeAddress(text) else { return nil }
    if text.utf8.contains(UInt8(ascii: ":")) {
      let isBracketed = text.utf8.first == UInt8(ascii: "[") && text.utf8.last == UInt8(ascii: "]")
      var address = in6_addr()
      guard inet_pton(AF_INET6, isBracketed ? String(text.dropFirst().dropLast()) : text, &address) == 1 else {
        return nil
      }
      let (high, low) = withUnsafeBytes(of: address) { bytes in
        (
          UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
          UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
      }
      self.init(high: high, low: low)
    } else {
      var address = in_addr()
      guard inet_pton(AF_INET, text, &address) == 1 else { return nil }
      self.init(high: 0, low: UInt64(UInt32(bigEndian: address.s_addr)), isIPv6: false)
    }
  }

  /// A look at the bytes, because nearly all texts are names: an address has a colon, or nothing but digits and dots.
  private static func mayBeAddress(_ text: String) -> Bool {
    var isIPv4 = true
    for byte in text.utf8 {
      if byte == UInt8(ascii: ":") { return true }
      if byte != UInt8(ascii: "."), !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { isIPv4 = false }
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

  /// An IPv6 address, or the IPv4 address that it stands for.
  private init(high: UInt64, low: UInt64) {
    let isMapped = high == 0 && low >> 32 == 0xFFFF
    self.init(high: high, low: isMapped ? low & 0xFFFF_FFFF : low, isIPv6: !isMapped)
  }

  private init(high: UInt64, low: UInt64, isIPv6: Bool) {
    self.high = high
    self.low = low
    self.isIPv6 = isIPv6
    literal = Self.text(high: high, low: low, isIPv6: isIPv6)
  }

  /// The address in network byte order: four or sixteen bytes.
  public var bytes: [UInt8] {
    let all = [high, low].flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * UInt64($0))) } }
    return isIPv6 ? all : Array(all.suffix(4))
  }

  private static func text(high: UInt64, low: UInt64, isIPv6: Bool) -> String {
    guard isIPv6 else { return "\(low >> 24 & 255).\(low >> 16 & 255).\(low >> 8 & 255).\(low & 255)" }
    func group(_ index: Int) -> UInt16 {
      UInt16(truncatingIfNeeded: (index < 4 ? high : low) >> (48 - 16 * UInt64(index & 3)))
    }
    // The longest run of at least two zeros becomes "::", the first of several (RFC 5952, section 4.2).
    var longest = 0..<0
    var start = 0
    for index in 0...8 where index == 8 || group(index) != 0 {
      if index - start > max(1, longest.count) { longest = start..<index }
      start = index + 1
    }
    // Eight groups of four digits, and what is between them. Lists have thousands of addresses.
    return String(unsafeUninitializedCapacity: 39) { text in
      var count = 0
      func add(_ byte: UInt8) {
        text[count] = byte
        count += 1
      }
      for index in 0..<8 {
        if longest.contains(index) {
          // A group after it adds the second one.
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
}

extension HostAddress: Hashable, CustomStringConvertible {
  /// Whether both addresses are the same.
  public static func == (one: HostAddress, other: HostAddress) -> Bool {
    one.low == other.low && one.high == other.high && one.isIPv6 == other.isIPv6
  }

  /// Hashes the address.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(high)
    hasher.combine(low)
  }

  /// The canonical text.
  public var description: String { literal }
}
