/// The declared media type of a body.
private struct DeclaredType {
  let essence: String

  init(_ type: String) {
    essence = type.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
  }

  /// Whether the type is generic: clients and servers use these for unknown content.
  var isAnything: Bool { ["", "text/plain", "application/octet-stream"].contains(essence) }
  var isJSON: Bool { essence.hasSuffix("json") || essence.hasSuffix("json-seq") }
  var isParts: Bool { essence.hasPrefix("multipart/") }
  var isForm: Bool { essence == "application/x-www-form-urlencoded" }
  var isHTML: Bool { essence == "text/html" || essence.hasPrefix("application/xhtml") }
  var isMarkup: Bool { isHTML || essence.hasSuffix("xml") }
  var isText: Bool { isMarkup || isForm || essence.hasPrefix("text/") }
  var isEvents: Bool { essence == "text/event-stream" }
  /// The name of a format that is not read.
  var unread: String? {
    let formats = [
      ("a script", ["javascript", "ecmascript", "typescript"]), ("a GraphQL text", ["graphql"]),
      ("a table", ["csv", "tab-separated", "ms-excel"]), ("YAML", ["yaml"]), ("a property list", ["plist"]),
      ("a binary format", ["proto", "grpc", "msgpack", "cbor", "bson", "avro", "thrift"]),
    ]
    return isJSON ? nil : formats.first { $0.1.contains { essence.contains($0) } }?.0
  }
  var isStyle: Bool { essence == "text/css" }
  var isMedium: Bool { ["image/", "audio/", "video/", "font/"].contains { essence.hasPrefix($0) } }
}

/// The format used to read a body.
private enum BodyKind {
  case parts, json, form, events, lines
  case markup(isHTML: Bool)
  /// Not read; `nil` is a format without secrets.
  case unread(String?)
}

extension Redactor {
  /// Reads a body by its type, or if that is generic, by its first bytes.
  mutating func readBody(_ draft: inout Draft, type: String, codings: String = "") {
    if readCoded(&draft, type: type, codings: codings) || readWide(&draft, type: type) { return }
    let declared = DeclaredType(type)
    switch kind(of: draft.source, declared, type) {
    case .parts:
      if readParts(&draft, type: type) { return }
      readUnread(&draft, "parts without the boundary that the type names")
    case .json: readLinesOfJSON(&draft, isDeclared: declared.isJSON)
    case .form: readForm(&draft)
    case .markup(let isHTML): readMarkup(&draft, isHTML: isHTML)
    case .events: readEvents(&draft)
    case .lines: readText(&draft, isLines: true)
    case .unread(let format): readUnread(&draft, format)
    }
  }

  private func kind(of source: [UInt8], _ declared: DeclaredType, _ type: String) -> BodyKind {
    if declared.isMedium || declared.isStyle { return .unread(nil) }
    if declared.isParts { return .parts }
    if let unread = declared.unread { return .unread(unread) }
    if declared.isJSON { return .json }
    let isAnything = declared.isAnything
    if isAnything, source.starts(with: "--".utf8), !source.starts(with: "-----BEGIN ".utf8), !source.contains(0) {
      return .parts
    }
    guard isText(source, isDeclared: declared.isText || type.contains("charset=")) else { return .unread("no text") }
    // Many clients and servers declare JSON as another type.
    let first = source[Self.startOfText(source)...].first { !$0.isSpace } ?? 0
    if "{[".utf8.contains(first), isAnything || (try? JSONValue(reading: source)) != nil { return .json }
    if declared.isForm || isAnything && looksLikeForm(source) { return .form }
    if declared.isMarkup && source.contains(UInt8(ascii: "<")) || isAnything && looksLikeMarkup(source) {
      let beginning = String(decoding: source.prefix(200), as: UTF8.self).lowercased()
      return .markup(
        isHTML: declared.isHTML || beginning.contains("<!doctype html") || beginning.contains("<html"))
    }
    return declared.isEvents ? .events : .lines
  }

  /// The offset after an optional byte order mark.
  private static func startOfText(_ source: [UInt8]) -> Int { source.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0 }

