/// Parses the values of an exchange and replaces those under secret names; with finders, also other occurrences of
/// known secrets.
///
/// Every value is read once; a value in another format inside it is read as a nested value, up to a depth. The work is
/// therefore linear in the number of bytes.
struct Redactor {
  let redaction: Redaction
  /// Searches for known secrets.
  let finders: [SecretFinder]
  let mark: [UInt8]
  /// The replacement of numbers.
  let zero = [UInt8(ascii: "0")]
  /// Values under secret names.
  var found: Set<[UInt8]> = []
  /// The number of replaced values, and the values by place.
  var places = 0
  private(set) var taken: [String: TakenValue] = [:]
  /// The current place in the entry: the part of the message, and names in it.
  var place: [String] = []
  private var suspicions: [String: Suspicion] = [:]
  /// Members of JSON by name.
  var members: [String: Member] = [:]
  /// The reasons why bodies could not be read.
  var unread: [String] = []
  /// The number of bytes read, including repetitions, and of steps of the finders.
  private(set) var work = 0
  private var depth = 0

  /// Deeper nesting does not occur in real traffic, only in attacks.
  private static let mostDepth = 8

  init(_ redaction: Redaction, finders: [SecretFinder] = []) {
    (self.redaction, self.finders) = (redaction, finders)
    mark = Array(redaction.replacement.utf8)
  }

  mutating func suspicion(_ name: some Sequence<UInt8>) -> Suspicion {
    let name = String(decoding: Array(name), as: UTF8.self)
    if let known = suspicions[name] { return known }
    if suspicions.count > 4096 { suspicions = [:] }
    let suspicion = redaction.suspicion(of: name)
    suspicions[name] = suspicion
    return suspicion
  }

  /// The suspicion of a text in the position of a name.
  mutating func suspicion(ofLabel text: [UInt8]) -> Suspicion {
    let isName = text.count <= 64 && !text.contains { $0 <= 0x20 || "?&=<>{}\"".utf8.contains($0) }
    return isName ? suspicion(text) : .none
  }

  /// Runs a closure at a place within the current one.
  mutating func at<Result>(_ name: some Sequence<UInt8>, _ body: (inout Redactor) -> Result) -> Result {
    place.append(String(decoding: Array(name.prefix(128)), as: UTF8.self))
    defer { place.removeLast() }
    return body(&self)
  }

  /// Notes a replacement at the current place.
  mutating func take(_ secret: [UInt8], _ suspicion: Suspicion) {
    places += 1
    // Deeper places are listed by their beginning.
    taken[place.prefix(32).joined(separator: "."), default: TakenValue()].add(
      secret, isDigested: suspicion <= .list || suspicion == .modified,
      isTold: CredentialNames.kind(of: place.last ?? "") != .changing)
  }

  /// Replaces the value of a secret name.
  ///
  /// - Parameters:
  ///   - whole: The range to replace, if it is larger than the value.
  ///   - escapes: The escapes of the value, also used for the replacement.
  mutating func hide(
    _ range: Range<Int>, within whole: Range<Int>? = nil, in draft: inout Draft, escapes: Escapes = [],
    _ suspicion: Suspicion = .secret, isNoted: Bool = true
  ) {
    let secret = escapes.removed(from: draft.source[range])
    guard !secret.isEmpty, secret != mark else { return draft.keep(whole ?? range) }
    if isNoted { noteSecret(secret) }
    take(secret, suspicion)
    draft.replace(whole ?? range, by: (whole == nil ? escapes : .entity).added(to: mark))
  }

  /// Replaces a number, which stays one.
  mutating func hideNumber(_ range: Range<Int>, in draft: inout Draft, _ suspicion: Suspicion) {
    take(Array(draft.source[range]), suspicion)
    draft.replace(range, by: zero)
  }

  /// Replaces a value if the suspicion covers it; otherwise reads it as a nested value. Replacements are written with
  /// the same escapes; the rest stays as written.
  mutating func read(
    _ range: Range<Int>, _ suspicion: Suspicion = .none, in draft: inout Draft, escapes: Escapes = [],
    isNoted: Bool = true, by reading: (inout Redactor, inout Draft) -> Void = { $0.readText(&$1) }
  ) {
    if suspicion.covers(escapes.removed(from: draft.source[range])) {
      hide(range, in: &draft, escapes: escapes, suspicion, isNoted: isNoted)
    } else if let changed = changed(Array(draft.source[range]), escapes: escapes, by: reading) {
      draft.replace(range, by: changed)
    } else {
      draft.keep(range)
    }
  }

  /// Replaces or reads the value of a name.
  mutating func read(
    _ range: Range<Int>, named name: some Sequence<UInt8>, in draft: inout Draft, escapes: Escapes = [],
    by reading: (inout Redactor, inout Draft) -> Void = { $0.readText(&$1) }
  ) {
    let suspicion = suspicion(name)
    at(name) { $0.read(range, suspicion, in: &draft, escapes: escapes, by: reading) }
  }

  /// Reads a value; `nil` if nothing changes.
  ///
  /// - Parameter placed: The value within the text, and the place of each of its bytes: by default, the text without
  ///   escapes.
  mutating func changed(
    _ text: [UInt8], escapes: Escapes = [], placed: (plain: [UInt8], places: [Int])? = nil,
    by reading: (inout Redactor, inout Draft) -> Void = { $0.readText(&$1) }
  ) -> [UInt8]? {
    let placed = placed ?? escapes.placed(from: text[...])
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
          take(Array(value[range]), .secret)
          draft.replace(range, by: mark)
        }
      }
    }
    return draft.result(in: text, at: placed?.places, escapes)
  }

  /// Reads a text outside of bodies.
  mutating func redacted(_ text: String) -> String {
    changed(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) } ?? text
  }

  mutating func redacted(_ text: String?) -> String? { text.map { redacted($0) } }

  /// Redacts the value of a name.
  mutating func redacted(_ text: String, named name: String) -> String {
    let suspicion = suspicion(name.utf8)
    return suspicion.covers(Array(text.utf8)) ? hidden(text, suspicion) : redacted(text)
  }

  /// Hides a value under a secret name.
  mutating func hidden(_ text: String, _ suspicion: Suspicion = .secret, isNoted: Bool = true) -> String {
    var draft = Draft(Array(text.utf8))
    hide(draft.source.indices, in: &draft, suspicion, isNoted: isNoted)
    return draft.result.map { String(decoding: $0, as: UTF8.self) } ?? text
  }
}

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
