extension Redactor {
  /// Whether a text begins with a tag, a declaration or a comment that is closed.
  func looksLikeMarkup(_ source: [UInt8]) -> Bool {
    guard source.first(where: { !$0.isSpace }) == UInt8(ascii: "<") else { return false }
    let text = String(decoding: source, as: UTF8.self)
    if text.prefixMatch(of: /\s*<[!?]/) != nil { return true }
    return text.prefixMatch(of: /\s*<[\w.:\-]+[\s>\/]/) != nil && (text.contains("</") || text.contains("/>"))
  }

  private static func isOfName(_ byte: UInt8) -> Bool { byte.isOfWord || byte >= 0x80 || "-.:".utf8.contains(byte) }

  /// An open element.
  private struct Element {
    let name: String
    /// The row of its name, and that of a name around it.
    let row: Row?
    let inside: Row?
  }

  /// Reads XML or HTML, even if tags do not match.
  mutating func readMarkup(_ draft: inout Draft, isHTML: Bool) {
    let source = draft.source
    var stack: [Element] = []
    var open: [String: Int] = [:]
    var index = 0
    func end(of mark: StaticString, from start: Int) -> Int {
      mark.withUTF8Buffer { source.firstRange(of: $0, from: start)?.upperBound ?? source.count }
    }
    while index < source.count {
      let rest = source[index...]
      if rest.starts(with: "<!--".utf8) {
        let stop = end(of: "-->", from: index + 4)
        read(index + 4..<max(index + 4, stop - 3), in: &draft)
        index = stop
      } else if rest.starts(with: "<![CDATA[".utf8) {
        let stop = end(of: "]]>", from: index + 9)
        readContent(&draft, index + 9..<max(index + 9, stop - 3), section: index..<stop, of: stack.last)
        index = stop
      } else if rest.starts(with: "<?".utf8) || rest.starts(with: "<!".utf8) {
        let stop = end(of: ">", from: index)
        read(index + 2..<stop, in: &draft)
        index = stop
      } else if rest.starts(with: "</".utf8) {
        let name = Self.local(rest.dropFirst(2).prefix { Self.isOfName($0) }).lowercased()
        let stop = end(of: ">", from: index)
        draft.keep(index..<stop)
        index = stop
        guard open[name, default: 0] > 0 else { continue }
        while let element = stack.popLast() {
          open[element.name, default: 0] -= 1
          if element.name == name { break }
        }
      } else if rest.first == UInt8(ascii: "<"), rest.count > 1, Self.isOfName(rest[index + 1]) {
        let name = Self.local(rest.dropFirst().prefix { Self.isOfName($0) })
        let tag = readTag(&draft, at: index, isHTML: isHTML)
        index = tag.end
        let isScript = isHTML && ["script", "style"].contains(name.lowercased())
        if isScript {
          // HTML names are case-insensitive.
          let close = Array("</\(name.lowercased())".utf8)
          let stop = source.firstRange(of: close, from: index, ignoresCase: true)?.lowerBound ?? source.count
          readScript(&draft, index..<stop, tag.type, isStyle: name.lowercased() == "style")
          index = stop
        } else if !tag.isEmpty {
          let around = stack.last
          stack.append(
            Element(name: name.lowercased(), row: row(name.utf8) ?? tag.label, inside: around?.row ?? around?.inside))
          open[name.lowercased(), default: 0] += 1
        }
      } else {
        let stop = draft.find(from: index + 1) { $0 == UInt8(ascii: "<") }
        readContent(&draft, index..<stop, section: nil, of: stack.last)
        index = stop
      }
    }
  }

  /// A local name as written: words in it may begin with capitals.
  private static func local(_ name: ArraySlice<UInt8>) -> String {
    String(decoding: name.split(separator: UInt8(ascii: ":")).last ?? [], as: UTF8.self)
  }

  /// Reads the text between tags.
  private mutating func readContent(
    _ draft: inout Draft, _ range: Range<Int>, section: Range<Int>?, of element: Element?
  ) {
    let escapes: Escapes = section == nil ? .entity : []
    let text = draft.source[range]
    guard let first = text.firstIndex(where: { !$0.isSpace }), let last = text.lastIndex(where: { !$0.isSpace }),
      let element
    else { return read(range, in: &draft, escapes: escapes) }
    let (content, plain) = (first..<last + 1, escapes.removed(from: text[first...last]))
    let row = element.row?.hiding(plain) ?? element.inside?.hiding(leaf: plain)
    // Replace a CDATA section as a whole by text.
    at(element.name.utf8) { redactor in
      if let row, plain.isNumber {
        if row.hidesNumbers { redactor.hideNumber(content, in: &draft, row.name) } else { draft.keep(content) }
      } else if let row {
        redactor.hide(content, within: section, in: &draft, escapes: escapes, row.name)
      } else {
        redactor.read(range, in: &draft, escapes: escapes)
      }
    }
  }

