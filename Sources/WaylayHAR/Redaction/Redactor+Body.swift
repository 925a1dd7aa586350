import Foundation

extension Redactor {
  /// Reads a body as what it is, by its type, or where that says nothing, by its beginning.
  mutating func readBody(_ draft: inout Draft, type: String, codings: String = "") {
    let source = draft.source
    if readCoded(&draft, type: type, codings: codings) || readWide(&draft, type: type) { return }
    let essence = type.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    let isAnything = ["", "text/plain", "application/octet-stream"].contains(essence)
    let isJSON = essence.hasSuffix("json") || essence.hasSuffix("json-seq"), isParts = essence.hasPrefix("multipart/")
    let isHTML = essence == "text/html" || essence.hasPrefix("application/xhtml"), isXML = essence.hasSuffix("xml")
    let isForm = essence == "application/x-www-form-urlencoded"
    guard isJSON || isHTML || isXML || isForm || isParts || essence.hasPrefix("text/") || !source.contains(0) else {
      let isMedium = ["image/", "audio/", "video/", "font/"].contains { essence.hasPrefix($0) }
      return isMedium ? () : giveUp(&draft, "no text")
    }
    let start = source.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    let first = source[start...].first { !$0.isSpace } ?? 0
    if isParts || isAnything && source.starts(with: "--".utf8) {
      if readParts(&draft, type: type) { return }
      readText(&draft, .lines)
      if isParts { giveUp(&draft, "no parts with the boundary that it names") }
    } else if isJSON || "{[".utf8.contains(first) && (isAnything || (try? JSONValue(reading: source)) != nil) {
      // Many clients and servers name another type for it.
      readLinesOfJSON(&draft, from: start, isDeclared: isJSON)
    } else if isForm || isAnything && looksLikeForm(source) {
      readForm(&draft)
    } else if (isXML || isHTML) && source.contains(UInt8(ascii: "<")) || isAnything && looksLikeMarkup(source) {
      let beginning = String(decoding: source.prefix(200), as: UTF8.self).lowercased()
      readMarkup(&draft, isHTML: isHTML || beginning.contains("<!doctype html") || beginning.contains("<html"))
    } else {
      let isCode = ["javascript", "ecmascript", "/css"].contains { essence.hasSuffix($0) }
      readText(&draft, isCode ? .code : .lines)
    }
  }

  /// Notes that a body is not what it should be, and replaces it if that is wished.
  private mutating func giveUp(_ draft: inout Draft, _ reason: String, isJSON: Bool = false) {
    unread.append(reason + (redaction.replacesUnreadableBodies ? ", replaced as a whole" : ", kept as it is"))
    guard redaction.replacesUnreadableBodies else { return }
    places += 1
    draft = Draft(draft.source)
    let text = Escapes.backslash.added(to: mark)
    draft.replace(draft.source.indices, by: isJSON ? [UInt8(ascii: "\"")] + text + [UInt8(ascii: "\"")] : mark)
  }

  // MARK: Codings and encodings

  /// Reads what is compressed, and compresses it again.
  ///
  /// - Returns: `false` for what is not: clients undo codings, and leave their names in the head.
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
    giveUp(&draft, "its coding \(coding.isEmpty ? "gzip" : coding) cannot be undone")
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

  /// Reads what is in UTF-16 or UTF-32, and writes it so again.
  private mutating func readWide(_ draft: inout Draft, type: String) -> Bool {
    let zeros = draft.source.prefix(4).map { $0 == 0 }
    let encodings: [([UInt8], [Bool], String.Encoding)] = [
      ([0xFF, 0xFE, 0, 0], [false, true, true, true], .utf32LittleEndian),
      ([0, 0, 0xFE, 0xFF], [true, true, true, false], .utf32BigEndian),
      ([0xFF, 0xFE], [false, true, false, true], .utf16LittleEndian),
      ([0xFE, 0xFF], [true, false, true, false], .utf16BigEndian),
    ]
    for (mark, pattern, encoding) in encodings {
      // By its mark, or as RFC 4627 knew it, by where the zeros of two letters of ASCII are.
      let isMarked = draft.source.starts(with: mark)
      guard isMarked || zeros == pattern else { continue }
      let bytes = Data(draft.source.dropFirst(isMarked ? mark.count : 0))
      // Binary bytes may look alike: they do not come out as they were.
      guard let text = String(data: bytes, encoding: encoding), text.data(using: encoding) == bytes else { continue }
      readDecoded(&draft, Array(text.utf8), type: type, codings: "") {
        String(decoding: $0, as: UTF8.self).data(using: encoding).map { (isMarked ? mark : []) + $0 }
      }
      return true
    }
    return false
  }

