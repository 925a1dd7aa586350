/// Finds secrets in bytes, all of them in one pass, as whole values and words.
///
/// A secret is found plain, with `+` for spaces, percent-encoded, escaped with backslashes or entities, and inside
/// Base64 of a longer text, at any of its three offsets and in both alphabets (RFC 4648, sections 4 and 5). It is not
/// found inside a word or a number. The memory for a secret does not depend on its length: digests are compared.
struct SecretFinder {
  /// Shorter secrets would match unrelated text.
  static let shortest = 6

  /// The end of the replacement of these secrets, if the app has named them.
  let mark: String?
  /// The number of secrets.
  private(set) var count = 0
  /// The digests of secrets, inverted; and of their first 64, 128, 256, … bytes, where a comparison may end early.
  private var digests: Set<UInt64> = []
  /// Whether a secret has as many bytes as the index.
  private var lengths: [Bool] = []
  /// Two bits for the first bytes of each secret: most text is passed over without a digest.
  private var filter: [UInt64]

  /// - Parameter capacity: The number of secrets that the filter is made for.
  /// - Returns: `nil` without any secret to look for.
  init?(_ secrets: Set<[UInt8]>, capacity: Int = 0, mark: String? = nil) {
    self.mark = mark
    let words = max(secrets.count, capacity) / 8 | 15
    filter = [UInt64](repeating: 0, count: 1 << (Int.bitWidth - words.leadingZeroBitCount))
    for secret in secrets { insert(secret) }
    if count == 0 { return nil }
  }

  mutating func insert(_ secret: [UInt8]) {
    // A short one may be a common word.
    guard secret.count >= Self.shortest, secret.count >= 8 || !secret.allSatisfy(\.isASCIILetter) else { return }
    count += 1
    for space in secret.contains(0x20) ? [0x20, UInt8(ascii: "+")] : [0x20] {
      var (key, digest) = (UInt64(0), Self.start)
      for (index, byte) in secret.enumerated() {
        let byte = byte == 0x20 ? space : byte
        digest = Self.digest(digest, byte)
        if index < Self.shortest { key = Self.key(key, byte) }
        if Self.isChecked(index + 1) { digests.insert(digest) }
      }
      digests.insert(~digest)
      for bit in [bits(key).0, bits(key).1] { filter[bit >> 6] |= 1 << (bit & 63) }
    }
    lengths += repeatElement(false, count: max(0, secret.count + 1 - lengths.count))
    lengths[secret.count] = true
  }

  private static func key(_ key: UInt64, _ byte: UInt8) -> UInt64 {
    (key << 8 | UInt64(byte)) & (1 << (8 * UInt64(shortest)) - 1)
  }

  // FNV-1a.
  private static let start: UInt64 = 0xCBF2_9CE4_8422_2325
  private static func digest(_ digest: UInt64, _ byte: UInt8) -> UInt64 { (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }

  private static func isChecked(_ length: Int) -> Bool { length >= 64 && length & (length - 1) == 0 }

  private func bits(_ key: UInt64) -> (Int, Int) {
    let hash = Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> 16)
    return (hash >> 24 & (filter.count << 6 - 1), hash & (filter.count << 6 - 1))
  }

  private func mayHave(_ key: UInt64) -> Bool {
    let (one, other) = bits(key)
    return filter[one >> 6] >> (one & 63) & filter[other >> 6] >> (other & 63) & 1 == 1
  }

  /// The length of the longest secret.
  var longest: Int { lengths.count - 1 }

  /// Whether a whole value is a secret.
  func isSecret(_ bytes: [UInt8]) -> Bool { digests.contains(~bytes.reduce(Self.start, Self.digest)) }

  /// The length of the longest secret with which a text begins.
  private func length(
    _ work: inout Int, of byte: (Int) -> UInt8?, where isWhole: (Int) -> Bool = { _ in true }
  ) -> Int? {
    var (length, digest, found) = (0, Self.start, Int?.none)
    while length + 1 < lengths.count, let byte = byte(length) {
      (length, digest) = (length + 1, Self.digest(digest, byte))
      if lengths[length], digests.contains(~digest), isWhole(length) { found = length }
      if Self.isChecked(length), !digests.contains(digest) { break }
    }
    work += length
    return found
  }

