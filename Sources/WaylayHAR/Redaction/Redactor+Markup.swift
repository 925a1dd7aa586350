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
    /// The suspicion of the text in it.
    let content: Suspicion
    /// The suspicion of the next child element by a preceding name, as in property lists.
    var next = Suspicion.none
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
        readContent(&draft, index + 9..<max(index + 9, stop - 3), section: index..<stop, &stack)
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
        let written = Self.local(rest.dropFirst().prefix { Self.isOfName($0) })
        let name = written.lowercased()
        let content = stack.last?.content.ofMembers(isElement: false) ?? .none
        let outer = max(stack.last?.next ?? .none, content > .shape && Self.isDescription(written) ? .shape : content)
        if !stack.isEmpty { stack[stack.count - 1].next = .none }
        let tag = readTag(&draft, at: index, written, outer, isHTML: isHTML)
        index = tag.end
        if isHTML, name == "script" || name == "style" {
          // HTML names are case-insensitive.
          let stop =
            source.firstRange(of: Array("</\(name)".utf8), from: index, ignoresCase: true)?.lowerBound ?? source.count
          read(index..<stop, in: &draft) { $0.readText(&$1, .code) }
          index = stop
        } else if !tag.isEmpty {
          stack.append(Element(name: name, content: tag.content))
          open[name, default: 0] += 1
        }
      } else {
        let stop = draft.find(from: index + 1) { $0 == UInt8(ascii: "<") }
        readContent(&draft, index..<stop, section: nil, &stack)
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
    _ draft: inout Draft, _ range: Range<Int>, section: Range<Int>?, _ stack: inout [Element]
  ) {
    let escapes: Escapes = section == nil ? .entity : []
    let text = draft.source[range]
    guard let first = text.firstIndex(where: { !$0.isSpace }), let last = text.lastIndex(where: { !$0.isSpace }),
      let element = stack.last
    else { return read(range, in: &draft, escapes: escapes) }
    if ["key", "name"].contains(element.name), stack.count > 1 {
      let next = suspicion(ofLabel: escapes.removed(from: text[first...last]))
      stack[stack.count - 2].next = next
      // The keys of a property list are names, not secrets.
      if next > .none, element.name == "key", stack[stack.count - 2].name == "dict" { return draft.keep(range) }
    }
    // Replace a CDATA section as a whole by text.
    at(element.name.utf8) { redactor in
      guard element.content.covers(escapes.removed(from: text[first...last])) else {
        return redactor.read(range, in: &draft, escapes: escapes)
      }
      let text = draft.source[first...last]
      if ["double", "i4", "int", "integer", "long", "real"].contains(element.name),
        text.allSatisfy({ $0.isASCIIDigit || $0 == UInt8(ascii: "-") })
      {
        return redactor.hideNumber(first..<last + 1, in: &draft, element.content)
      }
      redactor.hide(first..<last + 1, within: section, in: &draft, escapes: escapes, element.content)
    }
  }

  /// Reads a tag with its attributes.
  private mutating func readTag(
    _ draft: inout Draft, at start: Int, _ name: String, _ outer: Suspicion, isHTML: Bool
  ) -> (end: Int, isEmpty: Bool, content: Suspicion) {
    let source = draft.source
    var index = draft.find(from: start + 1) { !Self.isOfName($0) }
    draft.keep(start..<index)
    var attributes: [(name: String, suspicion: Suspicion, value: Range<Int>)] = []
    while index < source.count, source[index] != UInt8(ascii: ">") {
      guard Self.isOfName(source[index]) else {
        index += 1
        continue
      }
      let name = index
      index = draft.find(from: index) { !Self.isOfName($0) }
      draft.keep(name..<index)
      let local = Self.local(source[name..<index])
      let equals = draft.skipSpace(from: index)
      guard equals < source.count, source[equals] == UInt8(ascii: "=") else { continue }
      index = draft.skipSpace(from: equals + 1)
      guard index < source.count else { break }
      let quote = source[index], isQuoted = "\"'".utf8.contains(quote)
      let value = isQuoted ? index + 1 : index
      let end = draft.find(from: value) { isQuoted ? $0 == quote : $0.isSpace || $0 == UInt8(ascii: ">") }
      attributes.append((local.lowercased(), suspicion(local.utf8), value..<end))
      index = min(isQuoted ? end + 1 : end, source.count)
    }
    let (tag, isEmpty) = (name.lowercased(), index > start && source[index - 1] == UInt8(ascii: "/"))
    var label = Suspicion.none
    for (name, _, value) in attributes {
      let text = Escapes.entity.removed(from: source[value])
      let isLabel = Self.labels.contains(name) || isHTML && name == "id" && tag == "input"
      if isLabel { label = max(label, suspicion(ofLabel: text)) }
      if name == "type", text.elementsEqual("password".utf8) { label = .secret }
    }
    let content = max(outer, suspicion(name.utf8))
    for (name, own, value) in attributes {
      let isLabel = Self.labels.contains(name)
      if isLabel, label >= .list {
        draft.keep(value)
        continue
      }
      let around = Self.values.contains(name) ? max(label, content) : name == "id" ? content : .none
      let suspicion = max(around, isLabel ? .none : own)
      at(name.utf8) { $0.read(value, suspicion, in: &draft, escapes: .entity) }
    }
    // In HTML, named elements contain other elements, except for a text area.
    let holdsValue = !isHTML || tag == "textarea"
    return (min(index + 1, source.count), isEmpty, max(content, holdsValue ? label : .none))
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