  /// Whether bytes are text, in an encoding that extends ASCII.
  private func isText(_ source: [UInt8], isDeclared: Bool) -> Bool {
    // A truncated text may end within a character.
    isDeclared && !source.contains(0)
      || source.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0.isSpace || $0 == 0x1B }
        && (0...3).contains { String(bytes: source.dropLast($0), encoding: .utf8) != nil }
  }

  /// Notes a body, or a value in it, that is not read, and replaces it if the option says so: only shapes and known
  /// secrets are found in it.
  ///
  /// - Parameter format: The format; `nil` for a format without secrets.
  mutating func readUnread(_ draft: inout Draft, _ format: String?, isJSON: Bool = false) {
    if let format { unread.append(format + (redaction.unread == .keep ? ", kept" : ", removed")) }
    guard format != nil, redaction.unread != .keep else {
      for index in draft.source.indices where index == 0 || !draft.source[index - 1].isOfWord {
        if let last = draft.end, index < last { continue }
        _ = readShape(&draft, at: index)
      }
      return
    }
    draft = Draft(draft.source)
    take("(unread)")
    let quote = Array((isJSON ? "\"" : "").utf8)
    draft.replace(draft.source.indices, by: isJSON ? quote + Escapes.backslash.added(to: mark) + quote : mark)
  }

  // MARK: Codings and encodings

  /// Decompresses, reads, and compresses again.
  ///
  /// - Returns: `false` for an uncompressed body: clients decompress, but keep `Content-Encoding` in the head.
  private mutating func readCoded(_ draft: inout Draft, type: String, codings: String) -> Bool {
    let coding = codings.lowercased().split(separator: ",").last?.trimmingCharacters(in: .whitespaces) ?? ""
    let isGzip = draft.source.starts(with: [0x1F, 0x8B])
    let isText = String(bytes: draft.source, encoding: .utf8) != nil && !draft.source.contains(0)
    guard isGzip || !isText && !["", "identity"].contains(coding) else { return false }
    for format in isGzip ? [Deflate.Format.gzip] : coding == "deflate" ? [.zlib, .raw] : [] {
      guard let plain = Deflate.inflated(Data(draft.source), as: format, limit: 64 << 20) else { continue }
      let rest = codings.split(separator: ",").dropLast().joined(separator: ",")
      readDecoded(&draft, Array(plain), type: type, codings: rest) {
        Deflate.compressed(Data($0), as: format).map { Array($0) }
      }
      return true
    }
    readUnread(&draft, "the coding \(coding.isEmpty ? "gzip" : coding)")
    return true
  }

  private mutating func readDecoded(
    _ draft: inout Draft, _ plain: [UInt8], type: String, codings: String, coded: ([UInt8]) -> [UInt8]?
  ) {
    if let bytes = changed(plain, by: { $0.readBody(&$1, type: type, codings: codings) }).flatMap(coded) {
      draft.replace(draft.source.indices, by: bytes)
    } else {
      draft.keep(draft.source.indices)
    }
  }

  /// Reads UTF-16 or UTF-32, and encodes it again.
  private mutating func readWide(_ draft: inout Draft, type: String) -> Bool {
    let zeros = draft.source.prefix(4).map { $0 == 0 }
    let encodings: [([UInt8], [Bool], String.Encoding)] = [
      ([0xFF, 0xFE, 0, 0], [false, true, true, true], .utf32LittleEndian),
      ([0, 0, 0xFE, 0xFF], [true, true, true, false], .utf32BigEndian),
      ([0xFF, 0xFE], [false, true, false, true], .utf16LittleEndian),
      ([0xFE, 0xFF], [true, false, true, false], .utf16BigEndian),
    ]
    for (mark, pattern, encoding) in encodings {
      // Detect the encoding by a byte order mark, or like RFC 4627 by the zeros in two ASCII characters.
      let isMarked = draft.source.starts(with: mark)
      guard isMarked || zeros == pattern else { continue }
      let bytes = Data(draft.source.dropFirst(isMarked ? mark.count : 0))
      // Binary data may look similar, but does not survive a round trip.
      guard let text = String(data: bytes, encoding: encoding), text.data(using: encoding) == bytes else { continue }
      readDecoded(&draft, Array(text.utf8), type: type, codings: "") {
        String(decoding: $0, as: UTF8.self).data(using: encoding).map { (isMarked ? mark : []) + $0 }
      }
      return true
    }
    return false
  }

  // MARK: Kinds

  private mutating func readLinesOfJSON(_ draft: inout Draft, isDeclared: Bool) {
    var index = Self.startOfText(draft.source)
    while true {
      // RFC 7464 begins each text with a record separator (0x1E).
      index = draft.source[index...].firstIndex { !$0.isSpace && $0 != 0x1E } ?? draft.source.count
      guard index < draft.source.count else { return }
      let end = readJSON(&draft, from: index)
      guard end > index, end == draft.source.count || !",:]}".utf8.contains(draft.source[end]) else {
        guard isDeclared else { return readText(&draft, from: end, isLines: true) }
        return readUnread(&draft, "no JSON", isJSON: true)
      }
      index = end
    }
  }

  func looksLikeForm(_ source: [UInt8]) -> Bool {
    let items = source.split(separator: UInt8(ascii: "&"))
    return items.allSatisfy { item in
      let name = item.prefix { $0.isOfWord || "-.[]%+*~:$".utf8.contains($0) }
      let rest = item.dropFirst(name.count)
      // A lone `x=` is more likely the end of Base64, like `x==`.
      guard !name.isEmpty, rest.first == UInt8(ascii: "="), items.count > 1 || rest.count > 1 else { return false }
      return rest.dropFirst().first != UInt8(ascii: "=")
    } && !source.contains { $0 <= 0x20 || "<>\"{}".utf8.contains($0) }
  }

  private mutating func readForm(_ draft: inout Draft) {
    for item in draft.source.split(separator: UInt8(ascii: "&")) {
      guard let equals = item.firstIndex(of: UInt8(ascii: "=")) else { continue }
      draft.keep(item.startIndex..<equals)
      let (name, value) = (Escapes.form.removed(from: item[..<equals]), equals + 1..<item.endIndex)
      let row = row(name)?.hiding(Escapes.form.removed(from: item[value]))
      at(name) { redactor in
        if let row {
          redactor.hide(value, in: &draft, escapes: .form, row.name)
        } else {
          redactor.read(value, in: &draft, escapes: .form)
        }
      }
    }
  }

  /// Reads events as one text, without the names of their lines of data (WHATWG HTML, section 9.2).
  private mutating func readEvents(_ draft: inout Draft) {
    let source = draft.source
    var (plain, places) = ([UInt8](), [Int]())
    for line in source.split(omittingEmptySubsequences: false, whereSeparator: \.isLineEnd) {
      let start = line.startIndex + (line.starts(with: "data:".utf8) ? 5 : 0)
      places += start..<min(line.endIndex + 1, source.count)
      plain += source[start..<min(line.endIndex + 1, source.count)]
    }
    if let changed = changed(source, placed: (plain, places + [source.count]), by: { $0.readText(&$1, isLines: true) })
    {
      draft.replace(source.indices, by: changed)
    } else {
      draft.keep(source.indices)
    }
  }

  // MARK: Parts (RFC 2046, section 5.1, and RFC 7578)

  /// The delimiter between parts: from the media type, or the first line of the body.
  private func boundary(of source: [UInt8], type: String) -> [UInt8]? {
    if let boundary = Array(type.utf8)[...].parameter("boundary") { return Array("--".utf8) + boundary.value }
    let line = source.prefix { $0 > 0x20 }
    return line.starts(with: "--".utf8) && line.count > 2 ? Array(line) : nil
  }

  private mutating func readParts(_ draft: inout Draft, type: String) -> Bool {
    guard let boundary = boundary(of: draft.source, type: type) else { return false }
    let source = draft.source
    let later = [0x0A] + boundary
    guard var mark = source.starts(with: boundary) ? 0..<boundary.count : source.firstRange(of: later, from: 0) else {
      return false
    }
    while mark.upperBound < source.count, !source[mark.upperBound...].starts(with: "--".utf8) {
      let start = (source[mark.upperBound...].firstIndex(of: 0x0A) ?? source.count - 1) + 1
      let next = source.firstRange(of: later, from: max(start - 1, mark.upperBound))
      var end = next?.lowerBound ?? source.count
      if next != nil, end > start, source[end - 1] == 0x0D { end -= 1 }
      if start < end { readPart(&draft, start..<end) }
      guard let next else { return true }
      mark = next
    }
    return true
  }

  private mutating func readPart(_ draft: inout Draft, _ part: Range<Int>) {
    let source = draft.source
    func endOfLine(_ line: Int) -> Int { source[line..<part.upperBound].firstIndex(of: 0x0A) ?? part.upperBound }
    func isEmpty(_ line: Range<Int>) -> Bool { source[line].allSatisfy(\.isSpace) }
    // An empty line ends the head of a part.
    var (line, name, type, codings) = (part.lowerBound, "", "", "")
    while line < part.upperBound {
      var end = endOfLine(line)
      let isLast = isEmpty(line..<end)
      // A line that begins with a space continues the previous field.
      while !isLast, end + 1 < part.upperBound, " \t".utf8.contains(source[end + 1]),
        !isEmpty(end + 1..<endOfLine(end + 1))
      {
        end = endOfLine(end + 1)
      }
      let field = line..<end
      line = min(end + 1, part.upperBound)
      if isLast { break }
      guard let colon = source[field].firstIndex(of: UInt8(ascii: ":")), colon > field.lowerBound,
        source[field.lowerBound..<colon].allSatisfy({ $0.isOfWord || "-.".utf8.contains($0) }),
        let start = source[colon + 1..<end].firstIndex(where: { !$0.isSpace }),
        let last = source[start..<end].lastIndex(where: { !$0.isSpace })
      else {
        read(field, in: &draft)
        continue
      }
      draft.keep(field.lowerBound..<start)
      let said = HAR.Field(
        String(decoding: source[field.lowerBound..<colon], as: UTF8.self),
        String(decoding: source[start...last].map { $0.isSpace ? 0x20 : $0 }, as: UTF8.self))
      switch said.name.lowercased() {
      case "content-type": type = said.value
      case "content-encoding": codings = said.value
      case "content-disposition" where !redaction.hides(said.name):
        guard let parameter = source[start...last].parameter("name") else { break }
        name = String(decoding: parameter.value, as: UTF8.self)
        // Keep names, even if they sound secret.
        read(start..<parameter.range.lowerBound, in: &draft)
        draft.keep(parameter.range)
        read(parameter.range.upperBound..<last + 1, in: &draft)
        continue
      default: break
      }
      let value = redacted(said, isHeader: true).value
      if value == said.value {
        draft.keep(start..<last + 1)
      } else {
        draft.replace(start..<last + 1, by: Array(value.utf8))
      }
    }
    guard line < part.upperBound else { return }
    let content = line..<part.upperBound
    let row = row(name.utf8)?.hiding(Array(source[content]))
    at(name.utf8) { redactor in
      if let row {
        redactor.hide(content, in: &draft, row.name)
      } else {
        redactor.read(content, in: &draft) { $0.readBody(&$1, type: type, codings: codings) }
      }
    }
  }
}

