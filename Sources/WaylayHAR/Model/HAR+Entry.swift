public import Foundation

extension HAR {
  /// One request and its answer.
  public struct Entry: Hashable, Sendable {
    /// The page it was made for, by its id.
    public var page: String?
    /// When it began.
    public var started: Date
    /// How long each part of it took.
    public var timings: Timings
    /// What was asked.
    public var request: Request
    /// What was answered. Status 0 where nothing was.
    public var response: Response
    /// What a cache had to do with it. Nothing, mostly.
    public var cache: [String: JSONValue] = [:]
    /// The address that the connection went to.
    public var serverAddress: String?
    /// A name for the connection: entries that shared one have the same.
    public var connection: String?
    /// A remark.
    public var comment: String?
    /// Fields that are not the format's own, by name, such as Chrome's `_error`.
    public var extensions: [String: JSONValue] = [:]

    /// How long all of it took, in milliseconds: the sum of its ``timings-swift.property``.
    public var time: Double { timings.total }

    /// Makes an entry.
    public init(started: Date, request: Request, response: Response, timings: Timings = Timings()) {
      self.started = started
      self.request = request
      self.response = response
      self.timings = timings
    }
  }

  /// What was asked.
  public struct Request: Hashable, Sendable {
    /// The method, such as `GET`.
    public var method: String
    /// The URL, without its fragment. A text, because archives hold texts that are no URLs.
    public var url: String
    /// The version, such as `HTTP/1.1` or `h2`.
    public var httpVersion: String
    /// The header fields in their order.
    public var headers: [Field]
    /// The cookies, as the header fields have them.
    public var cookies: [Cookie] = []
    /// The query of the URL, name by name.
    public var query: [Field] = []
    /// The body, if there was one.
    public var body: Body?
    /// The bytes of the head on the wire, if they are known.
    public var headersSize: Int?
    /// The bytes of the body on the wire, if they are known.
    public var bodySize: Int?
    /// A remark.
    public var comment: String?
    /// Fields that are not the format's own, by name.
    public var extensions: [String: JSONValue] = [:]

    /// Makes a request. Its lists of cookies and of the query are made from the header fields and the URL, whose
    /// fragment is left out.
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

  /// What was answered.
  public struct Response: Hashable, Sendable {
    /// The status code. 0 where there was no answer.
    public var status: Int
    /// The reason phrase. HTTP/2 has none.
    public var statusText: String
    /// The version, such as `HTTP/1.1` or `h2`.
    public var httpVersion: String
    /// The header fields in their order.
    public var headers: [Field]
    /// The cookies that were set, as the header fields have them.
    public var cookies: [Cookie] = []
    /// The body, decoded.
    public var body: Body
    /// Where a redirect leads, as the header field `Location` has it.
    public var redirectURL = ""
    /// The bytes of the head on the wire, if they are known.
    public var headersSize: Int?
    /// The bytes of the body on the wire, if they are known: before it was decoded.
    public var bodySize: Int?
    /// A remark.
    public var comment: String?
    /// Fields that are not the format's own, by name.
    public var extensions: [String: JSONValue] = [:]

    /// Makes an answer. Its list of cookies and its redirect are made from the header fields.
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

  /// A name with a value: a header field, or an item of a query.
  public struct Field: Hashable, Sendable {
    /// Its name.
    public var name: String
    /// Its value.
    public var value: String
    /// A remark.
    public var comment: String?

    /// Makes a name with a value.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }
}
