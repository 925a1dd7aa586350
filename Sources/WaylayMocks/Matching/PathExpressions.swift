/// The regular expressions in a path pattern, as in `/users/:id(\d+)`: what stands in their brackets is no slash and no
/// question mark.
enum PathExpressions {
  /// The first place of a character outside of expressions.
  static func first(_ character: Character, in text: Substring) -> Substring.Index? {
    var index = text.startIndex
    while index < text.endIndex {
      if text[index] == character { return index }
      index = next(index, in: text)
    }
    return nil
  }

  /// The parts between slashes.
  static func split(_ text: Substring) -> [Substring] {
    var parts: [Substring] = []
    var rest = text
    while let slash = first("/", in: rest) {
      parts.append(rest[..<slash])
      rest = rest[rest.index(after: slash)...]
    }
    return parts + [rest]
  }

  /// The place of the bracket that closes the one `text` begins with; `nil` when none does.
  static func end(of text: Substring) -> Substring.Index? {
    var depth = 0
    var isEscaped = false
    for index in text.indices {
      let character = text[index]
      if isEscaped {
        isEscaped = false
      } else if character == "\\" {
        isEscaped = true
      } else if character == "(" {
        depth += 1
      } else if character == ")" {
        depth -= 1
        if depth == 0 { return index }
      }
    }
    return nil
  }

  /// The place after this one, and after the expression that begins here.
  private static func next(_ index: Substring.Index, in text: Substring) -> Substring.Index {
    let after = text.index(after: index)
    guard text[index] == ":", let first = text[after...].first, first.isLetter || first == "_" else { return after }
    let name = text[after...].prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    guard text[name.endIndex...].first == "(", let close = end(of: text[name.endIndex...]) else { return after }
    return text.index(after: close)
  }
}
