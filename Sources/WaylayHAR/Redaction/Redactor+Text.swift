extension Redactor {
  /// Reads a text that may contain URLs, items of queries and forms, JSON and markup.
  ///
  /// - Parameter isLines: Whether lines may begin with a name, as in a body.
  mutating func readText(_ draft: inout Draft, from start: Int = 0, isLines: Bool = false) {
    let source = draft.source
    if start == 0, looksLikeMarkup(source) { return readMarkup(&draft, isHTML: false) }
    // The end of the last part read, and of the last word with escapes.
    var (index, done, escaped) = (start, start, start)
    while index < source.count {
      var end: Int?
      let isFirst = index == start
      if isFirst || !source[index - 1].isOfWord && source[index - 1] != UInt8(ascii: "-") {
        if isLines, isFirst || source[index - 1].isLineEnd { end = readLine(&draft, at: index) }
        end = end ?? readShape(&draft, at: index)
        if isFirst, end == nil { end = readItem(&draft, at: index, isInQuery: false) }
      }
      switch source[index] {
      case _ where end != nil: break
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        if opensJSON(&draft, at: index) { end = readJSON(&draft, from: index) }
      case UInt8(ascii: ":"): end = readUser(&draft, at: index)
      case UInt8(ascii: "?"), UInt8(ascii: "&"), UInt8(ascii: "#"), UInt8(ascii: ";"):
        end = readItem(&draft, at: index + 1, isInQuery: source[index] != UInt8(ascii: ";"))
      case UInt8(ascii: "%") where index >= escaped:
        guard Escapes.percent.removed(from: source[index...].prefix(3)).count == 1 else { break }
        let first = (source[done..<index].lastIndex(where: \.endsItem) ?? done - 1) + 1
        escaped = draft.find(from: index, where: \.endsItem)
        if let changed = changed(Array(source[first..<escaped]), escapes: .percent) {
          draft.replace(first..<escaped, by: changed)
          end = escaped
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

  // MARK: name=value, name: value

  /// Reads an item of a query, a form, a list of cookies or the parameters of a path.
  private mutating func readItem(_ draft: inout Draft, at first: Int, isInQuery: Bool) -> Int? {
    let source = draft.source
    let start = draft.find(from: first) { $0 != 0x20 }
    let equals = draft.find(from: start) { $0 <= 0x20 || "=?&#;,:/\"'<>\\{}()|!`".utf8.contains($0) }
    guard start < equals, equals < source.count, source[equals] == UInt8(ascii: "="), equals - start <= 256 else {
      return nil
    }
    let name = Escapes.form.removed(from: source[start..<equals])
    guard let row = row(name) else { return nil }
    let isOfPath = !isInQuery && source.isInPath(start)
    let end = draft.find(from: equals + 1) {
      $0 <= 0x20 || "&#\"'<>\\".utf8.contains($0) || !isInQuery && $0 == UInt8(ascii: ";")
        || isOfPath && "/?".utf8.contains($0)
    }
    guard row.hiding(Escapes.form.removed(from: source[equals + 1..<end])) != nil else { return nil }
    draft.keep(start..<equals)
    at(name) { $0.hide(equals + 1..<end, in: &draft, escapes: .form, row.name) }
    return end
  }

  /// Reads a line that begins with a name and `=` or `:`, as in configurations and message heads. Name and value may
  /// have quotes.
  private mutating func readLine(_ draft: inout Draft, at start: Int) -> Int? {
    let (source, end) = (draft.source, draft.find(from: start) { $0.isLineEnd })
    func isAround(_ byte: UInt8) -> Bool { byte.isSpace || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }
    let sign = draft.find(from: start) { "=:".utf8.contains($0) || $0.isLineEnd }
    guard sign < end, sign - start <= 256,
      let name = source[start..<sign].trimmed(isAround),
      source[name].allSatisfy({ $0.isOfWord || "-.".utf8.contains($0) }),
      let row = row(source[name]), sign + 1 < end, source[sign + 1] != UInt8(ascii: "="),
      var value = source[sign + 1..<end].trimmed({ $0.isSpace || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ";") })
    else { return nil }
    let isQuoted = "\"'".utf8.contains(source[value.lowerBound])
    if isQuoted, source[value.lowerBound] == source[value.upperBound - 1] {
      guard let content = source[value].trimmed(isAround) else { return nil }
      value = content
    }
    // A line may be one item of a form.
    guard !source[value].contains(UInt8(ascii: "&")) else { return nil }
    let (text, isNumber) = (Array(source[value]), !isQuoted && Array(source[value]).isNumber)
    guard !text.isLiteral, isNumber ? row.hidesNumbers : row.hiding(text) != nil else { return nil }
    draft.keep(name)
    at(source[name]) { redactor in
      if isNumber {
        redactor.hideNumber(value, in: &draft, row.name)
      } else {
        redactor.hide(value, in: &draft, row.name)
      }
    }
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
      note(Escapes.percent.removed(from: source[password + 1..<at]))
    }
    hide(start..<at, in: &draft, escapes: .percent, "(user info)", isNoted: false)
    return at
  }
}

extension ArraySlice<UInt8> {
  /// The range without bytes at both ends; `nil` if nothing is left.
  fileprivate func trimmed(_ isAround: (UInt8) -> Bool) -> Range<Int>? {
    guard let first = firstIndex(where: { !isAround($0) }), let last = lastIndex(where: { !isAround($0) }) else {
      return nil
    }
    return first..<last + 1
  }
}

extension [UInt8] {
  /// Whether it is written like a number of JSON.
  var isNumber: Bool {
    guard let first, first == UInt8(ascii: "-") || first.isASCIIDigit else { return false }
    return contains(where: \.isASCIIDigit) && allSatisfy { $0.isASCIIDigit || "+-.eE".utf8.contains($0) }
      && count { $0 == UInt8(ascii: ".") } < 2 && !dropFirst().contains(UInt8(ascii: "-"))
  }

  fileprivate var isLiteral: Bool { ["true", "false", "null"].contains(String(decoding: self, as: UTF8.self)) }

  /// Whether an index is in the path of a URL: after `://`, or after a slash at the beginning of a word, and not in its
  /// query. The search backwards is limited.
  func isInPath(_ place: Int) -> Bool {
    for index in (Swift.max(0, place - 1024)..<place).reversed() {
      switch self[index] {
      case UInt8(ascii: "?"), UInt8(ascii: "#"): return false
      case UInt8(ascii: "/"):
        if index == 0 || self[index - 1].endsWord || self[..<index].suffix(2).elementsEqual(":/".utf8) {
          return true
        }
      case let byte where byte.endsWord: return false
      default: break
      }
    }
    return false
  }
}

extension UInt8 {
  /// Whether the byte ends a word of a text, which may be a URL.
  fileprivate var endsWord: Bool { self <= 0x20 || "\"'<>\\".utf8.contains(self) }
  /// Whether the byte ends a name or value in a URL or form.
  fileprivate var endsItem: Bool { endsWord || "?&#;=".utf8.contains(self) }
}
