#if Tunnel
  import Foundation
  import WaylayCore

  /// The head of a request to a proxy (RFC 9112, sections 3.2.2 and 3.2.3), read strictly: what two readers could take
  /// for two things is refused.
  struct ProxyHead: Sendable {
    /// What is asked for.
    enum Target: Sendable {
      /// `CONNECT host:port`.
      case tunnel
      /// The absolute form, with the path and query that the origin gets.
      case absolute(path: String)
    }

    /// The bytes that follow the head.
    enum Body: Sendable, Equatable {
      case length(UInt64)
      case chunked
    }

    let method: String
    let version: String
    let target: Target
    /// The target's host and port, as they were written.
    let authority: String
    let host: HostName
    let port: Int
    /// In their order, as they were written.
    let fields: [(name: String, value: String)]
    let body: Body

    /// The field that holds the secret.
    static let credentials = "proxy-authorization"

    /// Reads a head up to and with the empty line that ends it.
    init(_ bytes: some Collection<UInt8>) throws(Refusal) {
      var lines = try Self.lines(bytes)[...]
      let words = (lines.popFirst() ?? []).split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
      guard words.count == 3, Self.isToken(words[0]), words[1].allSatisfy({ (0x21...0x7E).contains($0) }) else {
        throw .malformed("the request line is not METHOD TARGET VERSION")
      }
      (method, version) = (Self.text(words[0]), Self.text(words[2]))
      guard version == "HTTP/1.1" || version == "HTTP/1.0" else { throw .malformed("the version is not HTTP/1.1") }
      fields = try Self.fields(lines)
      body = try Self.body(fields, version)
      let text = Self.text(words[1])
      if method == "CONNECT" {
        target = .tunnel
        authority = text
        guard body == .length(0) else { throw .malformed("a CONNECT has no body") }
      } else {
        guard text.prefix(7).lowercased() == "http://" else {
          throw .malformed("a proxy takes CONNECT, or a target that begins with http://")
        }
        let rest = text.dropFirst(7)
        authority = String(rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" })
        let path = rest.dropFirst(authority.count)
        guard !path.contains("#") else { throw .malformed("the target has a fragment") }
        target = .absolute(path: path.hasPrefix("/") ? String(path) : "/\(path)")
      }
      (host, port) = try Self.endpoint(authority, orElse: method == "CONNECT" ? nil : 80)
    }

    /// The value of a field that occurs once.
    func only(_ name: String) -> String? {
      let values = fields.filter { $0.name.lowercased() == name }
      return values.count == 1 ? values[0].value : nil
    }

    /// Splits at CR LF; no other control may occur.
    private static func lines(_ bytes: some Collection<UInt8>) throws(Refusal) -> [[UInt8]] {
      var lines: [[UInt8]] = []
      var line: [UInt8] = []
      var isAfterCR = false
      for byte in bytes {
        if isAfterCR {
          guard byte == 10 else { throw .malformed("a CR stands alone") }
          isAfterCR = false
          lines.append(line)
          line = []
          continue
        }
        switch byte {
        case 13: isAfterCR = true
        case 10: throw .malformed("an LF stands alone")
        case 0...8, 11...31, 127: throw .malformed("there is a control character")
        default: line.append(byte)
        }
      }
      guard !isAfterCR, line.isEmpty, lines.popLast() == [], lines.allSatisfy({ !$0.isEmpty }), lines.count <= 101
      else {
        throw .malformed("the lines are not those of a head, or more than a hundred fields")
      }
      return lines
    }

    private static func fields(_ lines: ArraySlice<[UInt8]>) throws(Refusal) -> [(name: String, value: String)] {
      var fields: [(name: String, value: String)] = []
      for line in lines {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), isToken(line[..<colon]) else {
          throw .malformed("a line is not a field")
        }
        let value = text(line[(colon + 1)...])
        fields.append((text(line[..<colon]), value.trimmingCharacters(in: CharacterSet(charactersIn: " \t"))))
      }
      return fields
    }

    /// How long the body is; every way in which two readers could differ is refused (RFC 9112, section 6.3).
    private static func body(
      _ fields: [(name: String, value: String)], _ version: String
    ) throws(Refusal) -> Body {
      func values(_ name: String) -> [String] { fields.filter { $0.name.lowercased() == name }.map(\.value) }
      let (codings, lengths) = (values("transfer-encoding"), values("content-length"))
      if let coding = codings.first {
        guard lengths.isEmpty else { throw .malformed("there is a length beside a transfer coding") }
        guard codings.count == 1, coding.lowercased() == "chunked", version == "HTTP/1.1" else {
          throw .malformed("the transfer coding is not chunked")
        }
        return .chunked
      }
      guard let length = lengths.first else { return .length(0) }
      guard Set(lengths).count == 1, length.utf8.allSatisfy({ (48...57).contains($0) }), let number = UInt64(length)
      else {
        throw .malformed("the length is not one number")
      }
      return .length(number)
    }

    /// `host:port` or `[address]:port`; without user info.
    static func endpoint(_ text: String, orElse standard: Int?) throws(Refusal) -> (HostName, Int) {
      var (host, port) = (text[...], standard)
      let isLiteral = text.hasPrefix("[")
      if let colon = text.lastIndex(of: ":"), !isLiteral || text[..<colon].hasSuffix("]") {
        let digits = text[text.index(after: colon)...]
        guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy({ (48...57).contains($0) }) else {
          throw .malformed("the port is not a number")
        }
        (host, port) = (text[..<colon], Int(digits))
      }
      guard let port, (1...65535).contains(port) else { throw .malformed("there is no port from 1 to 65535") }
      guard isLiteral == (host.hasPrefix("[") && host.hasSuffix("]")), isLiteral || !host.contains(":"),
        let name = try? HostName(String(host)), !isLiteral || name.isAddress
      else { throw .malformed("the host is not a name or an address") }
      return (name, port)
    }

    private static func isToken(_ bytes: some Collection<UInt8>) -> Bool {
      !bytes.isEmpty
        && bytes.allSatisfy { byte in
          switch byte {
          case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
          default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
          }
        }
    }

    private static func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
  }

  extension ProxyHead {
    /// What is not passed on: fields for this connection alone (RFC 9110, section 7.6.1), and those that are written anew.
    private static let dropped: Set<String> = [
      "connection", "content-length", "host", "keep-alive", "te", "transfer-encoding", "upgrade",
    ]

    /// The head for the origin: `Host` from the target, nothing meant for the proxy, one request on the connection.
    func forwarded(path: String) -> [UInt8] {
      let named = fields.filter { $0.name.lowercased() == "connection" }.flatMap { $0.value.split(separator: ",") }
        .map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
      let dropped = Self.dropped.union(named)
      var lines = ["\(method) \(path) \(version)", "Host: \(authority)"]
      for (name, value) in fields {
        let folded = name.lowercased()
        if !dropped.contains(folded), !folded.hasPrefix("proxy-") { lines.append("\(name): \(value)") }
      }
      switch body {
      case .chunked: lines.append("Transfer-Encoding: chunked")
      case .length(let count):
        if fields.contains(where: { $0.name.lowercased() == "content-length" }) {
          lines.append("Content-Length: \(count)")
        }
      }
      lines += ["Connection: close", "", ""]
      return Array(lines.joined(separator: "\r\n").utf8)
    }
  }

  /// Why a client does not get what it has asked for. After it, nothing more of the connection is read, unless it
  /// ``keepsOpen``.
  struct Refusal: Error, Equatable {
    let status: Int
    let reason: String
    /// For whoever looks at the client: the client has shown the secret, or learns nothing from it.
    let text: String
    var keepsOpen = false

    static func malformed(_ text: String) -> Refusal { Refusal(status: 400, reason: "Bad Request", text: text) }
    static func forbidden(_ text: String) -> Refusal { Refusal(status: 403, reason: "Forbidden", text: text) }
    static func failed(_ text: String) -> Refusal { Refusal(status: 502, reason: "Bad Gateway", text: text) }
    static let tooLong = Refusal(status: 431, reason: "Request Header Fields Too Large", text: "the head is too long")
    static let late = Refusal(status: 504, reason: "Gateway Timeout", text: "no address has answered in time")
    static func challenge(keepsOpen: Bool) -> Refusal {
      Refusal(
        status: 407, reason: "Proxy Authentication Required", text: "the secret is missing", keepsOpen: keepsOpen)
    }

    /// The response to a client of HTTP.
    var response: [UInt8] {
      let body = keepsOpen ? "" : "\(text).\n"
      var lines = ["HTTP/1.1 \(status) \(reason)", "Content-Length: \(body.utf8.count)", "Content-Type: text/plain"]
      if status == 407 { lines.append("Proxy-Authenticate: Basic realm=\"waylay\"") }
      if !keepsOpen { lines.append("Connection: close") }
      return Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }
  }
#endif
