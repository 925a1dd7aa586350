/// Finds secrets in bytes, all of them in one pass (Aho and Corasick, 1975), as whole values and words.
///
/// A secret is found plain, with `+` for spaces, percent-encoded, escaped with backslashes or entities, and inside
/// Base64 of a longer text, at any of its three offsets and in both alphabets (RFC 4648, sections 4 and 5). It is not
/// found inside a word or a number.
struct SecretFinder {
  /// Shorter secrets would match unrelated text.
  static let shortest = 6
  /// Limits for Base64 patterns, which take five times as much memory as plain ones.
  private static let (longestCoded, mostCoded) = (256, 1 << 20)

  private struct Pattern {
    let bytes: [UInt8]
    let isCoded: Bool
  }

  // The nodes of a prefix tree of all patterns in breadth-first order: the children of a node are adjacent and sorted.
  private var byte: [UInt8] = [0]
  private var children: [Int32] = []
  private var failure: [Int32] = [0]
  /// The index of the pattern that ends at a node, or -1.
  private var ends: [Int32] = [-1]
  /// The nearest node on the failure path at which a pattern ends.
  private var shorter: [Int32] = [0]
  private var root = [Int32](repeating: 0, count: 256)
  private var patterns: [Pattern] = []
  let whole: Set<[UInt8]>

  /// - Returns: `nil` without any secret to look for.
  init?(_ secrets: Set<[UInt8]>) {
    whole = secrets.filter { Self.isLookedFor($0) }
    guard !whole.isEmpty else { return nil }
    let size = whole.reduce(0) { $0 + $1.count }
    for secret in whole {
      patterns.append(Pattern(bytes: secret, isCoded: false))
      if secret.contains(0x20) {
        patterns.append(Pattern(bytes: secret.map { $0 == 0x20 ? UInt8(ascii: "+") : $0 }, isCoded: false))
      }
      if secret.count <= Self.longestCoded, size <= Self.mostCoded {
        // Search only for the end, which saves memory: tokens often share their beginnings.
        patterns += Base64.spellings(of: secret).map { Pattern(bytes: Array($0.suffix(24)), isCoded: true) }
      }
    }
    patterns.sort { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    build()
  }

  /// Whether to look for other occurrences of a value: not if it is short, or may be a common word.
  private static func isLookedFor(_ secret: [UInt8]) -> Bool {
    secret.count >= shortest && (secret.count >= 8 || !secret.allSatisfy { $0.isASCIILetter })
  }

  private mutating func build() {
    // The range of sorted patterns below each node of a level.
    var (ranges, depth) = ([0..<patterns.count], 0)
    var (level, work) = (0..<1, 0)
    while !level.isEmpty {
      var next: [Range<Int>] = []
      for (node, var range) in zip(level, ranges) {
        children.append(Int32(byte.count))
        while let first = range.first, patterns[first].bytes.count == depth { range.removeFirst() }
        while let first = range.first {
          let letter = patterns[first].bytes[depth]
          var last = first + 1
          while last < range.upperBound, patterns[last].bytes[depth] == letter { last += 1 }
          next.append(first..<last)
          if node == 0 { root[Int(letter)] = Int32(byte.count) }
          let back = node == 0 ? 0 : step(from: Int(failure[node]), letter, &work)
          shorter.append(ends[Int(back)] >= 0 ? back : shorter[Int(back)])
          failure.append(back)
          ends.append(patterns[first].bytes.count == depth + 1 ? Int32(first) : -1)
          byte.append(letter)
          range = last..<range.upperBound
        }
      }
      (level, ranges, depth) = (level.upperBound..<byte.count, next, depth + 1)
    }
    children.append(Int32(byte.count))
  }

  /// The transition from a node by a byte.
  private func step(from node: Int, _ next: UInt8, _ work: inout Int) -> Int32 {
    var node = node
    work += 1
    while node != 0 {
      work += 1
      var (low, high) = (Int(children[node]), Int(children[node + 1]))
      while low < high {
        let middle = (low + high) / 2
        if byte[middle] == next { return Int32(middle) }
        if byte[middle] < next { low = middle + 1 } else { high = middle }
      }
      node = Int(failure[node])
    }
    return root[Int(next)]
  }

  /// Whether a whole value is a secret.
  func isSecret(_ bytes: [UInt8]) -> Bool { whole.contains(bytes) }

  /// The ranges of secrets in a part of a text, in order, without overlaps.
  ///
  /// - Parameter work: Counts the steps.
  func secrets(in piece: Range<Int>, of bytes: [UInt8], work: inout Int) -> [Range<Int>] {
    var found = matches(in: piece, of: bytes, &work)
    if let (plain, places) = Escapes.any.placed(from: bytes[piece]) {
      let more = matches(in: 0..<plain.count, of: plain, &work).map { places[$0.lowerBound]..<places[$0.upperBound] }
      if !more.isEmpty { found = (found + more).sorted { $0.lowerBound < $1.lowerBound } }
    }
    return found.reduce(into: []) { union, range in
      if let last = union.last, last.upperBound > range.lowerBound {
        union[union.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        union.append(range)
      }
    }
  }

  private func matches(in piece: Range<Int>, of bytes: [UInt8], _ work: inout Int) -> [Range<Int>] {
    var found: [Range<Int>] = []
    var node = 0
    for index in piece {
      node = Int(step(from: node, bytes[index], &work))
      // Take the longest match; shorter ones with the same end lie inside it.
      var candidate = ends[node] >= 0 ? node : Int(shorter[node])
      while candidate != 0 {
        work += 1
        let pattern = patterns[Int(ends[candidate])]
        let range = index + 1 - pattern.bytes.count..<index + 1
        if pattern.isCoded {
          if range.upperBound > found.last?.upperBound ?? piece.lowerBound {
            let isInPath = bytes.isInPath(range.lowerBound)
            found.append(Base64.run(around: range, in: piece, of: bytes, isInPath: isInPath))
          }
          break
        }
        if isWhole(range, in: bytes) {
          while let last = found.last, last.lowerBound >= range.lowerBound { found.removeLast() }
          found.append(range)
          break
        }
        candidate = Int(shorter[candidate])
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

extension UInt8 {
  var isSpace: Bool { self == 0x20 || 0x09...0x0D ~= self }
  var isLineEnd: Bool { self == 0x0A || self == 0x0D }
}
