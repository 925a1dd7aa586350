extension Redactor {
  /// Member names of labels and values in objects such as `{"name": "token", "value": "…"}`, and in markup.
  static let labels: Set<String> = ["attribute", "field", "header", "key", "name", "param", "parameter", "property"]
  static let values: Set<String> = ["content", "data", "text", "val", "value", "values"]

  /// An open object or array.
  private struct Frame {
    /// A string or number, with the index of its part in the draft.
    struct Scalar {
      let part: Int
      let text: [UInt8]
      let isString: Bool
    }

    let isObject: Bool
    /// Whether every value in it is a secret.
    let isHidden: Bool
    /// The name of the member whose value follows.
    var name: String?
    /// The label of the object's value, and whether the label is a secret name.
    var label: Scalar?
    var labelsSecret = false
    /// Whether the label itself was hidden.
    var hasHiddenLabel = false
    /// A value that precedes its label.
    var value: Scalar?
  }

  /// Reads JSON values (RFC 8259), one after another.
  ///
  /// - Parameter isMembers: Whether to start among the members of an object.
  /// - Returns: The offset of the end, or of the first byte that is not JSON. The source may be truncated.
  mutating func readJSON(_ draft: inout Draft, from start: Int, isMembers: Bool = false) -> Int {
    var frames = isMembers ? [Frame(isObject: true, isHidden: false)] : []
    var index = start
    defer { while let frame = frames.popLast() { close(frame) } }
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
          close(frames.removeLast())
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
          index = min(colon + 1, draft.source.count)
          continue
        }
      }
      if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
        if let last = frames.indices.last, isValue(frames[last]) { spareLabel(of: &frames[last], in: &draft) }
        frames.append(Frame(isObject: byte == UInt8(ascii: "{"), isHidden: frames.last.map { isSecret($0) } ?? false))
        index += 1
        continue
      }
      guard let (scalar, end) = readScalar(&draft, at: index, isSecret: frames.last.map { isSecret($0) } ?? false)
      else {
        return index
      }
      index = end
      guard let last = frames.indices.last else { return index }
      if let scalar { note(scalar, in: &frames[last], &draft) }
      frames[last].name = nil
    }
  }

  private func isSecret(_ frame: Frame) -> Bool {
    guard !frame.isHidden, let name = frame.name else { return frame.isHidden }
    return redaction.hides(name) || frame.labelsSecret && isValue(frame)
  }

  private func isValue(_ frame: Frame) -> Bool { frame.name.map { Self.values.contains($0.lowercased()) } ?? false }

  /// Reads a string, a number or a literal; `nil` for anything else.
  private mutating func readScalar(
    _ draft: inout Draft, at start: Int, isSecret: Bool
  ) -> (scalar: Frame.Scalar?, end: Int)? {
    let (byte, part) = (draft.source[start], draft.count)
    if byte == UInt8(ascii: "\"") {
      guard let end = draft.endOfString(at: start) else { return nil }
      let text = Escapes.backslash.removed(from: draft.source[start + 1..<end])
      read(start + 1..<end, isSecret: isSecret, in: &draft, escapes: .backslash, isNoted: false)
      return (Frame.Scalar(part: part, text: text, isString: true), min(end + 1, draft.source.count))
    }
    let end = draft.find(from: start) { $0.isSpace || ",]}:\"{[".utf8.contains($0) }
    let word = Array(draft.source[start..<end])
    if (byte == UInt8(ascii: "-") || byte.isASCIIDigit)
      && word.allSatisfy({ $0.isASCIIDigit || "+-.eE".utf8.contains($0) })
    {
      // A number is replaced as a whole, by a string.
      if isSecret || finders.contains(where: { $0.isSecret(word) }) {
        places += 1
        draft.replace(start..<end, by: written(isString: false))
      } else {
        draft.keep(start..<end)
      }
      return (Frame.Scalar(part: part, text: word, isString: false), end)
    }
    let isCutOff = end == draft.source.count
    guard
      ["true", "false", "null"].contains(where: { isCutOff ? $0.utf8.starts(with: word) : $0.utf8.elementsEqual(word) })
    else { return nil }
    draft.keep(start..<end)
    return (nil, end)
  }

  /// The replacement as the content of a string, or as a quoted string in place of a number.
  func written(isString: Bool) -> [UInt8] {
    let text = Escapes.backslash.added(to: mark)
    return isString ? text : [UInt8(ascii: "\"")] + text + [UInt8(ascii: "\"")]
  }

  /// Notes a secret, or one half of a label and value pair.
  private mutating func note(_ scalar: Frame.Scalar, in frame: inout Frame, _ draft: inout Draft) {
    let isHidden = isSecret(frame)
    guard !frame.isHidden, let name = frame.name?.lowercased(), Self.labels.contains(name) || isValue(frame) else {
      if isHidden { noteSecret(scalar.text) }
      return
    }
    if isValue(frame) {
      if isHidden { noteSecret(scalar.text) }
      frame.value = scalar
    } else {
      frame.label = scalar
      frame.labelsSecret = namesSecret(scalar.text)
      frame.hasHiddenLabel = isHidden
    }
    guard let value = frame.value else { return }
    spareLabel(of: &frame, in: &draft)
    if frame.labelsSecret, frame.label?.part == scalar.part, !value.text.isEmpty, value.text != mark {
      noteSecret(value.text)
      places += 1
      draft.change(value.part, to: written(isString: value.isString))
    }
  }

  /// Shows the label of a value again, even if it sounds secret or equals a known secret. A label that looks like a
  /// credential stays hidden: a `key` may be a secret itself.
  private mutating func spareLabel(of frame: inout Frame, in draft: inout Draft) {
    guard let label = frame.label, frame.labelsSecret || frame.hasHiddenLabel && !label.text.looksLikeCredential else {
      return
    }
    draft.change(label.part, to: nil)
    if frame.hasHiddenLabel, !label.text.isEmpty, label.text != mark { places -= 1 }
    frame.hasHiddenLabel = false
  }

  private mutating func close(_ frame: Frame) {
    if frame.hasHiddenLabel, let label = frame.label { noteSecret(label.text) }
  }

  mutating func noteSecret(_ text: [UInt8]) {
    if !text.isEmpty, text != mark { found.insert(text) }
  }
}
