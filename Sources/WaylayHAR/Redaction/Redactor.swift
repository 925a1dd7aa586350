/// Reads what an exchange holds as what it is, and takes out the values that stand under the name of a secret; and, when
/// it is told of secrets, these wherever else they stand.
///
/// Every value is read once: what is read in it as something else is a value of its own, up to a depth. So the work is
/// in proportion to the bytes.
struct Redactor {
  let redaction: Redaction
  /// What finds the secrets that are known already.
  let finders: [SecretFinder]
  let mark: [UInt8]
  /// What stood under the name of a secret.
  var found: Set<[UInt8]> = []
  /// How many values were replaced.
  var places = 0
  /// Why bodies could not be read.
  var unread: [String] = []
  /// How many bytes have been read, as often as they were, and how many steps the finders took.
  private(set) var work = 0
  private var depth = 0

  /// Values in values in values are somebody's game.
  private static let mostDepth = 8

  init(_ redaction: Redaction, finders: [SecretFinder] = []) {
    self.redaction = redaction
    self.finders = finders
    mark = Array(redaction.replacement.utf8)
  }

  func hides(_ name: some Sequence<UInt8>) -> Bool { redaction.hides(String(decoding: Array(name), as: UTF8.self)) }

  /// Whether a text that is where names are is the name of a secret.
  func namesSecret(_ text: [UInt8]) -> Bool {
    text.count <= 64 && !text.contains { $0 <= 0x20 || "/?&=<>{}\"".utf8.contains($0) } && hides(text)
  }

  /// Replaces a value that stands under the name of a secret.
  ///
  /// - Parameters:
  ///   - whole: What goes with it.
  ///   - escapes: How it is written, and the replacement is to be.
  mutating func hide(
    _ range: Range<Int>, within whole: Range<Int>? = nil, in draft: inout Draft, escapes: Escapes = [],
    isNoted: Bool = true
  ) {
    let secret = escapes.removed(from: draft.source[range])
    guard !secret.isEmpty, secret != mark else { return draft.keep(whole ?? range) }
    if isNoted { found.insert(secret) }
    places += 1
    draft.replace(whole ?? range, by: (whole == nil ? escapes : .entity).added(to: mark))
  }

  /// Reads a value within another one. What takes the place of something is written with the same escapes; all else
  /// stays as it was written.
  mutating func read(
    _ range: Range<Int>, isSecret: Bool = false, in draft: inout Draft, escapes: Escapes = [], isNoted: Bool = true,
    by reading: (inout Redactor, inout Draft) -> Void = { $0.readText(&$1) }
  ) {
    if isSecret { return hide(range, in: &draft, escapes: escapes, isNoted: isNoted) }
    if let changed = changed(Array(draft.source[range]), escapes: escapes, by: reading) {
      draft.replace(range, by: changed)
    } else {
      draft.keep(range)
    }
  }

  /// Reads a value; `nil` if nothing of it is changed.
  mutating func changed(
    _ text: [UInt8], escapes: Escapes = [],
    by reading: (inout Redactor, inout Draft) -> Void = { $0.readText(&$1) }
  ) -> [UInt8]? {
    let placed = escapes.placed(from: text[...])
    let value = placed?.plain ?? text
    guard !value.isEmpty, value != mark else { return nil }
    work += value.count
    var draft = Draft(value)
    if depth < Self.mostDepth {
      depth += 1
      reading(&self, &draft)
      depth -= 1
      work += draft.work
    } else {
      giveUp(&draft, "a value is nested too deeply")
    }
    for finder in finders {
      for gap in draft.gaps {
        for range in finder.secrets(in: gap, of: value, work: &work) {
          places += 1
          draft.replace(range, by: mark)
        }
      }
    }
    return draft.result(in: text, at: placed?.places, escapes)
  }

  /// Reads a text that is not a body.
  mutating func redacted(_ text: String) -> String {
    changed(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) } ?? text
  }

  mutating func redacted(_ text: String?) -> String? { text.map { redacted($0) } }

  /// A value that is a secret by its name.
  mutating func hidden(_ text: String, isNoted: Bool = true) -> String {
    var draft = Draft(Array(text.utf8))
    hide(draft.source.indices, in: &draft, isNoted: isNoted)
    return draft.result.map { String(decoding: $0, as: UTF8.self) } ?? text
  }
}

/// A text, and what is to stand in place of its parts. How far one looks ahead in it is counted.
struct Draft {
  let source: [UInt8]
  private var parts: [(range: Range<Int>, text: [UInt8]?)] = []
  /// How many bytes were looked at, as often as they were.
  private(set) var work = 0

  init(_ source: [UInt8]) {
    self.source = source
  }

  /// Where nothing has been said of the text yet.
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

  /// The text with all that was replaced; `nil` if nothing was.
  var result: [UInt8]? { result(in: source, at: nil, []) }

  /// The same in the text as it is written with escapes, where its bytes are at other places.
  func result(in text: [UInt8], at places: [Int]?, _ escapes: Escapes) -> [UInt8]? {
    guard parts.contains(where: { $0.text != nil }) else { return nil }
    func place(_ index: Int) -> Int { places?[index] ?? index }
    var (result, end): ([UInt8], Int) = ([], 0)
    for case (let range, let new?) in ordered where range.lowerBound >= end {
      result += text[place(end)..<place(range.lowerBound)] + escapes.added(to: new)
      end = range.upperBound
    }
    return result + text[place(end)...]
  }

  /// How many parts there are: the number of the next one.
  var count: Int { parts.count }

  mutating func replace(_ range: Range<Int>, by text: [UInt8]) { parts.append((range, text)) }

  /// A part that stays as it is: it has been read, or is a name.
  mutating func keep(_ range: Range<Int>) { parts.append((range, nil)) }

  /// Says something else of a part.
  mutating func change(_ part: Int, to text: [UInt8]?) { parts[part].text = text }

  /// The first place from another on with such a byte, or the end.
  mutating func find(from index: Int, where isWanted: (UInt8) -> Bool) -> Int {
    let place = source[min(index, source.count)...].firstIndex(where: isWanted) ?? source.count
    work += place - index
    return place
  }

  /// The first byte from a place on that is no space.
  mutating func skipSpace(from index: Int) -> Int { find(from: index) { !$0.isSpace } }

  /// The end of a text in quotes, without an escape before it, on the same line.
  ///
  /// - Returns: The place of the quote at its end; the end of the source, if that ends before it does; `nil` if the line
  ///   ends.
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
