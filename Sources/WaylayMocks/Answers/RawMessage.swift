import Foundation
import HTTPTypes

/// The head of a response as it is on the wire, or as `curl -i` prints it.
struct RawHead {
  var status: HTTPResponse.Status
  var fields = HTTPFields()
  /// The offset of the body.
  private(set) var end: Int

  /// Reads the last head of a message: `curl -i` prints those before it too, of interim answers, redirects, challenges
  /// and proxies.
  ///
  /// - Throws: A text that says in which line what is wrong.
  init(_ bytes: Data) throws(Failure) {
    var lines = Lines(bytes)
    var head = try RawHead(reading: &lines)
    while head.mayBeFollowed, lines.beginHead { head = try RawHead(reading: &lines) }
    self = head
  }

  /// What is wrong with a head.
  struct Failure: PlainlyDescribedError {
    let line: Int
    let reason: String
    var description: String { "line \(line): \(reason)" }
  }

  private init(reading lines: inout Lines) throws(Failure) {
    var first = lines.next() ?? ""
    while first.isEmpty, !lines.isAtEnd { first = lines.next() ?? "" }
    guard let status = Self.status(first[...]) else {
      throw Failure(
        line: lines.number, reason: "\"\(first.prefix(40))\" is not a status line such as \"HTTP/1.1 200 OK\".")
    }
    self.status = status
    end = 0
    // Lines that go on with a value are put behind it together: each costs itself alone.
    var folded: [Substring] = []
    func unfold(_ fields: inout HTTPFields) {
      guard let last = fields.indices.last, !folded.isEmpty else { return }
      fields[last].value = ([fields[last].value[...]] + folded).joined(separator: " ")
      folded = []
    }
    while let line = lines.next(), !line.isEmpty {
      if line.first == " " || line.first == "\t" {
        // RFC 9112, section 5.2: a folded line goes on with the value before it.
        guard !fields.isEmpty else {
          throw Failure(line: lines.number, reason: "a folded line has no header field before it.")
        }
        folded.append(line[...].trimmed)
        continue
      }
      unfold(&fields)
      guard let colon = line.firstIndex(of: ":"), let name = HTTPField.Name(String(line[..<colon])) else {
        throw Failure(
          line: lines.number, reason: "\"\(line.prefix(40))\" is not a header field such as \"Name: value\".")
      }
      let value = String(line[line.index(after: colon)...].trimmed)
      guard HTTPField.isValidValue(value) else {
        throw Failure(line: lines.number, reason: "the value of \(name) contains a control character.")
      }
      guard fields.count < MessageLimits.mostFields else {
        throw Failure(
          line: lines.number,
          reason: "the message exceeds the limit of \(MessageLimits.mostFields) header fields.")
      }
      fields.append(HTTPField(name: name, value: value))
    }
    unfold(&fields)
    end = lines.offset
  }

  /// `HTTP/2 204`, `HTTP/1.1 404 Not Found`.
  static func status(_ line: Substring) -> HTTPResponse.Status? {
    let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count >= 2, parts[0].hasPrefix("HTTP/"), parts[0].utf8.count <= 8, parts[1].utf8.count == 3,
      parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let code = Int(parts[1]), code >= 100
    else { return nil }
    return HTTPResponse.Status(code: code, reasonPhrase: parts.count > 2 ? String(parts[2].trimmed) : "")
  }

  /// Whether another head may come after this one: an interim answer, a redirect or a challenge that curl went on from,
  /// a proxy's answer to `CONNECT`, which has no content.
  private var mayBeFollowed: Bool {
    switch status.code {
    case 100..<200, 300..<400, 401, 407: true
    case 200..<300:
      fields[.contentType] == nil && (fields[.contentLength] ?? "0") == "0" && fields[.transferEncoding] == nil
    default: false
    }
  }
}

/// Lines that end with CRLF or LF alone.
private struct Lines {
  private let bytes: Data
  /// The number of the line read last, from 1.
  private(set) var number = 0
  /// Where the next line begins, from 0.
  private(set) var offset = 0

  init(_ bytes: Data) {
    self.bytes = bytes
  }

  var isAtEnd: Bool { offset >= bytes.count }

  /// Whether another head begins here.
  var beginHead: Bool {
    var copy = self
    return copy.next().flatMap { RawHead.status($0[...]) } != nil
  }

  mutating func next() -> String? {
    guard !isAtEnd else { return nil }
    let start = bytes.startIndex + offset
    let end = bytes[start...].firstIndex(of: 0x0A) ?? bytes.endIndex
    var line = bytes[start..<end]
    offset = min(bytes.count, end - bytes.startIndex + 1)
    number += 1
    if line.last == 0x0D { line = line.dropLast() }
    // Head fields are ASCII nearly always; what is not UTF-8 is Latin-1 (RFC 9110, section 5.5).
    return String(bytes: line, encoding: .utf8) ?? String(String.UnicodeScalarView(line.map { UnicodeScalar($0) }))
  }
}

/// The chunked coding (RFC 9112, section 7.1).
enum ChunkedCoding {
  /// The content, and the trailer fields; `nil` for bytes that are not in this coding from their first to their last.
  static func decoded(_ bytes: Data) -> Data? {
    var rest = bytes[...]
    var content = Data()
    while let line = takeLine(&rest) {
      let digits = String(decoding: line.prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)[...].trimmed
      guard digits.allSatisfy(\.isHexDigit), let size = Int(digits, radix: 16) else { return nil }
      if size == 0 {
        // Trailer fields, and an empty line, which a printed message may lack.
        while let line = takeLine(&rest), !line.isEmpty { guard line.contains(UInt8(ascii: ":")) else { return nil } }
        return rest.isEmpty ? content : nil
      }
      guard rest.count >= size else { return nil }
      content += rest.prefix(size)
      rest = rest.dropFirst(size)
      guard let end = takeLine(&rest), end.isEmpty else { return nil }
    }
    return nil
  }

  private static func takeLine(_ rest: inout Data.SubSequence) -> Data.SubSequence? {
    guard let end = rest.firstIndex(of: 0x0A) else {
      guard !rest.isEmpty else { return nil }
      defer { rest = rest[rest.endIndex...] }
      return rest
    }
    defer { rest = rest[(end + 1)...] }
    let line = rest[..<end]
    return line.last == 0x0D ? line.dropLast() : line
  }
}
