extension Redactor {
  /// The context of unstructured text.
  enum Style {
    /// A value: a header field, a member, an attribute.
    case value
    /// A body, whose lines may begin with a name.
    case lines
    /// Source code, in which `=` does not separate a name from a value.
    case code
  }

  /// Reads text of unknown format: markup, or a text that contains URLs, pairs and JSON.
  mutating func readText(_ draft: inout Draft) {
    if looksLikeMarkup(draft.source) { return readMarkup(&draft, isHTML: false) }
    readText(&draft, .value)
  }

  /// Reads a text with embedded URLs, pairs, JSON and Base64-encoded JSON.
  mutating func readText(_ draft: inout Draft, from start: Int = 0, _ style: Style) {
    let source = draft.source
    // The end of the last part read; offsets below which there is no closing quote, and no percent sign.
    var (index, done, unclosed, plain) = (start, start, start, start)
    while index < source.count {
      var end: Int?
      switch source[index] {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        if opensJSON(&draft, at: index) { end = readJSON(&draft, from: index) }
      case UInt8(ascii: "\"") where index >= unclosed:
        if let close = draft.endOfString(at: index), close < source.count {
          end = readString(&draft, index..<close)
        } else {
          unclosed = draft.find(from: index) { $0 == 0x0A || $0 == 0x0D }
        }
      case UInt8(ascii: "="): end = readPair(&draft, at: index, after: done, style, &plain)
      case UInt8(ascii: ":"):
        end = readUser(&draft, at: index) ?? (style == .lines ? readLine(&draft, at: index, after: done) : nil)
      case UInt8(ascii: "e"), UInt8(ascii: "W"):
        if index == 0 || !Base64.isDigit(source[index - 1]) {
          let run = Base64.run(around: index..<index + 1, in: index..<source.count, of: source)
          end = readBase64(&draft, run)
        }
      default: break
      }
      if let end, end > index { done = end }
      index = max(end ?? 0, index + 1)
    }
  }

  private func opensJSON(_ draft: inout Draft, at index: Int) -> Bool {
    let next = draft.skipSpace(from: index + 1)
    guard next < draft.source.count else { return false }
    return (draft.source[index] == UInt8(ascii: "{") ? "\"}" : "\"{[").utf8.contains(draft.source[next])
  }

  /// Reads a quoted text: a member name with the members that follow, or text with escapes; `nil` for other text.
  private mutating func readString(_ draft: inout Draft, _ string: Range<Int>) -> Int? {
    let next = draft.skipSpace(from: string.upperBound + 1)
    if next < draft.source.count, draft.source[next] == UInt8(ascii: ":") {
      return readJSON(&draft, from: string.lowerBound, isMembers: true)
    }
    let content = string.lowerBound + 1..<string.upperBound
    guard draft.source[content].contains(UInt8(ascii: "\\")) else { return nil }
    read(content, in: &draft, escapes: .backslash)
    return string.upperBound + 1
  }

  // MARK: name=value

  private static func endsName(_ byte: UInt8) -> Bool { byte <= 0x20 || "?&#;,:/\"'<>\\{}()|=!".utf8.contains(byte) }

  private static func endsValue(_ byte: UInt8, isOfQuery: Bool) -> Bool {
    byte <= 0x20 || (isOfQuery ? "&#\"'<>\\" : "&#\"'<>\\;,)}|").utf8.contains(byte)
  }

  /// Reads a pair in a query, in a form, or in a list such as a cookie's.
  private mutating func readPair(
    _ draft: inout Draft, at equals: Int, after done: Int, _ style: Style, _ plain: inout Int
  ) -> Int? {
    let source = draft.source
    let start =
      (source[max(done, equals - 128)..<equals].lastIndex { Self.endsName($0) } ?? max(done, equals - 128) - 1) + 1
    let isOfQuery = start > 0 && "?&#".utf8.contains(source[start - 1])
    let value = equals + 1
    guard start < equals, value < source.count, isOfQuery || style != .code, !"=>".utf8.contains(source[value]),
      "\"'".utf8.contains(source[value]) || !Self.endsValue(source[value], isOfQuery: isOfQuery)
    else { return nil }
    draft.keep(start..<equals)
    let isSecret = hides(Escapes.form.removed(from: source[start..<equals]))
    guard isSecret || isOfQuery && value >= plain else { return nil }
    if isSecret, "\"'".utf8.contains(source[value]), let close = draft.endOfString(at: value) {
      hide(value + 1..<close, in: &draft, escapes: .backslash)
      return close
    }
    // A path parameter ends with its segment (RFC 3986, section 3.3).
    let isOfPath = start > 0 && source[start - 1] == UInt8(ascii: ";") && source.isInPath(start)
    let end = draft.find(from: value) {
      Self.endsValue($0, isOfQuery: isOfQuery) || isOfPath && "/?".utf8.contains($0)
    }
    guard isSecret || source[value..<end].contains(UInt8(ascii: "%")) else {
      plain = end
      return nil
    }
    read(value..<end, isSecret: isSecret, in: &draft, escapes: .form)
    return end
  }

