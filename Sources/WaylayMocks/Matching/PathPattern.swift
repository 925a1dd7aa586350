/// A pattern for paths, segment by segment.
struct PathPattern: Sendable {
  enum Segment: Sendable {
    case literal(String)
    /// One segment with any non-empty text.
    case any(name: String?)
    /// One segment that matches an expression.
    case expression(TextRegex, written: String)
    /// Any number of segments.
    case rest
  }

  let segments: [Segment]

  init(literally segments: [String]) {
    self.segments = segments.map { .literal($0) }
  }

  init(pattern: Substring, of text: String) throws(MockError) {
    var names: Set<String> = []
    var segments: [Segment] = []
    let body = pattern.first == "/" ? pattern.dropFirst() : pattern
    for part in PathExpressions.split(body) {
      let segment = try Segment(part, of: text)
      for name in segment.names where !names.insert(name).inserted {
        throw URLPattern.invalid(text, "the name \":\(name)\" occurs twice: give each value its own name.")
      }
      segments.append(segment)
    }
    self.segments = segments
  }

  func matches(_ path: [String], _ parameters: inout [String: String]) -> Bool {
    var (segment, index) = (0, 0)
    // Where the last `**` ends: the earlier ones have taken as little as possible, so only this one takes more.
    var rest: (segment: Int, index: Int, parameters: [String: String])?
    while index < path.count {
      if segment < segments.count, case .rest = segments[segment] {
        segment += 1
        rest = (segment, index, parameters)
      } else if segment < segments.count, segments[segment].matches(path[index], &parameters) {
        (segment, index) = (segment + 1, index + 1)
      } else if let last = rest {
        (segment, index, parameters) = (last.segment, last.index + 1, last.parameters)
        rest = (segment, index, parameters)
      } else {
        return false
      }
    }
    return segments[segment...].allSatisfy { if case .rest = $0 { true } else { false } }
  }
}

extension PathPattern.Segment {
  init(_ text: Substring, of pattern: String) throws(MockError) {
    if text.first == "{", text.last == "}" {
      let name = text.dropFirst().dropLast()
      throw URLPattern.invalid(pattern, "\"\(text)\" is no parameter: write \":\(name)\".")
    }
    if text == "**" {
      self = .rest
    } else if text == "*" {
      self = .any(name: nil)
    } else if text.first == ":", let end = Self.nameEnd(in: text) {
      let name = text[text.index(after: text.startIndex)..<end]
      let tail = text[end...]
      if tail.isEmpty {
        self = .any(name: String(name))
      } else if tail.first == "(", let close = PathExpressions.end(of: tail) {
        let inner = tail[tail.index(after: tail.startIndex)..<close]
        self = try .expression(
          Self.regex("(?<\(Self.groupName(name))>\(inner))" + Self.glob(tail[tail.index(after: close)...])),
          written: String(text))
      } else if tail.first == "(" {
        throw URLPattern.invalid(pattern, "the bracket after \":\(name)\" is not closed.")
      } else {
        self = try .expression(Self.regex("(?<\(Self.groupName(name))>.+?)" + Self.glob(tail)), written: String(text))
      }
    } else if text.contains("*") {
      self = try .expression(Self.regex(Self.glob(text)), written: String(text))
    } else {
      self = .literal(PercentCoding.decoded(text))
    }
  }

  /// The end of the name after a colon; `nil` without a name: the colon is then literal.
  private static func nameEnd(in text: Substring) -> Substring.Index? {
    let name = text.dropFirst()
    guard let first = name.first, first.isASCII, first.isLetter || first == "_" else { return nil }
    return name.firstIndex { !($0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_")) } ?? name.endIndex
  }

  /// Group names of a regular expression allow letters and digits only.
  private static func groupName(_ name: Substring) -> String {
    String(name).replacing("_", with: "U5F")
  }

  private static func glob(_ text: Substring) -> String {
    let parts = text.split(separator: "*", omittingEmptySubsequences: false)
      .map { NSRegularExpression.escapedPattern(for: PercentCoding.decoded($0)) }
    guard let last = parts.dropFirst().last else { return parts.joined() }
    // A part between stars is taken where it occurs first, and never elsewhere: the time stays linear.
    return parts[0] + parts.dropFirst().dropLast().map { "(?>.*?\($0))" }.joined() + ".*" + last
  }

  private static func regex(_ pattern: String) throws(MockError) -> TextRegex {
    let regex = TextRegex("(?s)" + pattern)
    if let problem = regex.problem { throw problem }
    return regex
  }

  var names: [String] {
    switch self {
    case .any(let name?): [name]
    case .expression(let regex, _): regex.names.map { $0.replacing("U5F", with: "_") }
    case .literal, .any, .rest: []
    }
  }

  func matches(_ text: String, _ parameters: inout [String: String]) -> Bool {
    switch self {
    case .literal(let literal): return literal == text
    case .any(let name):
      // A name and a star match non-empty text only.
      guard !text.isEmpty else { return false }
      if let name { parameters[name] = text }
      return true
    case .expression(let regex, _):
      var found: [String: String] = [:]
      guard regex.matches(text, whole: true, &found) else { return false }
      for (name, value) in found { parameters[name.replacing("U5F", with: "_")] = value }
      return true
    case .rest: return true
    }
  }
}

/// Regular expressions in a path pattern, as in `/users/:id(\d+)`. A slash or question mark inside the brackets does
/// not end the segment or the path.
enum PathExpressions {
  /// The index of a character outside of expressions.
  static func first(_ character: Character, in text: Substring) -> Substring.Index? {
    var index = text.startIndex
    while index < text.endIndex {
      if text[index] == character { return index }
      index = next(index, in: text)
    }
    return nil
  }

  /// The parts between slashes outside of expressions.
  static func split(_ text: Substring) -> [Substring] {
    var parts: [Substring] = []
    var rest = text
    while let slash = first("/", in: rest) {
      parts.append(rest[..<slash])
      rest = rest[rest.index(after: slash)...]
    }
    return parts + [rest]
  }

  /// The index of the bracket that closes the opening bracket of `text`; `nil` if it is unbalanced.
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

  /// The next index, skipping an expression that begins here.
  private static func next(_ index: Substring.Index, in text: Substring) -> Substring.Index {
    let after = text.index(after: index)
    guard text[index] == ":", let first = text[after...].first, first.isLetter || first == "_" else { return after }
    let name = text[after...].prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    guard text[name.endIndex...].first == "(", let close = end(of: text[name.endIndex...]) else { return after }
    return text.index(after: close)
  }
}