extension ArraySlice<UInt8> {
  /// A parameter of a header field (RFC 9110, section 5.6.6), or `name*` (RFC 8187). A quoted value may contain
  /// delimiters.
  package func parameter(_ name: String) -> (range: Range<Int>, value: [UInt8])? {
    func skipSpace(_ index: Int) -> Int { self[index...].firstIndex { !$0.isSpace } ?? endIndex }
    var index = startIndex
    while index < endIndex {
      let start = skipSpace(index)
      index = self[start...].firstIndex { "=;".utf8.contains($0) } ?? endIndex
      guard index < endIndex, self[index] == UInt8(ascii: "=") else {
        index = Swift.min(index + 1, endIndex)
        continue
      }
      let found = String(decoding: self[start..<index].prefix { !$0.isSpace && $0 != UInt8(ascii: "*") }, as: UTF8.self)
      index = skipSpace(index + 1)
      var value: [UInt8] = []
      if index < endIndex, self[index] == UInt8(ascii: "\"") {
        index += 1
        while index < endIndex, self[index] != UInt8(ascii: "\"") {
          if self[index] == UInt8(ascii: "\\"), index + 1 < endIndex { index += 1 }
          value.append(self[index])
          index += 1
        }
        index = Swift.min(index + 1, endIndex)
      } else {
        value = Array(self[index...].prefix { $0 != UInt8(ascii: ";") && !$0.isSpace })
        index += value.count
      }
      if found.lowercased() == name { return (start..<index, value) }
      index = self[index...].firstIndex(of: UInt8(ascii: ";")).map { $0 + 1 } ?? endIndex
    }
    return nil
  }
}