  /// Reads a script: data in JSON, and otherwise a format that is not read.
  private mutating func readScript(_ draft: inout Draft, _ range: Range<Int>, _ type: String, isStyle: Bool) {
    guard draft.source[range].contains(where: { !$0.isSpace }) else { return }
    if type.hasSuffix("json") { return read(range, in: &draft) }
    read(range, in: &draft) { $0.readUnread(&$1, isStyle ? nil : "a script") }
  }

  /// Reads a tag with its attributes.
  private mutating func readTag(
    _ draft: inout Draft, at start: Int, isHTML: Bool
  ) -> (end: Int, isEmpty: Bool, label: Row?, type: String) {
    let source = draft.source
    var index = draft.find(from: start + 1) { !Self.isOfName($0) }
    draft.keep(start..<index)
    var attributes: [(name: String, value: Range<Int>)] = []
    while index < source.count, source[index] != UInt8(ascii: ">") {
      guard Self.isOfName(source[index]) else {
        index += 1
        continue
      }
      let name = index
      index = draft.find(from: index) { !Self.isOfName($0) }
      draft.keep(name..<index)
      let equals = draft.skipSpace(from: index)
      guard equals < source.count, source[equals] == UInt8(ascii: "=") else { continue }
      // A prefix that is declared names no value.
      let isDeclaration = source[name..<index].starts(with: "xmlns".utf8)
      let local = isDeclaration ? "xmlns" : Self.local(source[name..<index])
      index = draft.skipSpace(from: equals + 1)
      guard index < source.count else { break }
      let quote = source[index], isQuoted = "\"'".utf8.contains(quote)
      let value = isQuoted ? index + 1 : index
      let end = draft.find(from: value) { isQuoted ? $0 == quote : $0.isSpace || $0 == UInt8(ascii: ">") }
      attributes.append((local, value..<end))
      index = min(isQuoted ? end + 1 : end, source.count)
    }
    let isEmpty = index > start && source[index - 1] == UInt8(ascii: "/")
    func text(_ names: String...) -> [UInt8]? {
      attributes.first { names.contains($0.name.lowercased()) }.map { Escapes.entity.removed(from: source[$0.value]) }
    }
    let type = String(decoding: text("type") ?? [], as: UTF8.self).lowercased()
    let label =
      row(label: text("name", "key", "field", "id") ?? []) ?? (type == "password" ? row("password".utf8) : nil)
    for (name, value) in attributes {
      let plain = Escapes.entity.removed(from: source[value])
      let isValue = ["content", "value"].contains(name.lowercased())
      at(name.utf8) { redactor in
        if let row = (redactor.row(name.utf8) ?? (isValue ? label : nil))?.hiding(plain) {
          redactor.hide(value, in: &draft, escapes: .entity, row.name)
        } else {
          redactor.read(value, in: &draft, escapes: .entity)
        }
      }
    }
    // In HTML, named elements contain other elements, except for a text area.
    let tag = Self.local(source[(start + 1)...].prefix { Self.isOfName($0) }).lowercased()
    return (min(index + 1, source.count), isEmpty, !isHTML || tag == "textarea" ? label : nil, type)
  }
}

extension [UInt8] {
  /// The first range of some bytes from an index on.
  ///
  /// - Parameter ignoresCase: Whether to ignore the case of ASCII letters; `bytes` are then lowercase.
  func firstRange(
    of bytes: some Collection<UInt8>, from start: Int, ignoresCase: Bool = false
  ) -> Range<Int>? {
    var place = Swift.min(start, count)
    while let next = self[place...].firstIndex(where: { $0 == bytes.first }) {
      let isHere = self[next...].starts(with: bytes) { $0 == $1 || ignoresCase && $0.isASCIILetter && $0 | 0x20 == $1 }
      if isHere { return next..<next + bytes.count }
      place = next + 1
    }
    return nil
  }
}
