/// Takes a `Cache-Control` value apart, directive by directive (RFC 9111, section 5.2).
///
/// It never gives up: what is malformed is passed over up to the next comma, and what restricts is found behind it.
struct DirectiveParser {
  /// One directive: the name in lower case, and what stands behind `=`, without quotation marks.
  struct Directive {
    var name: String
    var argument: ArraySlice<UInt8>?
    /// The argument breaks off, or something follows it before the comma.
    var isMalformed = false

    /// The argument as seconds; `nil` when there is none, or it is not a number.
    var seconds: Int64? {
      guard !isMalformed, let argument else { return nil }
      return FieldBytes.deltaSeconds(argument)
    }

    /// The argument as a list of field names in lower case; `nil` when it is not a whole one.
    var fieldNames: [String]? {
      guard !isMalformed, let argument else { return nil }
      let names = argument.split(separator: FieldBytes.comma).map(FieldBytes.trimmed).filter { !$0.isEmpty }
      guard !names.isEmpty, names.allSatisfy({ $0.allSatisfy(FieldBytes.isToken) }) else { return nil }
      return names.map { String(decoding: $0.map(FieldBytes.lowercased), as: UTF8.self) }
    }
  }

  private let bytes: [UInt8]
  private var position = 0

  init(_ value: String) {
    bytes = Array(value.utf8)
  }

  mutating func next() -> Directive? {
    while position < bytes.count {
      let byte = bytes[position]
      if FieldBytes.isBlank(byte) || byte == FieldBytes.comma {
        position += 1
      } else if FieldBytes.isToken(byte) {
        return directive()
      } else {
        skipToComma()
      }
    }
    return nil
  }

  private mutating func directive() -> Directive {
    let start = position
    while position < bytes.count, FieldBytes.isToken(bytes[position]) { position += 1 }
    var directive = Directive(
      name: String(decoding: bytes[start..<position].lazy.map(FieldBytes.lowercased), as: UTF8.self))
    if position < bytes.count, bytes[position] == FieldBytes.equals {
      position += 1
      if position < bytes.count, bytes[position] == FieldBytes.quote, let quoted = quoted() {
        directive.argument = quoted[...]
      } else {
        let start = position
        while position < bytes.count, bytes[position] != FieldBytes.comma { position += 1 }
        directive.argument = FieldBytes.trimmed(bytes[start..<position])
        directive.isMalformed =
          directive.argument?.allSatisfy(FieldBytes.isToken) != true || directive.argument?.isEmpty == true
      }
    }
    let end = position
    skipToComma()
    if !bytes[end..<position].allSatisfy(FieldBytes.isBlank) { directive.isMalformed = true }
    return directive
  }

  /// A quoted string; `nil`, and nothing is consumed, when it has no end: then it is read as far as the comma.
  private mutating func quoted() -> [UInt8]? {
    var text: [UInt8] = []
    var index = position + 1
    while index < bytes.count {
      let byte = bytes[index]
      if byte == FieldBytes.quote {
        position = index + 1
        return text
      }
      if byte == FieldBytes.backslash, index + 1 < bytes.count { index += 1 }
      text.append(bytes[index])
      index += 1
    }
    return nil
  }

  private mutating func skipToComma() {
    while position < bytes.count, bytes[position] != FieldBytes.comma { position += 1 }
  }
}
