import Foundation

/// Finds values under the names of secrets in the bytes of a text, whatever kind of text it is, and replaces them.
///
/// It does not parse: a body that was cut off, lines of JSON, events of a stream, JSON within a text of JSON and URLs
/// within anything are redacted by the same rules, and what is not redacted keeps its bytes. Each step moves on, and
/// nothing is looked at more than some hundred times: bodies come from anybody.
struct SecretScanner {
  let redaction: Redaction
  var found: Set<String> = []
  var bytes: [UInt8] = []
  private var result: [UInt8] = []
  /// How far ``bytes`` are in ``result``.
  private var copied = 0

  private static let longestName = 128
  /// How many times what is scanned was coded.
  let depth: Int

  init(redaction: Redaction, depth: Int = 0) {
    self.redaction = redaction
    self.depth = depth
  }

  mutating func redacted(_ input: [UInt8], mediaType: String) -> [UInt8] {
    bytes = input
    let mediaType = mediaType.lowercased()
    if mediaType.hasPrefix("multipart/") {
      replaceParts()
      restart()
    }
    if mediaType.hasPrefix("application/x-www-form-urlencoded") { replacePair(at: 0) }
    var index = copied
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\""): replaceMember(at: index)
      case UInt8(ascii: "?"), UInt8(ascii: "&"), UInt8(ascii: "#"): replacePair(at: index + 1)
      case UInt8(ascii: "<"): replaceElement(at: index + 1)
      case UInt8(ascii: ":"): replaceUserInfo(after: index)
      case UInt8(ascii: "e"), UInt8(ascii: "W"): replaceCoded(at: index)
      default: break
      }
      index = max(index + 1, copied)
    }
    restart()
    return bytes
  }

  // MARK: Replacing

  /// What was made is what is scanned next.
  private mutating func restart() {
    result += bytes[copied...]
    bytes = result
    result = []
    copied = 0
  }

  mutating func replace(_ range: Range<Int>, by replacement: String, secret: String) {
    guard range.lowerBound >= copied else { return }
    if !secret.isEmpty { found.insert(secret) }
    result += bytes[copied..<range.lowerBound]
    result += Array(replacement.utf8)
    copied = range.upperBound
  }

  private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  private func skipSpace(from index: Int) -> Int {
    var index = index
    while index < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) { index += 1 }
    return index
  }

  // MARK: name=value

  private mutating func replacePair(at start: Int) {
    var index = start
    while index < bytes.count, index - start <= Self.longestName, bytes[index] != UInt8(ascii: "=") {
      guard !Self.endsPair(bytes[index]) else { return }
      index += 1
    }
    guard index < bytes.count, index > start, bytes[index] == UInt8(ascii: "="),
      redaction.hides(HAR.Field.plain(text(start..<index)[...]))
    else {
      return
    }
    let value = index + 1
    var end = value
    while end < bytes.count, !Self.endsPair(bytes[end]) { end += 1 }
    guard end > value else { return }
    replace(value..<end, by: redaction.replacement, secret: HAR.Field.plain(text(value..<end)[...]))
  }

  private static func endsPair(_ byte: UInt8) -> Bool { byte <= 0x20 || "&#\"'<>\\".utf8.contains(byte) }

  // MARK: scheme://user:password@host

  private mutating func replaceUserInfo(after colon: Int) {
    guard bytes[colon...].starts(with: Array("://".utf8)) else { return }
    let start = colon + 3
    var index = start
    while index < bytes.count, !Self.endsPair(bytes[index]), bytes[index] != UInt8(ascii: "/"),
      bytes[index] != UInt8(ascii: "?")
    {
      if bytes[index] == UInt8(ascii: "@") {
        let parts = text(start..<index).split(separator: ":", maxSplits: 1)
        for part in parts.dropFirst() { found.insert(String(part)) }
        return replace(start..<index, by: redaction.replacement, secret: "")
      }
      index += 1
    }
  }

  // MARK: "name": value, at any depth of quotes within quotes

  /// The backslashes before an index.
  private func backslashes(before index: Int) -> Int {
    var count = 0
    while index - count > 0, bytes[index - count - 1] == UInt8(ascii: "\\"), count < 64 { count += 1 }
    return count
  }

  /// Whether a quote is one of those that delimit texts where quotes have so many backslashes: 0 in JSON, 1 in JSON
  /// within a text of JSON.
  private func delimits(_ quote: Int, backslashes wanted: Int) -> Bool {
    let all = backslashes(before: quote)
    return all % ((wanted + 1) * 2) == wanted
  }

  private mutating func replaceMember(at quote: Int) {
    let level = backslashes(before: quote)
    // 0, 1, 3, 7, …: other numbers are a backslash at the end of a text.
    guard level & (level + 1) == 0 else { return }
    var end = quote + 1
    while end < bytes.count, end - quote <= Self.longestName,
      bytes[end] != UInt8(ascii: "\"") || !delimits(end, backslashes: level)
    { end += 1 }
    guard end < bytes.count, bytes[end] == UInt8(ascii: "\"") else { return }
    let colon = skipSpace(from: end + 1)
    guard colon < bytes.count, bytes[colon] == UInt8(ascii: ":") else { return }
    guard redaction.hides(Self.unescaped(text(quote + 1..<max(quote + 1, end - level)))) else { return }
    let value = skipSpace(from: colon + 1)
    guard value < bytes.count else { return }
    let mark = String(repeating: "\\", count: level) + "\""
    if bytes[value...].starts(with: Array(mark.utf8)) {
      let start = value + mark.utf8.count
      var close = start
      while close < bytes.count, bytes[close] != UInt8(ascii: "\"") || !delimits(close, backslashes: level) {
        close += 1
      }
      let stop = close < bytes.count ? max(start, close - level) : bytes.count
      replace(start..<stop, by: redaction.replacement, secret: Self.unescaped(text(start..<stop)))
    } else {
      let stop = endOfValue(from: value)
      replace(value..<stop, by: mark + redaction.replacement + mark, secret: "")
    }
  }

  /// The end of a number, a literal, an array or an object. What is within the latter goes with it.
  private mutating func endOfValue(from start: Int) -> Int {
    var (depth, index) = (0, start)
    var quote: Int?
    while index < bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: "\"") {
        if let opened = quote {
          if backslashes(before: index) <= backslashes(before: opened) {
            let text = Self.unescaped(text(opened + 1..<index))
            if text.utf8.count >= 6 { found.insert(text) }
            quote = nil
          }
        } else {
          quote = index
        }
      } else if quote == nil {
        if "{[".utf8.contains(byte) { depth += 1 }
        if "}]".utf8.contains(byte) {
          if depth == 0 { return index }
          depth -= 1
          if depth == 0 { return index + 1 }
        }
        if depth == 0, byte <= 0x20 || byte == UInt8(ascii: ",") { return index }
      }
      index += 1
    }
    return index
  }

  /// A text of JSON without its escapes, or as it is where they are wrong.
  private static func unescaped(_ text: String) -> String {
    guard text.contains("\\") else { return text }
    return (try? JSONDecoder().decode(String.self, from: Data("\"\(text)\"".utf8))) ?? text
  }

  // MARK: <name>value</name>

  private mutating func replaceElement(at start: Int) {
    var index = start
    func isInTag(_ index: Int) -> Bool {
      index < bytes.count && bytes[index] != UInt8(ascii: ">") && bytes[index] != UInt8(ascii: "<")
    }
    while isInTag(index), index - start <= Self.longestName, bytes[index] > 0x20 { index += 1 }
    let name = text(start..<index)
    while isInTag(index), index - start <= 1024 { index += 1 }
    guard index < bytes.count, bytes[index] == UInt8(ascii: ">"), !name.hasSuffix("/"), !name.hasPrefix("/") else {
      return
    }
    guard redaction.hides(String(name.split(separator: ":").last ?? "")) else { return }
    let value = index + 1
    var end = value
    while end < bytes.count, bytes[end] != UInt8(ascii: "<") { end += 1 }
    guard end > value else { return }
    replace(
      value..<end, by: redaction.replacement, secret: text(value..<end).trimmingCharacters(in: .whitespacesAndNewlines))
  }

  // MARK: Parts of a multipart body (RFC 7578)

  private mutating func replaceParts() {
    let data = Data(bytes)
    let head = Data("\r\n\r\n".utf8)
    let boundary = Data("\r\n--".utf8)
    var index = 0
    while let headEnd = data[index...].firstRange(of: head) {
      let part = String(decoding: data[index..<headEnd.lowerBound], as: UTF8.self)
      let valueEnd = data[headEnd.upperBound...].firstRange(of: boundary)?.lowerBound ?? data.count
      if let name = Self.partName(part), redaction.hides(name), valueEnd > headEnd.upperBound {
        let value = headEnd.upperBound..<valueEnd
        replace(value, by: redaction.replacement, secret: text(value))
      }
      index = max(valueEnd, headEnd.upperBound)
    }
  }

  /// The name of a part, of its head.
  private static func partName(_ head: String) -> String? {
    let line = head.split(whereSeparator: \.isNewline).last { $0.lowercased().hasPrefix("content-disposition:") }
    guard let line, let start = line.range(of: "name=", options: .caseInsensitive) else { return nil }
    var rest = line[start.upperBound...]
    // The name of a file comes after the name, or before it.
    if line[..<start.lowerBound].lowercased().hasSuffix("file") {
      guard let other = rest.range(of: "; name=", options: .caseInsensitive) else { return nil }
      rest = rest[other.upperBound...]
    }
    if rest.first == "\"" { return String(rest.dropFirst().prefix { $0 != "\"" }) }
    return String(rest.prefix { $0 != ";" && !$0.isWhitespace })
  }
}