  // MARK: scheme://user:password@host

  private mutating func readUser(_ draft: inout Draft, at colon: Int) -> Int? {
    let source = draft.source
    guard source[colon...].starts(with: "://".utf8) else { return nil }
    let start = colon + 3
    let end = draft.find(from: start) { $0 <= 0x20 || "/?#\"'<>\\{}".utf8.contains($0) }
    guard let at = source[start..<end].lastIndex(of: UInt8(ascii: "@")) else { return start }
    if let password = source[start..<at].firstIndex(of: UInt8(ascii: ":")) {
      noteSecret(Escapes.percent.removed(from: source[password + 1..<at]))
    }
    hide(start..<at, in: &draft, escapes: .percent, isNoted: false)
    return at
  }

  // MARK: Name: value

  /// Reads a line of a message head or a YAML document, with one word as its value.
  private mutating func readLine(_ draft: inout Draft, at colon: Int, after done: Int) -> Int? {
    let source = draft.source
    let start =
      (source[max(done, colon - 128)..<colon].lastIndex { Self.endsName($0) } ?? max(done, colon - 128) - 1) + 1
    let before = source[..<start].last { !" -\t".utf8.contains($0) } ?? 0x0A
    guard start < colon, before == 0x0A || before == 0x0D, hides(source[start..<colon]) else { return nil }
    draft.keep(start..<colon)
    let end = draft.find(from: colon + 1) { $0 == 0x0A || $0 == 0x0D }
    let words = source[colon + 1..<end].split { " \t\"'".utf8.contains($0) }
    let isScheme = words.first.map { ["basic", "bearer"].contains(String(decoding: $0, as: UTF8.self).lowercased()) }
    guard let value = words.last, words.count == 1 || words.count == 2 && isScheme == true else { return nil }
    hide(value.indices, in: &draft)
    return value.endIndex
  }

  // MARK: JSON in Base64

  /// Reads and re-encodes Base64-encoded JSON, recognized by its first digit: `{"` begins with `ey`; `[{`, `["` and the
  /// like with `W`.
  private mutating func readBase64(_ draft: inout Draft, _ run: Range<Int>) -> Int? {
    let digits = draft.source[run].prefix { $0 != UInt8(ascii: "=") }
    guard digits.count >= 12, let plain = Base64.decoded(digits), plain.first.map({ "{[".utf8.contains($0) }) == true
    else {
      return nil
    }
    if let changed = changed(plain) {
      draft.replace(run, by: Base64.encoded(changed, like: digits, isPadded: digits.count < run.count))
    } else {
      draft.keep(run)
    }
    return run.upperBound
  }
}

extension [UInt8] {
  /// Whether an index is in the path of a URL: after `://`, or after a slash at the beginning of a word, and not in its
  /// query. The search backwards is limited.
  func isInPath(_ place: Int) -> Bool {
    for index in (Swift.max(0, place - 1024)..<place).reversed() {
      switch self[index] {
      case UInt8(ascii: "?"), UInt8(ascii: "#"): return false
      case UInt8(ascii: "/"):
        if index == 0 || Self.endsWord(self[index - 1]) || self[..<index].suffix(2).elementsEqual(":/".utf8) {
          return true
        }
      case let byte where Self.endsWord(byte): return false
      default: break
      }
    }
    return false
  }

  private static func endsWord(_ byte: UInt8) -> Bool { byte <= 0x20 || "\"'<>\\".utf8.contains(byte) }

  /// Whether the text is unlikely to occur by chance, unlike a word such as "password".
  var looksLikeCredential: Bool { count >= 8 && !allSatisfy { $0.isASCIILetter || $0.isSpace || $0 >= 0x80 } }
}
