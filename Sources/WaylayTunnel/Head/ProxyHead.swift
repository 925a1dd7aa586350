#if Tunnel
  import Foundation
  import WaylayCore
  import WaylayHosts

  /// The head of a request to a proxy (RFC 9112, sections 3.2.2 and 3.2.3), parsed strictly: ambiguous input is
  /// refused, to prevent request smuggling.
  struct ProxyHead: Sendable {
    /// The bytes that follow the head.
    enum Body: Sendable, Equatable {
      case length(UInt64)
      case chunked
    }

    let method: String
    let version: String
    /// The path and query for the origin, `*` for OPTIONS of the origin itself (RFC 9112, section 3.2.4); `nil` for
    /// CONNECT.
    let path: String?
    /// The target's host and port, verbatim and parsed.
    let written: String
    let authority: HostAuthority
    /// In order, verbatim.
    let fields: HTTPFields
    let body: Body
    /// How often a TRACE or OPTIONS may still be forwarded (RFC 9110, section 7.6.2); `nil` for no limit.
    let hopsLeft: UInt64?

    /// Parses a head, including the empty line at its end.
    init(_ bytes: some Collection<UInt8>) throws(Refusal) {
      var lines = try Self.lines(bytes)[...]
      let words = (lines.popFirst() ?? []).split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
      guard words.count == 3, words[1].allSatisfy({ (0x21...0x7E).contains($0) }),
        let method = HTTPRequest.Method(String(decoding: words[0], as: UTF8.self))
      else { throw .malformed("the request line is not METHOD TARGET VERSION") }
      (self.method, version) = (method.rawValue, String(decoding: words[2], as: UTF8.self))
      guard version == "HTTP/1.1" || version == "HTTP/1.0" else { throw .malformed("the version is not HTTP/1.1") }
      fields = try Self.fields(lines)
      body = try Self.body(fields, version)
      let limits = method == .trace || method == .options ? fields[values: .maxForwards] : []
      guard limits.count < 2, limits.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(\.isASCIIDigit) }) else {
        throw .malformed("Max-Forwards is not one number")
      }
      hopsLeft = limits.first.map { UInt64($0) ?? .max }
      let text = String(decoding: words[1], as: UTF8.self)
      guard method != .connect else {
        guard body == .length(0) else { throw .malformed("a CONNECT has no body") }
        (path, written, authority) = (nil, text, try Self.authority(text, orElse: nil))
        return
      }
      guard text.prefix(7).lowercased() == "http://" else {
        throw .malformed("a proxy takes CONNECT, or a target that begins with http://")
      }
      written = String(text.dropFirst(7).prefix { !"/?#".contains($0) })
      let rest = text.dropFirst(7 + written.count)
      path = rest.hasPrefix("/") ? String(rest) : rest.isEmpty && method == .options ? "*" : "/\(rest)"
      authority = try Self.authority(written, orElse: 80)
      guard !rest.contains("#"), url != nil else { throw .malformed("the target has a fragment, or is no URL") }
    }

    /// The URL of a request in absolute form.
    var url: URL? { path.flatMap { URL(string: "http://\(written)\($0 == "*" ? "/" : $0)") } }

    /// Splits at CR LF; other control characters are refused.
    static func lines(_ bytes: some Collection<UInt8>) throws(Refusal) -> [[UInt8]] {
      var lines: [[UInt8]] = [[]]
      var last: UInt8 = 0
      for byte in bytes {
        switch (last, byte) {
        case (13, 10): lines.append([])
        case (13, _): throw .malformed("a CR stands alone")
        case (_, 10): throw .malformed("an LF stands alone")
        case (_, 13): break
        case (_, 0...8), (_, 11...31), (_, 127): throw .malformed("there is a control character")
        default: lines[lines.count - 1].append(byte)
        }
        last = byte
      }
      guard last == 10, lines.popLast() == [], lines.popLast() == [], lines.allSatisfy({ !$0.isEmpty }),
        (1...101).contains(lines.count)
      else { throw .malformed("the lines are not those of a head, or more than a hundred fields") }
      return lines
    }

    static func fields(_ lines: some Sequence<[UInt8]>) throws(Refusal) -> HTTPFields {
      var fields = HTTPFields()
      for line in lines {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
          let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
        else { throw .malformed("a line is not a field") }
        fields.append(HTTPField(name: name, value: line[(colon + 1)...]))
      }
      return fields
    }

    /// The framing of the body; ambiguous framing is refused (RFC 9112, section 6.3).
    private static func body(_ fields: HTTPFields, _ version: String) throws(Refusal) -> Body {
      let (codings, lengths) = (fields[values: .transferEncoding], fields[values: .contentLength])
      if let coding = codings.first {
        guard lengths.isEmpty else { throw .malformed("there is a length beside a transfer coding") }
        guard codings.count == 1, coding.lowercased() == "chunked", version == "HTTP/1.1" else {
          throw .malformed("the transfer coding is not chunked")
        }
        return .chunked
      }
      guard let length = lengths.first else { return .length(0) }
      guard Set(lengths).count == 1, length.utf8.allSatisfy(\.isASCIIDigit), let number = UInt64(length)
      else { throw .malformed("the length is not one number") }
      return .length(number)
    }

    /// `host:port` or `[address]:port`; without user info.
    static func authority(_ text: String, orElse standard: Int?) throws(Refusal) -> HostAuthority {
      guard let pattern = try? HostPattern(text), !pattern.isWildcard, let name = pattern.name,
        text.hasPrefix("[") == name.description.contains(":")
      else { throw .malformed("the host is not a name or an address, or its port not one from 1 to 65535") }
      guard let port = pattern.port ?? standard else { throw .malformed("there is no port") }
      return HostAuthority(name, port: port)
    }
  }

  extension ProxyHead {
    /// Fields that the tunnel replaces, or that the recipient of a request must not get.
    private static let replaced: Set<String> = ["content-length", "host", "te", "transfer-encoding"]

    /// The head for the origin: `Host` from the target, without the fields for the proxy, one request per connection.
    func forwarded() -> [UInt8] {
      var head = Array("\(method) \(path ?? "/") \(version)\r\nHost: \(written)\r\n".utf8)
      head += fields.lines(without: dropped.union(hopsLeft == nil ? [] : ["max-forwards"]))
      if let hopsLeft { head += "Max-Forwards: \(max(hopsLeft, 1) - 1)\r\n".utf8 }
      head += HTTPFields.via(version)
      switch body {
      case .chunked: head += "Transfer-Encoding: chunked\r\n".utf8
      case .length(let count) where fields[.contentLength] != nil: head += "Content-Length: \(count)\r\n".utf8
      case .length: break
      }
      let takesTrailers = fields[values: .te].contains { $0.lowercased().contains("trailers") }
      return head
        + Array("\(takesTrailers ? "TE: trailers\r\nConnection: TE, close" : "Connection: close")\r\n\r\n".utf8)
    }

    /// The names of fields that are not forwarded, of the head and of trailers.
    var dropped: Set<String> { Self.replaced.union(fields.ofConnection) }

    /// The tunnel's own response to a request whose limit of hops is reached: the tunnel is its last recipient. The
    /// response to TRACE contains the received request, without secrets (RFC 9110, section 9.3.8).
    var finalResponse: [UInt8] {
      var body: [UInt8] = []
      if method == "TRACE" {
        body = Array("TRACE http://\(written)\(path ?? "") \(version)\r\n".utf8)
        let secret = Set(fields.map(\.name).filter { CredentialNames.isCredential($0.rawName) }.map(\.canonicalName))
        body += fields.lines(without: secret) + [13, 10]
      }
      let type = body.isEmpty ? "" : "Content-Type: message/http\r\n"
      let head = "HTTP/1.1 200 OK\r\n\(type)Content-Length: \(body.count)\r\nConnection: close\r\n\r\n"
      return Array(head.utf8) + body
    }
  }

  extension HTTPField.Name {
    static let maxForwards = Self("Max-Forwards")!
  }

  extension HTTPFields {
    /// The line by which the tunnel names itself in a message of that version (RFC 9110, section 7.6.3).
    static func via(_ version: String) -> [UInt8] { Array("Via: \(version.dropFirst(5)) waylay\r\n".utf8) }

    /// The names of the fields that concern one connection (RFC 9110, section 7.6.1): those that `Connection` lists,
    /// and the known ones.
    var ofConnection: Set<String> {
      let listed = self[values: .connection].flatMap { $0.split(separator: ",") }
      return Set(listed.map { $0.trimmingCharacters(in: .whitespaces).lowercased() })
        .union(["connection", "keep-alive", "upgrade"])
    }

    /// The lines of the fields, verbatim, without some names and those of a proxy.
    func lines(without dropped: Set<String>) -> [UInt8] {
      var lines: [UInt8] = []
      for field in self {
        let name = field.name.canonicalName
        guard !dropped.contains(name), !name.hasPrefix("proxy-") else { continue }
        lines += Array("\(field.name.rawName): ".utf8) + field.withUnsafeBytesOfValue { Array($0) } + [13, 10]
      }
      return lines
    }
  }

  /// Why a client is refused. The tunnel then reads no more from the connection, unless it ``keepsOpen``.
  struct Refusal: Error, Equatable {
    let status: Int
    let reason: String
    /// For the developer of the client. It reveals no secret to an unauthenticated client.
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

    /// The HTTP response for the client.
    var response: [UInt8] {
      let body = keepsOpen ? "" : "\(text).\n"
      var lines = ["HTTP/1.1 \(status) \(reason)", "Content-Length: \(body.utf8.count)", "Content-Type: text/plain"]
      if status == 407 { lines.append("Proxy-Authenticate: Basic realm=\"waylay\"") }
      if !keepsOpen { lines.append("Connection: close") }
      return Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }
  }
#endif
