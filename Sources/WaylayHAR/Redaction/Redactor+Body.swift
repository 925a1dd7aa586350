import Foundation

extension Redactor {
  /// Reads a body as what it is, by its type, or where that says nothing, by its beginning.
  mutating func readBody(_ draft: inout Draft, type: String, codings: String = "") {
    let source = draft.source
    if readCoded(&draft, type: type, codings: codings) || readWide(&draft, type: type) { return }
    let essence = type.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    let isAnything = ["", "text/plain", "application/octet-stream"].contains(essence)
    let isJSON = essence.hasSuffix("json") || essence.hasSuffix("json-seq")
    let isXML = essence.hasSuffix("xml"), isHTML = essence == "text/html" || essence.hasPrefix("application/xhtml")
    let isForm = essence == "application/x-www-form-urlencoded"
    let isText = isJSON || isXML || isHTML || isForm || essence.hasPrefix("text/") || essence.hasPrefix("multipart/")
    guard isText || !source.contains(0) else {
      let isMedium = ["image/", "audio/", "video/", "font/"].contains { essence.hasPrefix($0) }
      if !isMedium { giveUp(&draft, "no text") }
      return
    }
    let start = source.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    let first = source[start...].first { !$0.isSpace }
    if essence.hasPrefix("multipart/") || isAnything && source.starts(with: "--".utf8) {
      let isRead = boundary(of: source, type: type).map { readParts(&draft, boundary: $0) } ?? false
      if isRead { return }
      readText(&draft, .lines)
      if !isAnything { giveUp(&draft, "no parts with the boundary that it names") }
    } else if isJSON || isAnything && (first == UInt8(ascii: "{") || first == UInt8(ascii: "[")) {
      readLinesOfJSON(&draft, from: start, isDeclared: isJSON)
    } else if isForm || isAnything && looksLikeForm(source) {
      readForm(&draft)
    } else if (isXML || isHTML) && source.contains(UInt8(ascii: "<")) || isAnything && looksLikeMarkup(source) {
      let isPage = source.prefix(200).split(separator: UInt8(ascii: "<")).contains { tag in
        String(decoding: tag.prefix(14), as: UTF8.self).lowercased().hasPrefix("!doctype html")
          || tag.starts(with: "html".utf8)
      }
      readMarkup(&draft, isHTML: isHTML || isPage)
    } else {
      let isCode = essence.hasSuffix("javascript") || essence.hasSuffix("ecmascript") || essence == "text/css"
      readText(&draft, isCode ? .code : .lines)
    }
  }

  /// Notes that a body is not what it should be, and replaces it if that is wished.
  private mutating func giveUp(_ draft: inout Draft, _ reason: String, isJSON: Bool = false) {
    unread.append(reason)
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
    let (data, limit) = (Data(draft.source), 64 << 20)
    let coding = codings.lowercased().split(separator: ",").last?.trimmingCharacters(in: .whitespaces) ?? ""
    var formats: [Deflate.Format] = []
    if draft.source.starts(with: [0x1F, 0x8B]) {
      formats = [.gzip]
    } else if coding == "deflate" {
      formats = [.zlib, .raw]
    }
    for format in formats {
      guard let plain = Deflate.inflated(data, as: format, limit: limit) else { continue }
      let rest = codings.split(separator: ",").dropLast().joined(separator: ",")
      let changed = changed(Array(plain)) { $0.readBody(&$1, type: type, codings: rest) }
      if let changed, let coded = Deflate.compressed(Data(changed), as: format) {
        draft.replace(draft.source.indices, by: Array(coded))
      } else {
        draft.keep(draft.source.indices)
      }
      return true
    }
    let isText = String(validating: draft.source, as: UTF8.self) != nil && !draft.source.contains(0)
    guard formats == [.gzip] || !isText && !["", "identity"].contains(coding) else { return false }
    giveUp(&draft, "its coding \(coding.isEmpty ? "gzip" : coding) cannot be undone")
    return true
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
      if let changed = changed(Array(text.utf8), by: { $0.readBody(&$1, type: type) }),
        let wide = String(decoding: changed, as: UTF8.self).data(using: encoding)
      {
        draft.replace(draft.source.indices, by: (isMarked ? mark : []) + wide)
      } else {
        draft.keep(draft.source.indices)
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
        hide(value, in: &draft, secret: Escapes.form.removed(from: draft.source[value]), escapes: .percent)
      } else {
        read(value, in: &draft, escapes: .form)
      }
    }
  }

  // MARK: Parts (RFC 2046, section 5.1, and RFC 7578)

  /// What stands between parts: as the type says it, or as the body begins.
  private func boundary(of source: [UInt8], type: String) -> [UInt8]? {
    if let start = type.range(of: "boundary=", options: .caseInsensitive) {
      let rest = type[start.upperBound...]
      let text =
        rest.first == "\"" ? rest.dropFirst().prefix { $0 != "\"" } : rest.prefix { $0 != ";" && !$0.isWhitespace }
      return text.isEmpty ? nil : Array("--\(text)".utf8)
    }
    let line = source.prefix { $0 > 0x20 }
    return line.starts(with: "--".utf8) && line.count > 2 ? Array(line) : nil
  }

  private mutating func readParts(_ draft: inout Draft, boundary: [UInt8]) -> Bool {
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