  /// The ranges of secrets in a part of a text, in order, without overlaps.
  ///
  /// - Parameter work: Counts the steps.
  func secrets(in piece: Range<Int>, of bytes: [UInt8], work: inout Int) -> [Range<Int>] {
    var found = matches(in: piece, of: bytes, &work)
    if let (plain, places) = Escapes.any.placed(from: bytes[piece]) {
      found += matches(in: 0..<plain.count, of: plain, &work).map { places[$0.lowerBound]..<places[$0.upperBound] }
    }
    return found.sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) { union, range in
      if let last = union.last, last.upperBound > range.lowerBound {
        union[union.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        union.append(range)
      }
    }
  }

  private func matches(in piece: Range<Int>, of bytes: [UInt8], _ work: inout Int) -> [Range<Int>] {
    var found: [Range<Int>] = []
    let values = Base64.values
    // The last bytes; the last digits of Base64, and their number; the end of the last run of digits that was found.
    var (key, code, digits, end) = (UInt64(0), UInt64(0), 0, 0)
    work += piece.count
    for index in piece {
      key = Self.key(key, bytes[index])
      let start = index + 1 - Self.shortest
      let isInWord = start > 0 && bytes[start].isOfWord && bytes[start - 1].isOfWord
      if start >= piece.lowerBound, !isInWord, mayHave(key),
        let length = length(
          &work, of: { start + $0 < piece.upperBound ? bytes[start + $0] : nil },
          where: { isWhole(start..<start + $0, in: bytes) })
      {
        found.append(start..<start + length)
      }
      let digit = values[Int(bytes[index])]
      (code, digits) = digit < 64 ? (code << 6 | UInt64(digit), digits + 1) : (0, 0)
      // A secret begins with a digit, or after two or four bits of one.
      for skipped in stride(from: 0, to: 6, by: 2) where index >= end && digits > (skipped == 0 ? 7 : 8) {
        guard mayHave(code >> ((6 - skipped) % 6) & (1 << 48 - 1)) else { continue }
        let first = index - (skipped == 0 ? 7 : 8)
        let length = length(&work) { place in
          let bit = skipped + 8 * place
          let digit = first + bit / 6
          guard digit + 1 < piece.upperBound else { return nil }
          let (one, other) = (UInt16(values[Int(bytes[digit])]), UInt16(values[Int(bytes[digit + 1])]))
          return max(one, other) < 64 ? UInt8(truncatingIfNeeded: (one << 6 | other) >> (4 - bit % 6)) : nil
        }
        guard let length else { continue }
        let last = first + (skipped + 8 * length + 5) / 6
        found.append(Base64.run(around: first..<last, in: piece, of: bytes, isInPath: bytes.isInPath(first)))
        end = found[found.count - 1].upperBound
      }
    }
    return found
  }

  /// Whether the match does not continue as a word or number at either end.
  private func isWhole(_ range: Range<Int>, in bytes: [UInt8]) -> Bool {
    let isNumber = bytes[range].allSatisfy(\.isASCIIDigit)
    func goesOn(from edge: Int, _ step: Int) -> Bool {
      guard bytes.indices.contains(edge + step), bytes[edge].isOfWord else { return false }
      let (next, far) = (bytes[edge + step], edge + 2 * step)
      return next.isOfWord
        || isNumber && ".,".utf8.contains(next) && bytes.indices.contains(far) && bytes[far].isASCIIDigit
    }
    return !goesOn(from: range.lowerBound, -1) && !goesOn(from: range.upperBound - 1, 1)
  }
}

/// Values that exchanges have under secret names, to be removed from other exchanges.
package struct KnownSecrets: Sendable {
  private let limit: Int
  /// At most two: the one with the older secrets is dropped when the other one is full.
  private(set) var finders: [SecretFinder]

  /// - Parameters:
  ///   - secrets: Secrets to begin with, whatever they look like.
  ///   - limit: The approximate maximum number of secrets; the oldest are dropped.
  package init(_ secrets: Set<[UInt8]> = [], limit: Int = .max) {
    self.limit = limit
    finders = [SecretFinder(secrets)].compactMap(\.self)
  }

  package func contains(_ secret: [UInt8]) -> Bool { finders.contains { $0.isSecret(secret) } }

  /// Adds the values that are unlikely to occur by chance.
  package mutating func add(_ found: Set<[UInt8]>) {
    let new = found.filter { !contains($0) }
    if let last = finders.indices.last, finders[last].count + new.count <= limit / 2 {
      for secret in new { finders[last].insert(secret) }
    } else if let finder = SecretFinder(new, capacity: min(limit, 1 << 16)) {
      finders = finders.suffix(1) + [finder]
    }
  }
}
