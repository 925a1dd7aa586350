import Foundation
import WaylayCore

/// The head of a request to a proxy (RFC 9112). What could be read in two ways is refused.
struct ProxyHead {
  /// Why a head is refused.
  struct Refusal: Error {
    let status: Int
    let reason: String
  }

  /// How the body is delimited.
  enum Framing: Equatable {
    case none
    case length(Int64)
    case chunked
  }

  /// The most bytes of a head.
  static let limit = 64 << 10

  let method: String
  let target: String
  /// Whether the client knows HTTP/1.1.
  let isModern: Bool
  let fields: [(name: String, value: String)]
  let framing: Framing

  /// Reads the text of a head, without the empty line at its end.
  init(_ bytes: Data) throws {
    guard let text = String(data: bytes, encoding: .utf8), !text.utf8.contains(0) else {
      throw Refusal(status: 400, reason: "The head of the request is not text.")
    }
    var lines = text.components(separatedBy: "\r\n")
    guard !lines.contains(where: { $0.unicodeScalars.contains { $0 == "\n" || $0 == "\r" } }) else {
      throw Refusal(status: 400, reason: "A line of the head does not end with CR and LF.")
    }
    let words = lines.removeFirst().split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard words.count == 3, HTTPRequest.Method(words[0]) != nil, !words[1].isEmpty else {
      throw Refusal(status: 400, reason: "The request line is not valid in HTTP/1.1.")
    }
    guard words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0" else {
      throw Refusal(status: 505, reason: "Only HTTP/1.1 and HTTP/1.0 are supported.")
    }
    (method, target, isModern) = (words[0], words[1], words[2] == "HTTP/1.1")
    var fields: [(name: String, value: String)] = []
    for line in lines {
      guard let colon = line.firstIndex(of: ":"), HTTPField.Name(String(line[..<colon])) != nil else {
        throw Refusal(status: 400, reason: "A line of the head is not a field.")
      }
      let value = line[line.index(after: colon)...].trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
      guard HTTPField.isValidValue(value) else {
        throw Refusal(status: 400, reason: "A field has a value that cannot be passed on.")
      }
      fields.append((String(line[..<colon]), value))
    }
    self.fields = fields
    framing = try Self.framing(fields, isModern: isModern)
  }

  /// Section 6.3, without what it lets a server guess.
  private static func framing(_ fields: [(name: String, value: String)], isModern: Bool) throws -> Framing {
    func values(_ name: String) -> [String] { fields.filter { $0.name.lowercased() == name }.map(\.value) }
    let (codings, lengths) = (values("transfer-encoding"), values("content-length"))
    if !codings.isEmpty {
      guard isModern, lengths.isEmpty, codings.count == 1, codings[0].lowercased() == "chunked" else {
        throw Refusal(status: 400, reason: "The request declares the end of its body in two ways.")
      }
      return .chunked
    }
    guard let length = lengths.first else { return .none }
    guard lengths.count == 1, length.utf8.count <= 18, length.utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
      let number = Int64(length)
    else { throw Refusal(status: 400, reason: "The request does not say how long its body is.") }
    return number == 0 ? .none : .length(number)
  }

  /// The value of a field, where there is one.
  subscript(name: String) -> String? { fields.first { $0.name.lowercased() == name }?.value }

  /// Reads a head from a connection; `nil` where nothing came.
  static func read(from wire: Wire, within limit: Duration) async throws -> ProxyHead? {
    let end = ContinuousClock.now + limit
    var bytes = Data()
    while true {
      if let gap = bytes.range(of: Data("\r\n\r\n".utf8)) {
        wire.hold(Data(bytes[gap.upperBound...]))
        return try ProxyHead(Data(bytes[..<gap.lowerBound]))
      }
      guard bytes.count < Self.limit else { throw Refusal(status: 431, reason: "The head is larger than 64 KiB.") }
      let left = ContinuousClock.now.duration(to: end)
      guard left > .zero else { throw Wire.Failure.idle }
      let more = try await wire.read(left)
      guard !more.isEmpty else {
        if bytes.isEmpty { return nil }
        throw Wire.Failure.gone
      }
      bytes += more
    }
  }

  /// Fields that are for one connection alone (RFC 9110, section 7.6.1), those that `Connection` names among them.
  static func isHopByHop(_ name: String, _ connection: [String]) -> Bool {
    let name = name.lowercased()
    let own: Set<String> = [
      "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
      "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]
    return own.contains(name) || connection.contains(name)
  }

  /// What a `Connection` field names.
  static func named(by values: some Sequence<String>) -> [String] {
    values.flatMap { $0.split(separator: ",") }.map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
  }
}
