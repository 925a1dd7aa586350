public import Foundation

extension HAR {
  /// A request and its response.
  public struct Entry: Hashable, Sendable {
    /// The identifier of the page that the request was made for.
    public var page: String?
    /// When it began.
    public var started: Date
    /// The duration of each part.
    public var timings: Timings
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

    /// The total duration in milliseconds: the sum of its ``timings-swift.property``.
    public var time: Double { timings.total }

    /// Makes an entry.
    public init(started: Date, request: Request, response: Response, timings: Timings = Timings()) {
      self.started = started
      self.request = request
      self.response = response
      self.timings = timings
    }
  }

  /// A request.
  public struct Request: Hashable, Sendable {
    /// The method, such as `GET`.
    public var method: String
    /// The URL, without its fragment. It is a string, because archives may contain invalid URLs.
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
