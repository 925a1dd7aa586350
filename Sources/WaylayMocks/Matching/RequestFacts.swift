import WaylayHAR
import WaylayRecording

/// A request parsed for matching, once for all stubs.
///
/// Used only by the task that loads the request; expensive properties are lazy.
final class RequestFacts {
  let request: InterceptedRequest
  let url: ParsedURL
  let method: String
  let body: Data
  /// Records the response or error; `nil` if the request is not being loaded.
  let outcome: MockOutcome?
  /// The part of a form that the request wraps.
  private(set) var part: MultipartForm.Part?

  init(_ request: InterceptedRequest, body: Data, _ outcome: MockOutcome? = nil) {
    (self.request, self.outcome) = (request, outcome)
    self.body = body
    method = request.method.rawValue.uppercased()
    url = ParsedURL(request.url)
  }

  lazy var query = url.items
  lazy var text: String? = String(data: body, encoding: .utf8)
  lazy var json: JSONValue? = read(.json) { try? JSONValue(reading: body) }
  lazy var form = read(.form) { QueryItems(String(decoding: body, as: UTF8.self)) }
  lazy var multipart: [MultipartForm.Part]? = read(.parts) {
    MultipartForm.parts(of: body, type: field("Content-Type") ?? "")
  }
  /// How the body was parsed.
  private(set) var readings: Set<Reading> = []

  enum Reading {
    case json
    case form
    case parts
    case graphQL
  }

  /// The findings of decisions, by comparison: the place of the first difference in a long body, `nil` for none; and how
  /// parts are assigned.
  var firstDifferences: [ObjectIdentifier: [JSONPath.Step]?] = [:]
  var assignments: [ObjectIdentifier: Assignment] = [:]
  /// Each part of a multipart form, wrapped in a request.
  lazy var multipartFacts: [RequestFacts] = (multipart ?? []).map { part in
    var request = InterceptedRequest(.post, request.url, body: .data(part.body))
    request.fields[.contentType] = part.contentType
    let facts = RequestFacts(request, body: part.body)
    facts.part = part
    return facts
  }

  lazy var graphQL = read(.graphQL) { readGraphQL() }

  private func read<Value>(_ reading: Reading, _ read: () -> Value) -> Value {
    readings.insert(reading)
    Redaction.examined?.withLock { $0 += body.count }
    return read()
  }

  /// Whether the body is too long to show more than its beginning.
  var isLong: Bool { body.count > Self.longest }
  static let longest = 1 << 14

  private lazy var secrets = Redaction.secrets(of: HAR.Request(request, body: SeenBody(body)))

  /// Runs `make`, which shows parts of the request, with the secrets of the request known.
  func reporting<Value>(_ make: () -> Value) -> Value { Redaction.$known.withValue(secrets, operation: make) }

  func field(_ name: String) -> String? { request.headerValue(name) }

  /// Whether `Content-Type` names a form.
  var statesForm: Bool { field("Content-Type")?.lowercased().hasPrefix("application/x-www-form-urlencoded") ?? false }

  /// Whether the body may be a form: the loading system adds the form's media type to a body without one. A form has
  /// no line breaks.
  var mayBeForm: Bool { statesForm || field("Content-Type") == nil && !body.contains { $0 < 0x20 } }
}

extension InterceptedRequest {
  /// The value of a header field, whatever the case of its name.
  func headerValue(_ name: String) -> String? { HTTPField.Name(name).flatMap { fields[$0] } }
}

/// A URL parsed and normalized for matching: percent-encoded octets decoded part by part, the host in lower case and
/// A-labels, the default port of the scheme filled in.
struct ParsedURL: Sendable {
  let url: URL
  var scheme = ""
  var host = ""
  /// The port, or the scheme's default; 0 without either.
  var port = 0
  /// The decoded path segments. A trailing slash gives an empty last segment; `/` and an empty path are one empty
  /// segment.
  var segments: [String] = []
  /// The raw query without its question mark; `nil` without one.
  var query: String?

  init(_ url: URL) {
    self.url = url
    var text = url.absoluteString
    text.withUTF8 { parse($0) }
  }

  private mutating func parse(_ bytes: UnsafeBufferPointer<UInt8>) {
    let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.count
    var position = 0
    if let colon = bytes[..<end].firstIndex(of: UInt8(ascii: ":")), Self.isScheme(bytes[..<colon]) {
      scheme = String(decoding: bytes[..<colon], as: UTF8.self)
      if bytes[..<colon].contains(where: { $0 < 0x61 }) { scheme = scheme.lowercased() }
      position = colon + 1
    }
    if position + 1 < end, bytes[position] == UInt8(ascii: "/"), bytes[position + 1] == UInt8(ascii: "/") {
      position += 2
      let authorityEnd = bytes[position..<end].firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? end
      parseAuthority(bytes, position..<authorityEnd)
      position = authorityEnd
    }
    let queryStart = bytes[position..<end].firstIndex(of: UInt8(ascii: "?")) ?? end
    if queryStart < end { query = String(decoding: bytes[(queryStart + 1)..<end], as: UTF8.self) }
    parsePath(bytes, position..<queryStart)
    if port == 0 { port = Self.defaultPort(of: scheme) }
  }

  private mutating func parseAuthority(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
    var start = range.lowerBound
    var end = range.upperBound
    if let at = bytes[range].lastIndex(of: UInt8(ascii: "@")) { start = at + 1 }
    if let colon = bytes[start..<end].lastIndex(of: UInt8(ascii: ":")),
      !bytes[colon..<end].contains(UInt8(ascii: "]"))
    {
      if let number = Int(String(decoding: bytes[(colon + 1)..<end], as: UTF8.self)) { port = number }
      end = colon
    }
    host = HostName.comparable(PercentCoding.decoded(bytes[start..<end]))
  }

  private mutating func parsePath(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
    var start = range.lowerBound
    if start < range.upperBound, bytes[start] == UInt8(ascii: "/") { start += 1 }
    segments.reserveCapacity(4)
    while true {
      let end = bytes[start..<range.upperBound].firstIndex(of: UInt8(ascii: "/")) ?? range.upperBound
      segments.append(PercentCoding.decoded(bytes[start..<end]))
      guard end < range.upperBound else { return }
      start = end + 1
    }
  }

  static func isScheme(_ bytes: some Collection<UInt8>) -> Bool {
    bytes.first?.isASCIILetter == true && bytes.allSatisfy(\.isScheme)
  }

  static func defaultPort(of scheme: String) -> Int {
    switch scheme {
    case "http", "ws": 80
    case "https", "wss": 443
    default: 0
    }
  }

  /// The path with its segments decoded.
  var path: String { "/" + segments.joined(separator: "/") }
}

/// Percent-encoded octets (RFC 3986, section 2.1).
enum PercentCoding {
  /// Decodes `bytes`. A percent sign without two hexadecimal digits stays; invalid UTF-8 is repaired.
  static func decoded<Bytes: BidirectionalCollection>(_ bytes: Bytes, plusIsSpace: Bool = false) -> String
  where Bytes.Element == UInt8 {
    guard bytes.contains(where: { $0 == UInt8(ascii: "%") || plusIsSpace && $0 == UInt8(ascii: "+") }) else {
      return String(decoding: bytes, as: UTF8.self)
    }
    let escapes: Escapes = plusIsSpace ? .form : .percent
    return String(decoding: escapes.removed(from: Array(bytes)[...]), as: UTF8.self)
  }

  static func decoded(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String {
    decoded(Array(text.utf8), plusIsSpace: plusIsSpace)
  }
}
