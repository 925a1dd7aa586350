extension Redactor {
  /// The names of the members of a pair, such as `{"name": "token", "value": "…"}`.
  private static let labels: Set<String> = ["field", "id", "key", "name"]

  /// An open object or array.
  private struct Frame {
    let isObject: Bool
    /// The row of a name around it.
    var inside: Row?
    /// The name of the member whose value follows, and its row; an array has none.
    var name: String?
    var row: Row?
    /// The number of elements that have begun.
    var count = 0
    /// The row of the label of a pair, and the value of the pair if that came first.
    var label: Row?
    var value: Scalar?
  }

  /// A string or number, with the index of its part in the draft.
  private struct Scalar {
    let part: Int
    let text: [UInt8]
    let isString: Bool
  }

  /// Reads a JSON value (RFC 8259).
  ///
  /// - Returns: The offset of the end, or of the first byte that is not JSON. The source may be truncated.
  mutating func readJSON(_ draft: inout Draft, from start: Int) -> Int {
    var (frames, index, outside) = ([Frame](), start, place)
    defer { place = outside }
    while true {
      index = draft.skipSpace(from: index)
      guard index < draft.source.count else { return index }
      let byte = draft.source[index]
      if let frame = frames.last, frame.name == nil {
        if byte == UInt8(ascii: ",") {
          index += 1
          continue
        }
        if byte == (frame.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
          frames.removeLast()
          place.removeLast()
          index += 1
          guard let last = frames.indices.last else { return index }
          frames[last].name = nil
          continue
        }
        if frame.isObject {
          guard byte == UInt8(ascii: "\""), let end = draft.endOfString(at: index) else { return index }
          let colon = end < draft.source.count ? draft.skipSpace(from: end + 1) : end
          guard colon == draft.source.count || draft.source[colon] == UInt8(ascii: ":") else { return index }
          draft.keep(index..<colon)
          let name = Escapes.backslash.removed(from: draft.source[index + 1..<end])
          frames[frames.count - 1].name = String(decoding: name, as: UTF8.self)
          frames[frames.count - 1].row = row(name)
          place[place.count - 1] = String(decoding: name.prefix(128), as: UTF8.self)
          index = min(colon + 1, draft.source.count)
          continue
        }
        place[place.count - 1] = String(frame.count)
        frames[frames.count - 1].count += 1
      }
      let frame = frames.last
      let isValue = frame?.isObject == true && frame?.name?.lowercased() == "value"
      let row = frame?.row ?? (isValue ? frame?.label : nil)
      if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
        frames.append(Frame(isObject: byte == UInt8(ascii: "{"), inside: row ?? frame?.inside))
        place.append("")
        index += 1
        continue
      }
      guard let (scalar, end) = readScalar(&draft, at: index, row, inside: frame?.inside) else { return index }
      index = end
      guard let last = frames.indices.last else { return index }
      if let scalar { note(scalar, isValue: isValue, in: &frames[last], &draft) }
      frames[last].name = nil
    }
  }

  /// Reads a string, a number or a literal; `nil` for anything else.
  private mutating func readScalar(
    _ draft: inout Draft, at start: Int, _ row: Row?, inside: Row?
  ) -> (scalar: Scalar?, end: Int)? {
    let (byte, part) = (draft.source[start], draft.count)
    if byte == UInt8(ascii: "\"") {
      guard let end = draft.endOfString(at: start) else { return nil }
      let (range, text) = (start + 1..<end, Escapes.backslash.removed(from: draft.source[start + 1..<end]))
      if let row = row?.hiding(text) ?? inside?.hiding(leaf: text) {
        hide(range, in: &draft, escapes: .backslash, row.name)
      } else {
        read(range, in: &draft, escapes: .backslash)
      }
      return (Scalar(part: part, text: text, isString: true), min(end + 1, draft.source.count))
    }
    let end = draft.find(from: start) { $0.isSpace || ",]}:\"{[".utf8.contains($0) }
    let word = Array(draft.source[start..<end])
    if word.isNumber {
      if let row, row.hidesNumbers {
        hideNumber(start..<end, in: &draft, row.name)
      } else if finders.contains(where: { $0.isSecret(word) }) {
        hideNumber(start..<end, in: &draft, Self.echo)
      } else {
        draft.keep(start..<end)
      }
      return (Scalar(part: part, text: word, isString: false), end)
    }
    let isCutOff = end == draft.source.count
    guard
      ["true", "false", "null"].contains(where: { isCutOff ? $0.utf8.starts(with: word) : $0.utf8.elementsEqual(word) })
    else { return nil }
    draft.keep(start..<end)
    return (nil, end)
  }

  /// Notes one half of a pair; hides the value if the label follows it.
  private mutating func note(_ scalar: Scalar, isValue: Bool, in frame: inout Frame, _ draft: inout Draft) {
    if isValue { return frame.value = scalar }
    guard scalar.isString, let name = frame.name, Self.labels.contains(name.lowercased()),
      let row = row(label: scalar.text)
    else { return }
    frame.label = row
    guard let value = frame.value, value.isString ? row.hiding(value.text) != nil : row.hidesNumbers,
      value.text != mark, value.text != zero
    else { return }
    note(value.text)
    take(row.name)
    draft.change(value.part, to: value.isString ? Escapes.backslash.added(to: mark(of: value.text)) : zero)
  }
}
