/// A text with replacements for its parts. It counts the bytes looked at ahead.
struct Draft {
  let source: [UInt8]
  private var parts: [(range: Range<Int>, text: [UInt8]?)] = []
  /// The number of bytes looked at, including repetitions.
  private(set) var work = 0

  init(_ source: [UInt8]) {
    self.source = source
  }

  /// The ranges without a part.
  var gaps: [Range<Int>] {
    var (gaps, end): ([Range<Int>], Int) = ([], 0)
    for part in ordered {
      if part.range.lowerBound > end { gaps.append(end..<part.range.lowerBound) }
      end = max(end, part.range.upperBound)
    }
    return end < source.count ? gaps + [end..<source.count] : gaps
  }

  private var ordered: [(range: Range<Int>, text: [UInt8]?)] {
    parts.sorted { $0.range.lowerBound < $1.range.lowerBound }
  }

  /// The text with replacements; `nil` without any.
  var result: [UInt8]? { result(in: source, at: nil, []) }

  /// Applies the replacements to the escaped text, whose offsets differ.
  func result(in text: [UInt8], at places: [Int]?, _ escapes: Escapes) -> [UInt8]? {
    guard parts.contains(where: { $0.text != nil }) else { return nil }
    func place(_ index: Int) -> Int { places?[index] ?? index }
    var (result, end): ([UInt8], Int) = ([], 0)
    for case (let range, let new?) in ordered where place(range.lowerBound) >= end {
      result += text[end..<place(range.lowerBound)] + escapes.added(to: new)
      end = place(range.upperBound)
    }
    return result + text[end...]
  }

  /// Whether a byte is in a part that is replaced.
  func replaces(_ index: Int) -> Bool { parts.contains { $0.text != nil && $0.range.contains(index) } }

  /// The end of the last part.
  var end: Int? { parts.last?.range.upperBound }

  /// The number of parts, which is the index of the next one.
  var count: Int { parts.count }

  mutating func replace(_ range: Range<Int>, by text: [UInt8]) { parts.append((range, text)) }

  /// Marks a range that stays unchanged: it was read, or is a name.
  mutating func keep(_ range: Range<Int>) { parts.append((range, nil)) }

  /// Changes the replacement of a part.
  mutating func change(_ part: Int, to text: [UInt8]?) { parts[part].text = text }

  /// The first index of a matching byte, or the end.
  mutating func find(from index: Int, where isWanted: (UInt8) -> Bool) -> Int {
    let place = source[min(index, source.count)...].firstIndex(where: isWanted) ?? source.count
    work += place - index
    return place
  }

  /// The first index that is not white space.
  mutating func skipSpace(from index: Int) -> Int { find(from: index) { !$0.isSpace } }

  /// The end of a quoted text on the same line; escaped quotes are skipped.
  ///
  /// - Returns: The index of the closing quote; the end of the source if it comes first; `nil` if the line ends first.
  mutating func endOfString(at quote: Int) -> Int? {
    var index = quote + 1
    defer { work += index - quote }
    while index < source.count {
      switch source[index] {
      case source[quote]: return index
      case UInt8(ascii: "\\"): index += 2
      case 0x0A, 0x0D: return nil
      default: index += 1
      }
    }
    return source.count
  }
}
