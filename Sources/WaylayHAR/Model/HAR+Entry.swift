extension HAR {
  /// A request and its response.
  public struct Entry: Hashable, Sendable {
    /// The identifier of the page that the request was made for.
    public var page: String?
    /// When it began.
    public var started: Date {
      get { moment.date }
      set { moment = Moment(newValue) }
    }
    /// The duration of each part.
    public var timings: Timings { didSet { if timings.total != oldValue.total { statedTime = nil } } }
    /// The request.
    public var request: Request
    /// The response. Its status is 0 if there was none.
    public var response: Response
    /// Cache information. Usually empty.
    public var cache: [String: JSONValue] = [:]
    /// The address that the connection was made to.
    public var serverAddress: String?
    /// A name for the connection: entries on the same connection share it.
    public var connection: String?
    /// A comment.
    public var comment: String?
    /// Custom fields, by name, such as Chrome's `_error`.
    public var extensions: [String: JSONValue] = [:]

    /// The total duration in milliseconds: the number in the file, or the sum of its ``timings-swift.property``.
    public var time: Double { statedTime ?? timings.total }
    var moment: Moment
    var statedTime: Double?

    /// Makes an entry.
    public init(started: Date, request: Request, response: Response, timings: Timings = Timings()) {
      moment = Moment(started)
      self.request = request
      self.response = response
      self.timings = timings
    }
  }

  /// A request.
  public struct Request: Hashable, Sendable {
    /// The method, such as `GET`.
    public var method: String
    /// The URL, without its fragment. It is a string, because HAR files may contain invalid URLs.
    public var url: String
    /// The HTTP version, such as `HTTP/1.1` or `h2`.
    public var httpVersion: String
    /// The header fields in order.
    public var headers: [Field]
    /// The cookies from the header fields.
    public var cookies: [Cookie] = []
    /// The query items of the URL.
    public var query: [Field] = []
    /// The body, if there was one.
    public var body: Body?
    /// The number of head bytes on the wire, if known.
    public var headersSize: Int?
    /// The number of body bytes on the wire, if known.
    public var bodySize: Int?
    /// A comment.
    public var comment: String?
    /// Custom fields, by name.
    public var extensions: [String: JSONValue] = [:]

    /// Makes a request. Its cookies and query items are derived from the header fields and the URL, whose fragment is
    /// removed.
    public init(method: String, url: String, httpVersion: String = "HTTP/1.1", headers: [Field] = [], body: Body? = nil)
    {
      self.method = method
      self.url = String(url.prefix { $0 != "#" })
      self.httpVersion = httpVersion
      self.headers = headers
      self.body = body
      cookies = Cookie.sent(in: headers)
      query = Field.query(of: url)
      bodySize = body?.data.count ?? 0
    }
  }

  /// A response.
  public struct Response: Hashable, Sendable {
    /// The status code, or 0 if there was no response.
    public var status: Int
    /// The reason phrase. HTTP/2 has none.
    public var statusText: String
    /// The HTTP version, such as `HTTP/1.1` or `h2`.
    public var httpVersion: String
    /// The header fields in order.
    public var headers: [Field]
    /// The cookies set by the header fields.
    public var cookies: [Cookie] = []
    /// The body, decoded.
    public var body: Body
    /// The target of a redirect, as in the header field `Location`.
    public var redirectURL = ""
    /// The number of head bytes on the wire, if known.
    public var headersSize: Int?
    /// The number of body bytes on the wire before decoding, if known.
    public var bodySize: Int?
    /// A comment.
    public var comment: String?
    /// Custom fields, by name.
    public var extensions: [String: JSONValue] = [:]

    /// Makes a response. Its cookies and its redirect target are derived from the header fields.
    public init(
      status: Int, statusText: String = "", httpVersion: String = "HTTP/1.1", headers: [Field] = [], body: Body = Body()
    ) {
      self.status = status
      self.statusText = statusText
      self.httpVersion = httpVersion
      self.headers = headers
      self.body = body
      cookies = Cookie.set(in: headers)
      redirectURL = headers.first { $0.name.lowercased() == "location" }?.value ?? ""
    }
  }

  /// A name and value: a header field or a query item.
  public struct Field: Hashable, Sendable {
    /// Its name.
    public var name: String
    /// Its value.
    public var value: String
    /// A comment.
    public var comment: String?

    /// Makes a field from a name and a value.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }
}

extension HAR {
  /// The body of a request or a response.
  ///
  /// In a file, the body is text if possible, otherwise Base64. The format has no Base64 for request bodies: these use
  /// the custom field `_base64`, with empty text.
  public struct Body: Hashable, Sendable {
    /// The bytes, or the beginning of them.
    public var data: Data
    /// The media type, as in the header field `Content-Type`.
    public var mediaType: String
    /// The total number of bytes, which is larger than the kept number if only the beginning is kept.
    public var size: Int
    /// The parts of a form, if the file lists them.
    var parameters: [JSONValue] = []
    /// A comment.
    public var comment: String?
    /// Custom fields, by name.
    public var extensions: [String: JSONValue] = [:]

    /// Whether only the beginning is kept.
    public var isTruncated: Bool { size > data.count }

    /// Makes a body.
    ///
    /// - Parameters:
    ///   - data: The bytes, or the beginning of them.
    ///   - mediaType: The media type of the bytes.
    ///   - size: The total number of bytes, if only the beginning is kept.
    public init(_ data: Data = Data(), mediaType: String = "", size: Int? = nil) {
      self.data = data
      self.mediaType = mediaType
      self.size = max(size ?? 0, data.count)
    }

    /// The text, if the bytes are valid text.
    public var text: String? {
      // Binary data that happens to be valid UTF-8 usually contains NUL, which many programs display badly.
      guard !data.contains(0), let text = String(data: data, encoding: .utf8) else { return nil }
      // Decoding may drop a byte order mark.
      return text.utf8.count == data.count ? text : nil
    }
  }
}

extension HAR {
  /// A cookie from a header field.
  public struct Cookie: Hashable, Sendable {
    /// Its name.
    public var name: String
    /// Its value.
    public var value: String
    /// The path that the cookie applies to.
    public var path: String?
    /// The domain that the cookie applies to.
    public var domain: String?
    /// When the cookie expires, in ISO 8601; if the header field contains no valid date, its text.
    public var expires: String?
    /// Whether the cookie is hidden from scripts.
    public var isHTTPOnly: Bool?
    /// Whether the cookie is sent only over TLS.
    public var isSecure: Bool?
    /// A comment.
    public var comment: String?
    /// Custom fields, by name, such as `sameSite`.
    public var extensions: [String: JSONValue] = [:]

    /// Makes a cookie.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }
}

extension HAR.Cookie {
  /// The cookies in a request's header fields (RFC 6265, section 4.2.1).
  static func sent(in fields: [HAR.Field]) -> [HAR.Cookie] {
    fields.filter { $0.name.lowercased() == "cookie" }.flatMap { field in
      field.value.split(separator: ";").map { HAR.Cookie(pair: $0) }
    }
  }

  /// The cookies in a response's header fields (RFC 6265, section 4.1.1), one per field.
  static func set(in fields: [HAR.Field]) -> [HAR.Cookie] {
    // Some programs write several cookies into one field, separated by line breaks.
    fields.filter { $0.name.lowercased() == "set-cookie" }.flatMap { $0.value.split(whereSeparator: \.isNewline) }
      .compactMap { line in
        let parts = line.split(separator: ";", omittingEmptySubsequences: false)
        guard let first = parts.first else { return nil }
        var cookie = HAR.Cookie(pair: first)
        for attribute in parts.dropFirst().map({ HAR.Cookie(pair: $0) }) {
          switch attribute.name.lowercased() {
          case "path": cookie.path = attribute.value
          case "domain": cookie.domain = attribute.value
          case "expires": cookie.expires = Timestamp.iso(ofCookieDate: attribute.value) ?? attribute.value
          case "httponly": cookie.isHTTPOnly = true
          case "secure": cookie.isSecure = true
          case "samesite": cookie.extensions["sameSite"] = JSONValue(attribute.value)
          default: break
          }
        }
        return cookie
      }
  }

  private init(pair: Substring) {
    let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    self.init(
      name: parts[0].trimmingCharacters(in: .whitespaces),
      value: parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : "")
  }
}

extension HAR.Field {
  /// The items of a URL's query, decoded.
  static func query(of url: String) -> [HAR.Field] {
    url.prefix { $0 != "#" }.drop { $0 != "?" }.dropFirst().split(separator: "&").map { item in
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return HAR.Field(plain(parts[0]), parts.count > 1 ? plain(parts[1]) : "")
    }
  }

  /// A name or value, percent-decoded, with spaces for plus signs.
  static func plain(_ text: Substring) -> String {
    let spaced = text.replacing("+", with: " ")
    return spaced.removingPercentEncoding ?? String(spaced)
  }
}

extension HAR {
  /// The duration of each part of an exchange, in milliseconds.
  ///
  /// Parts that did not happen are `nil`. Invalid values, such as negative numbers, become `nil` or 0.
  public struct Timings: Hashable, Sendable {
    /// Waiting for a connection.
    public var blocked: Double? { didSet { blocked = Self.duration(blocked) } }
    /// Resolving the host name.
    public var dns: Double? { didSet { dns = Self.duration(dns) } }
    /// Connecting, including the TLS handshake: set, it is at least as long as ``ssl``.
    public var connect: Double? {
      get { connecting }
      set { connecting = [Self.duration(newValue), ssl].compactMap(\.self).max() }
    }
    /// The value in the file, in which some programs omit the handshake.
    var connecting: Double?
    /// The TLS handshake: a part of ``connect``.
    public var ssl: Double? { didSet { (ssl, connect) = (Self.duration(ssl), connecting) } }
    /// Sending the request.
    public var send: Double { didSet { send = Self.duration(send) ?? 0 } }
    /// Waiting for the response to begin.
    public var wait: Double { didSet { wait = Self.duration(wait) ?? 0 } }
    /// Receiving the response.
    public var receive: Double { didSet { receive = Self.duration(receive) ?? 0 } }
    /// A comment.
    public var comment: String?
    /// Custom fields, by name.
    public var extensions: [String: JSONValue] = [:]

    /// Makes timings in milliseconds.
    public init(
      blocked: Double? = nil, dns: Double? = nil, connect: Double? = nil, ssl: Double? = nil, send: Double = 0,
      wait: Double = 0, receive: Double = 0
    ) {
      self.blocked = Self.duration(blocked)
      self.dns = Self.duration(dns)
      self.ssl = Self.duration(ssl)
      self.send = Self.duration(send) ?? 0
      self.wait = Self.duration(wait) ?? 0
      self.receive = Self.duration(receive) ?? 0
      self.connect = connect
    }

    /// The total duration in milliseconds. The TLS handshake counts once, as a part of connecting.
    public var total: Double {
      let parts = [blocked, dns, max(connecting ?? 0, ssl ?? 0), send, wait, receive]
      return Double(parts.compactMap { Self.duration($0).map { Int(($0 * 1000).rounded()) } }.reduce(0, +)) / 1000
    }

    /// Rounds to microseconds, so that times add up.
    private static func duration(_ value: Double?) -> Double? {
      guard let value, value >= 0, value.isFinite else { return nil }
      return (min(value, 1e11) * 1000).rounded() / 1000
    }
  }
}
