import Foundation

/// A text to look for in bytes; upper and lower case of ASCII letters do not count.
struct Needle: Sendable, Hashable {
  private let bytes: [UInt8]

  init(_ text: String) {
    bytes = text.utf8.map { Self.folded($0) }
  }

  @inline(__always)
  static func folded(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }

  func isIn(_ bytes: [UInt8], _ place: Range<Int>) -> Bool {
    bytes.withUnsafeBytes { isIn(UnsafeRawBufferPointer(rebasing: $0[place.clamped(to: 0..<$0.count)])) }
  }

  private func isIn(_ hay: UnsafeRawBufferPointer) -> Bool {
    let count = bytes.count
    guard count > 0, hay.count >= count else { return count == 0 }
    return bytes.withUnsafeBufferPointer { needle in
      let (first, last) = (needle[0], needle[count - 1])
      for start in 0...(hay.count - count) {
        // Both ends first: most places are over after one comparison, and hardly any get further than two.
        guard Self.folded(hay[start]) == first, Self.folded(hay[start + count - 1]) == last else { continue }
        var index = 1
        while index < count, Self.folded(hay[start + index]) == needle[index] { index += 1 }
        if index >= count { return true }
      }
      return false
    }
  }
}

/// A host to look for: it and what is beneath it, or a pattern with `*`.
struct HostGlob: Sendable, Hashable {
  private let pattern: [UInt8]
  private let isPattern: Bool

  init(_ text: String) {
    pattern = text.utf8.map { Needle.folded($0) }
    isPattern = pattern.contains(UInt8(ascii: "*"))
  }

  func matches(_ texts: [UInt8], _ place: Range<Int>) -> Bool {
    texts.withUnsafeBufferPointer { all in
      let host = UnsafeBufferPointer(rebasing: all[place.clamped(to: 0..<all.count)])
      guard !isPattern else { return glob(host) }
      guard host.count >= pattern.count else { return false }
      let start = host.count - pattern.count
      for index in 0..<pattern.count where Needle.folded(host[start + index]) != pattern[index] { return false }
      return start == 0 || host[start - 1] == UInt8(ascii: ".")
    }
  }

  /// Goes back to the last asterisk alone: never more steps than the one length times the other.
  private func glob(_ host: UnsafeBufferPointer<UInt8>) -> Bool {
    var (index, place) = (0, 0)
    var asterisk: (index: Int, place: Int)?
    while place < host.count {
      if index < pattern.count, pattern[index] == UInt8(ascii: "*") {
        asterisk = (index, place)
        index += 1
      } else if index < pattern.count, pattern[index] == Needle.folded(host[place]) {
        index += 1
        place += 1
      } else if let last = asterisk {
        asterisk = (last.index, last.place + 1)
        (index, place) = (last.index + 1, last.place + 1)
      } else {
        return false
      }
    }
    return pattern[index...].allSatisfy { $0 == UInt8(ascii: "*") }
  }
}