extension SecretScanner {
  /// JSON in base64 (RFC 4648, sections 4 and 5), where it begins: `{"` is `ey`, and `[{`, `["` and so on begin with `W`.
  /// It is redacted as what it is, and coded again.
  mutating func replaceCoded(at start: Int) {
    guard depth < Self.mostCodings, start == 0 || !bytes[start - 1].isOfBase64 else { return }
    var end = start
    while end < bytes.count, bytes[end].isOfBase64 { end += 1 }
    // Of what was cut off, whole bytes.
    let count = (end - start) % 4 == 1 ? end - start - 1 : end - start
    guard count >= 12 else { return }
    let isForURLs = bytes[start..<end].contains { "-_".utf8.contains($0) }
    let digits = bytes[start..<start + count].map { byte in
      switch byte {
      case UInt8(ascii: "-"): UInt8(ascii: "+")
      case UInt8(ascii: "_"): UInt8(ascii: "/")
      default: byte
      }
    }
    let padded = digits + Array(repeating: UInt8(ascii: "="), count: (4 - count % 4) % 4)
    guard let plain = Data(base64Encoded: Data(padded)), plain.first.map({ "{[".utf8.contains($0) }) == true else {
      return
    }
    var inner = SecretScanner(redaction: redaction, depth: depth + 1)
    let redacted = inner.redacted(Array(plain), mediaType: "application/json")
    guard redacted != Array(plain) else { return }
    found.formUnion(inner.found)
    var coded = Data(redacted).base64EncodedString()
    if isForURLs { coded = coded.replacing("+", with: "-").replacing("/", with: "_") }
    var stop = end
    while stop < bytes.count, stop - end < 2, bytes[stop] == UInt8(ascii: "=") { stop += 1 }
    // As it was: where none was needed, decoders may ask for it all the same.
    if stop == end, isForURLs || count % 4 != 0 { coded.removeAll { $0 == "=" } }
    replace(start..<stop, by: coded, secret: "")
  }

  /// Base64 in base64 in base64 is somebody's game.
  private static let mostCodings = 2
}

extension UInt8 {
  /// Whether it is a digit of one of the alphabets of base64.
  fileprivate var isOfBase64: Bool {
    switch self {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "+/-_".utf8.contains(self)
    }
  }
}
