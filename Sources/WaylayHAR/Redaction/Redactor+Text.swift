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
    // The end of the last part read; offsets below which there is no closing quote, no percent sign, and no other escape.
    var (index, done, unclosed, plain, escaped) = (start, start, start, start, start)
    while index < source.count {
      var end: Int?
      if index == start || !source[index - 1].isOfWord && source[index - 1] != UInt8(ascii: "-") {
        end = readShape(&draft, at: index)
      }
      switch source[index] {
      case _ where end != nil: break
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        // A bracket after a word is a subscript.
        let isSubscript = source[index] == UInt8(ascii: "[") && index > 0 && source[index - 1].isOfWord
        if !isSubscript, opensJSON(&draft, at: index) { end = readJSON(&draft, from: index) }
      case UInt8(ascii: "\"") where index >= unclosed:
        if let close = draft.endOfString(at: index), close < source.count {
          end = readString(&draft, index..<close)
        } else {
          unclosed = draft.find(from: index) { $0 == 0x0A || $0 == 0x0D }
        }
      case UInt8(ascii: "="), UInt8(ascii: ":"),
        UInt8(ascii: ",") where index > 0 && source[index - 1].isQuote,
        UInt8(ascii: "|") where source[(index + 1)...].first == UInt8(ascii: "|"),
        UInt8(ascii: "?") where source[(index + 1)...].first == UInt8(ascii: "?"):
        end = readUser(&draft, at: index) ?? readNamed(&draft, at: index, after: done, style, &plain)
      case UInt8(ascii: "%") where index >= escaped && style != .code:
        guard Escapes.percent.removed(from: source[index...].prefix(3)).count == 1 else { break }
        let first = (source[done..<index].lastIndex(where: Self.endsWord) ?? done - 1) + 1
        escaped = draft.find(from: index, where: Self.endsWord)
        if let changed = changed(Array(source[first..<escaped]), escapes: .percent) {
          draft.replace(first..<escaped, by: changed)
          end = escaped
        }
      case _ where index == 0 && style != .code && Base64.isDigit(source[0]),
        UInt8(ascii: "e"), UInt8(ascii: "W"), UInt8(ascii: "P"):
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
    // If nothing changes, the range stays open: a known secret with a quote in it may end there.
    changed(Array(draft.source[content]), escapes: .backslash).map { draft.replace(content, by: $0) }
    return string.upperBound + 1
  }

  // MARK: name=value, name: value

  private static func endsName(_ byte: UInt8) -> Bool { byte <= 0x20 || "?&#;,:/\"'<>\\{}()|=!`".utf8.contains(byte) }

  private static func endsValue(_ byte: UInt8, isOfQuery: Bool) -> Bool {
    byte <= 0x20 || (isOfQuery ? "&#\"'<>\\" : "&#\"'<>\\;,)}|").utf8.contains(byte)
  }

  /// Whether a byte ends a word that may be encoded, such as a path or a name.
  private static func endsWord(_ byte: UInt8) -> Bool { byte <= 0x20 || "?&#;=\"'<>\\`".utf8.contains(byte) }

  /// Reads a named value: an item of a query, a form or a list such as a cookie's (`a=b`), an assignment in a script or
  /// an argument of GraphQL (`a: "b"`, `a := "b"`, `a: String = "b"`, `a || "b"`, `"a" => "b"`, `f("a", "b")`), or a
  /// line of a message head or a YAML document (`a: b`, `a = b`), also in quotes, and a list (`a: [b, c]`).
  ///
  /// - Parameter plain: The end of the last item of a query that was looked at.
  private mutating func readNamed(
    _ draft: inout Draft, at sign: Int, after done: Int, _ style: Style, _ plain: inout Int
  ) -> Int? {
    let (source, isPair) = (draft.source, draft.source[sign] == UInt8(ascii: "="))
    let isArgument = source[sign] == UInt8(ascii: ",")
    let isArrow = isPair && source[(sign + 1)...].first == UInt8(ascii: ">") || "|?".utf8.contains(source[sign])
    let first = max(done, sign - 128)
    let between = isPair ? " \t\"'`]:" : " \t\"'`]"
    let end = (source[first..<sign].lastIndex { !between.utf8.contains($0) } ?? first - 1) + 1
    let start = (source[first..<end].lastIndex { Self.endsName($0) } ?? first - 1) + 1
    let from = draft.find(from: sign + (isArrow ? 2 : 1)) { $0 != 0x20 && $0 != 0x09 && !(isArrow && $0 == 0x3D) }
    guard start < end, from < source.count, source[sign + 1] != UInt8(ascii: "=") else { return nil }
    let isString = start > 0 && source[start - 1].isQuote
    let isCall = isString && start > 1 && source[start - 2] == UInt8(ascii: "(")
    if isArgument && !isCall || (isArgument || isArrow) && !source[from].isQuote { return nil }
    var name = Escapes.form.removed(from: source[start..<end])
    var suspicion = suspicion(name)
    if isPair, suspicion == .none, source[from].isQuote, let declared = source[first..<start].declaredName {
      name = Array(declared)
      suspicion = self.suspicion(name)
    } else if suspicion == .none, style == .lines, name.elementsEqual("value".utf8) {
      suspicion = source[..<start].precedingLabel.map { self.suspicion(ofLabel: $0) } ?? .none
    }
    let isOfQuery = isPair && start > 0 && "?&#".utf8.contains(source[start - 1])
    guard suspicion > .none || isOfQuery else { return nil }
    let items = suspicion >= .list ? source.items(from: from) : []
    if let last = items.last {
      draft.keep(start..<end)
      // In scripts, an item may be any expression.
      for item in items where style != .code || source.isLiteral(item) {
        at(name) { $0.read(item, suspicion, in: &draft) }
      }
      return last.upperBound
    }
    var (value, escapes) = (from..<from, Escapes.form)
    let isBlock = source[from...].starts(with: "\"\"\"".utf8)
    let block = isBlock ? source.firstRange(of: "\"\"\"".utf8, from: from + 3)?.lowerBound ?? source.count : nil
    if suspicion > .none, source[from].isQuote, let close = block ?? draft.endOfString(at: from) {
      (value, escapes) = (min(from + (isBlock ? 3 : 1), close)..<close, .backslash)
      // Scripts also name texts for people so: words and sentences stay. In `"?token=" + text` the quote ends a string.
      let word = credential(in: source[value]) ?? []
      let isText = "+,;)".utf8.contains(word.first ?? 0x2B) || word.allSatisfy { $0.isASCIILetter || $0 >= 0x80 }
      guard style != .code || !isText else { return nil }
    } else if !isPair || from > sign + 1, let line = lineValue(&draft, of: start..<end, from, style, suspicion) {
      (value, escapes) = (line, [])
      let dots = source[line].count { $0 == UInt8(ascii: ".") }
      if suspicion >= .modified, source[line].count(where: \.isASCIIDigit) == line.count - min(dots, 1),
        line.count > dots
      {
        // A number in YAML and TOML stays one.
        at(name) { $0.hideNumber(value, in: &draft, suspicion) }
        return value.upperBound
      }
    } else if isPair {
      guard isOfQuery || isString || style != .code, from == sign + 1,
        source[end..<sign].allSatisfy({ $0 == UInt8(ascii: "]") }), suspicion >= .modified || from >= plain
      else { return nil }
      draft.keep(start..<sign)
      // A path parameter ends with its segment (RFC 3986, section 3.3).
      let isOfPath =
        start > 0 && source[start - 1] == UInt8(ascii: ";") && source.isInPath(start)
        // In a connection string, parameters follow an empty path.
        && source[max(0, start - 256)..<start].firstRange(of: Array("/;".utf8)) == nil
      value =
        from..<draft.find(from: from) {
          Self.endsValue($0, isOfQuery: isOfQuery) || isOfPath && "/?".utf8.contains($0)
        }
      plain = value.upperBound
      if Self.isScheme(source[value]), !isOfQuery, let word = Self.word(in: source, from: value.upperBound + 1) {
        value = word
      }
    } else if suspicion >= .modified, style != .code, source[from].isASCIIDigit,
      source[..<start].suffix(256).contains(UInt8(ascii: "("))
    {
      // An argument that is a number stays one.
      value = from..<draft.find(from: from) { !$0.isASCIIDigit }
      at(name) { $0.hideNumber(value, in: &draft, suspicion) }
      return value.upperBound
    }
    let isSecret = !value.isEmpty && suspicion.covers(escapes.removed(from: source[value]))
    guard isSecret || isOfQuery && source[value].contains(UInt8(ascii: "%")) else { return nil }
    draft.keep(start..<end)
    at(name) { $0.read(value, suspicion, in: &draft, escapes: escapes) }
    return value.upperBound
  }

  /// The value of a line, if it is one word, with or without a scheme; within a line, a word that looks random or
  /// follows a scheme.
  private func lineValue(
    _ draft: inout Draft, of name: Range<Int>, _ from: Int, _ style: Style, _ suspicion: Suspicion
  ) -> Range<Int>? {
    guard style != .code else { return nil }
    let source = draft.source
    let before = source[..<name.lowerBound].last { !" -\t".utf8.contains($0) }
    let isQuoted = before.map { "\"'".utf8.contains($0) } ?? false
    guard isQuoted || before?.isLineEnd ?? (style == .lines) else {
      guard source[from - 1] == 0x20, let word = Self.word(in: source, from: from) else { return nil }
      if Self.isScheme(source[word]) { return Self.word(in: source, from: word.upperBound + 1) }
      return Suspicion.list.covers(Array(source[word])) ? word : nil
    }
    let line = from..<draft.find(from: from) { $0.isLineEnd || isQuoted && $0 == before }
    if line.count < 3, !isQuoted, "|>".utf8.contains(source[from]) {
      return suspicion < .modified ? nil : source.block(below: name.lowerBound, from: line.upperBound)
    }
    return credential(in: source[line])?.indices
  }

  private static func word(in source: [UInt8], from start: Int) -> Range<Int>? {
    let word = source.dropFirst(start).prefix { $0 > 0x20 && !"\"'<>\\,;()[]{}".utf8.contains($0) }
    return word.isEmpty ? nil : word.indices
  }

  private static func isScheme(_ word: ArraySlice<UInt8>) -> Bool {
    word.count < 7 && ["basic", "bearer", "token"].contains(String(decoding: word, as: UTF8.self).lowercased())
  }

  /// The only word of a text, or the word that follows a scheme, before a comment.
  private func credential(in text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    let words = text.split { " \t\"'".utf8.contains($0) }.prefix { $0.first != UInt8(ascii: "#") }
    return words.count == 1 || words.count == 2 && words.first.map(Self.isScheme) == true ? words.last : nil
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

  // MARK: JSON, XML and forms in Base64

  /// Reads and re-encodes Base64-encoded JSON and XML, recognized by its first digit: `{"` begins with `ey`; `[{`, `["`
  /// and the like with `W`; `<` with `P`. A form is recognized only if it is the whole value.
  private mutating func readBase64(_ draft: inout Draft, _ run: Range<Int>) -> Int? {
    let digits = draft.source[run].prefix { $0 != UInt8(ascii: "=") }
    // Base64 without a secret in it may be a secret itself.
    guard digits.count >= 12, let plain = Base64.decoded(digits),
      plain.first.map({ "{[<".utf8.contains($0) }) == true || run.count == draft.source.count && looksLikeForm(plain),
      let changed = changed(plain)
    else { return nil }
    draft.replace(run, by: Base64.encoded(changed, like: digits, isPadded: digits.count < run.count))
    return run.upperBound
  }
}

extension ArraySlice<UInt8> {
  /// The word before a colon at the end: in `let token: String`, the name before the type.
  fileprivate var declaredName: ArraySlice<UInt8>? {
    guard let colon = lastIndex(where: { $0 != 0x20 }), self[colon] == UInt8(ascii: ":") else { return nil }
    let name = self[..<colon].suffix(64)
    return name[((name.lastIndex { !$0.isOfWord } ?? name.startIndex - 1) + 1)...]
  }

  /// The value of the `name` or `key` before a `value` in YAML: on the line before, or in the same braces.
  fileprivate var precedingLabel: [UInt8]? {
    let isBlank: (UInt8) -> Bool = { " \t-\r\"'".utf8.contains($0) }
    let item = suffix(256).split { "\n,{".utf8.contains($0) }.last { !$0.allSatisfy(isBlank) }?.drop(while: isBlank)
    guard let item, item.starts(with: "name:".utf8) || item.starts(with: "key:".utf8) else { return nil }
    return item.drop { $0 != UInt8(ascii: ":") }.dropFirst().filter { !" \t\r\"'".utf8.contains($0) }
  }
}

extension [UInt8] {
  /// The items of a list of YAML or TOML, or of a script, without quotes: in brackets, or line by line.
  fileprivate func items(from start: Int) -> [Range<Int>] {
    func isAround(_ byte: UInt8) -> Bool { byte.isSpace || byte.isQuote }
    func item(_ text: ArraySlice<UInt8>) -> Range<Int>? {
      guard let first = text.firstIndex(where: { !isAround($0) }), let last = text.lastIndex(where: { !isAround($0) })
      else { return nil }
      return first..<last + 1
    }
    var (items, index, quote) = ([Range<Int>](), start + 1, UInt8(0))
    if self[start] == UInt8(ascii: "[") {
      var first = index
      while index < count {
        let (byte, isEnd) = (self[index], "[]{}".utf8.contains(self[index]))
        if quote == 0, isEnd || byte == UInt8(ascii: ",") {
          item(self[first..<index]).map { items.append($0) }
          first = index + 1
          if isEnd { break }
        } else if quote == 0 ? byte.isQuote : byte == quote {
          quote = quote == 0 ? byte : 0
        }
        index += 1
      }
      // Text in brackets before a link is that of Markdown.
      return self[Swift.min(index + 1, count)...].first == UInt8(ascii: "(") ? [] : items
    }
    index = start
    while index < count, self[index].isLineEnd {
      index = self[index...].firstIndex { !$0.isLineEnd } ?? count
      let text = self[index...].prefix { !$0.isLineEnd }
      let words = text.split { " \t".utf8.contains($0) }.prefix { $0.first != UInt8(ascii: "#") }
      guard words.count == 2, words[0].elementsEqual("-".utf8), words[1].last != UInt8(ascii: ":") else { break }
      item(words[1]).map { items.append($0) }
      index = text.endIndex
    }
    return items
  }

  /// Whether an item of a list is one string literal.
  fileprivate func isLiteral(_ item: Range<Int>) -> Bool {
    guard item.upperBound < count, self[item.lowerBound - 1] == self[item.upperBound] else { return false }
    return "\"'".utf8.contains(self[item.upperBound]) && !self[item].contains { $0.isQuote || $0 == UInt8(ascii: ":") }
  }

  /// The lines after an index that are indented further than a name (YAML 1.2.2, section 8.1).
  fileprivate func block(below name: Int, from start: Int) -> Range<Int>? {
    let own = name - ((self[..<name].lastIndex(where: \.isLineEnd) ?? -1) + 1)
    var (first, end, line) = (count, start, start)
    while line < count {
      let indentation = self[(line + 1)...].prefix { $0 == 0x20 }.count
      let text = line + 1 + indentation
      let isBlank = text >= count || self[text].isLineEnd
      guard isBlank || indentation > own else { break }
      line = self[text...].firstIndex(of: 0x0A) ?? count
      if !isBlank { (first, end) = (Swift.min(first, text), line) }
    }
    return first < end ? first..<end : nil
  }

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
}