  // MARK: Kinds

  private mutating func readLinesOfJSON(_ draft: inout Draft, from start: Int, isDeclared: Bool) {
    var index = start
    while true {
      // RFC 7464 begins each text with a byte of its own.
      index = draft.source[index...].firstIndex { !$0.isSpace && $0 != 0x1E } ?? draft.source.count
      guard index < draft.source.count else { return }
      let end = readJSON(&draft, from: index)
      guard end > index, end == draft.source.count || !",:]}".utf8.contains(draft.source[end]) else {
        readText(&draft, from: end, .lines)
        if isDeclared { giveUp(&draft, "no JSON", isJSON: true) }
        return
      }
      index = end
    }
  }

  private func looksLikeForm(_ source: [UInt8]) -> Bool {
    let items = source.split(separator: UInt8(ascii: "&"))
    return items.allSatisfy { item in
      let name = item.prefix { $0.isOfWord || "-.[]%+*~:$".utf8.contains($0) }
      let rest = item.dropFirst(name.count)
      // A lone `x=` is rather the end of Base64, as `x==` is.
      guard !name.isEmpty, rest.first == UInt8(ascii: "="), items.count > 1 || rest.count > 1 else { return false }
      return rest.dropFirst().first != UInt8(ascii: "=")
    } && !source.contains { $0 <= 0x20 || "<>\"{}".utf8.contains($0) }
  }

  private mutating func readForm(_ draft: inout Draft) {
    for item in draft.source.split(separator: UInt8(ascii: "&")) {
      guard let equals = item.firstIndex(of: UInt8(ascii: "=")) else { continue }
      draft.keep(item.startIndex..<equals)
      let value = equals + 1..<item.endIndex
      if hides(Escapes.form.removed(from: item[..<equals])) {
        hide(value, in: &draft, escapes: .form)
      } else {
        read(value, in: &draft, escapes: .form)
      }
    }
  }

  // MARK: Parts (RFC 2046, section 5.1, and RFC 7578)

  /// What stands between parts: as the type says it, or as the body begins.
  private func boundary(of source: [UInt8], type: String) -> [UInt8]? {
    guard let start = type.range(of: "boundary=", options: .caseInsensitive) else {
      let line = source.prefix { $0 > 0x20 }
      return line.starts(with: "--".utf8) && line.count > 2 ? Array(line) : nil
    }
    let rest = type[start.upperBound...]
    return Array("--".utf8)
      + (rest.first == "\"" ? rest.dropFirst().prefix { $0 != "\"" } : rest.prefix { $0 != ";" && !$0.isWhitespace })
      .utf8
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
    // Its head ends with an empty line.
    var (line, name, type, codings) = (part.lowerBound, "", "", "")
    while line < part.upperBound {
      let end = draft.source[line..<part.upperBound].firstIndex(of: 0x0A) ?? part.upperBound
      let text = String(decoding: draft.source[line..<end], as: UTF8.self).trimmingCharacters(in: .whitespaces)
      line = min(end + 1, part.upperBound)
      if text.isEmpty || text == "\r" { break }
      let field = text.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
      guard field.count == 2 else { continue }
      switch field[0].lowercased() {
      case "content-type": type = field[1]
      case "content-encoding": codings = field[1]
      case "content-disposition":
        let parameter = field[1].split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
          .first { $0.lowercased().hasPrefix("name=") }
        name = parameter?.dropFirst(5).trimmingCharacters(in: ["\""]) ?? ""
      default: break
      }
    }
    draft.keep(part.lowerBound..<line)
    guard line < part.upperBound else { return }
    if redaction.hides(name) {
      hide(line..<part.upperBound, in: &draft)
    } else {
      read(line..<part.upperBound, in: &draft) { $0.readBody(&$1, type: type, codings: codings) }
    }
  }
}
