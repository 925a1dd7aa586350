extension Redactor {
  /// Member names of labels and values in objects such as `{"name": "token", "value": "…"}`, and in markup.
  static let labels = words("attribute field header k key name param parameter parameterkey path property variable")
  static let values = words("content data default parametervalue stringvalue text v val value values")

  /// Members that describe an object: within a secret, only random values of these are replaced.
  private static let descriptions = words(
    "alg currency description format kind label message object state status title type")

  private static func words(_ list: String) -> Set<String> { Set(list.split(separator: " ").map(String.init)) }

  /// An open object or array.
  private struct Frame {
    let isObject: Bool
    /// The suspicion by the names around it.
    let content: Suspicion
    /// Whether it may be a pair of a label and a value: an array in an array.
    var isPair = false
    /// The name of the member whose value follows, or the number of elements that have begun.
    var name: String?
    var count = 0
    /// The suspicion of the label of the object's value.
    var label = Suspicion.none
    /// A value that precedes its label.
    var value: Scalar?

    var hasLabel: Bool { name.map { Redactor.labels.contains($0.lowercased()) } ?? (isPair && count == 1) }
    var hasValue: Bool { name.map { Redactor.values.contains($0.lowercased()) } ?? (isPair && count == 2) }
  }

  /// A string or number, with the index of its part in the draft.
  private struct Scalar {
    let part: Int
    let text: [UInt8]
    let isString: Bool
    let isHidden: Bool
  }

  /// Reads JSON values (RFC 8259), one after another.
  ///
  /// - Parameter isMembers: Whether to start among the members of an object.
  /// - Returns: The offset of the end, or of the first byte that is not JSON. The source may be truncated.
  mutating func readJSON(_ draft: inout Draft, from start: Int, isMembers: Bool = false) -> Int {
    var frames = isMembers ? [Frame(isObject: true, content: .none)] : []
    var index = start
    let outside = place
    if isMembers { place.append("") }
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
          place[place.count - 1] = String(decoding: name.prefix(128), as: UTF8.self)
          index = min(colon + 1, draft.source.count)
          continue
        }
        place[place.count - 1] = String(frame.count)
        frames[frames.count - 1].count += 1
      }
      let suspicion = frames.last.map { self.suspicion(in: $0) } ?? Suspicion.none
      if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
        let (isObject, isElement) = (byte == UInt8(ascii: "{"), frames.last?.isObject == false)
        frames.append(
          Frame(
            isObject: isObject, content: isObject ? suspicion.ofMembers(isElement: isElement) : suspicion,
            isPair: !isObject && isElement))
        place.append("")
        index += 1
        continue
      }
      guard let (scalar, end) = readScalar(&draft, at: index, suspicion, in: frames.last) else { return index }
      index = end
      guard let last = frames.indices.last else { return index }
      if let scalar { note(scalar, in: &frames[last], &draft) }
      frames[last].name = nil
    }
  }

  /// The suspicion of the value that follows.
  private mutating func suspicion(in frame: Frame) -> Suspicion {
    let label = frame.hasValue ? frame.label : .none
    guard let name = frame.name else { return max(frame.content, label) }
    let isDescription = frame.content >= .modified && Self.descriptions.contains(name.lowercased())
    return max(isDescription ? .shape : frame.content, label, suspicion(name.utf8))
  }

  /// Reads a string, a number or a literal; `nil` for anything else.
  private mutating func readScalar(
    _ draft: inout Draft, at start: Int, _ suspicion: Suspicion, in frame: Frame?
  ) -> (scalar: Scalar?, end: Int)? {
    let (byte, part) = (draft.source[start], draft.count)
    if byte == UInt8(ascii: "\"") {
      guard let end = draft.endOfString(at: start) else { return nil }
      let text = Escapes.backslash.removed(from: draft.source[start + 1..<end])
      // A time within a secret object stays a time.
      // A language model and a text search name pieces of words so.
      let isPiece = frame?.name == "token" && text.count < 6 && !text.contains(where: \.isASCIIDigit)
      let isInSecret = frame.map { $0.content >= .modified } ?? false
      let isHidden = suspicion.covers(text) && !(isInSecret ? text.isTimestamp : isPiece)
      if !isHidden, frame?.hasLabel == true, self.suspicion(ofLabel: text) >= .list, !text.contains(0x2F) {
        draft.keep(start + 1..<end)
      } else {
        read(start + 1..<end, isHidden ? suspicion : .none, in: &draft, escapes: .backslash, isNoted: false)
      }
      let scalar = Scalar(part: part, text: text, isString: true, isHidden: isHidden)
      return (scalar, min(end + 1, draft.source.count))
    }
    let end = draft.find(from: start) { $0.isSpace || ",]}:\"{[".utf8.contains($0) }
    let word = Array(draft.source[start..<end])
    if (byte == UInt8(ascii: "-") || byte.isASCIIDigit)
      && word.allSatisfy({ $0.isASCIIDigit || "+-.eE".utf8.contains($0) })
    {
      let isHidden = suspicion >= .modified || suspicion == .secrets && frame?.isObject == false
      if word != zero, isHidden || finders.contains(where: { $0.isSecret(word) }) {
        take(word, suspicion)
        draft.replace(start..<end, by: zero)
      } else {
        draft.keep(start..<end)
      }
      return (Scalar(part: part, text: word, isString: false, isHidden: isHidden), end)
    }
    let isCutOff = end == draft.source.count
    guard
      ["true", "false", "null"].contains(where: { isCutOff ? $0.utf8.starts(with: word) : $0.utf8.elementsEqual(word) })
    else { return nil }
    draft.keep(start..<end)
    return (nil, end)
  }

  /// Notes a secret, or one half of a label and value pair.
  private mutating func note(_ scalar: Scalar, in frame: inout Frame, _ draft: inout Draft) {
    if scalar.isHidden { noteSecret(scalar.text) }
    if frame.hasValue { frame.value = scalar }
    guard frame.hasLabel, frame.content < .modified else { return }
    frame.label = suspicion(ofLabel: scalar.text)
    guard let value = frame.value, !value.isHidden, !value.text.isEmpty, value.text != mark,
      value.isString ? frame.label.covers(value.text) : frame.label >= .modified
    else { return }
    noteSecret(value.text)
    take(value.text, frame.label)
    draft.change(value.part, to: value.isString ? Escapes.backslash.added(to: mark) : zero)
  }

  mutating func noteSecret(_ text: [UInt8]) {
    if !text.isEmpty, text != mark { found.insert(text) }
  }
}
