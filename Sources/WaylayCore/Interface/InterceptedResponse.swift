import Foundation
public import HTTPTypes

/// A response on its way back through a chain.
///
/// An interceptor that answers a request itself makes the response from the request:
///
/// ```swift
/// return InterceptedResponse(to: request, fields: [.contentType: "application/json"], body: .data(json))
/// ```
public struct InterceptedResponse: Sendable {
  private var storage: Storage

  /// What a response consists of, behind one reference: see `InterceptedRequest`.
  private final class Storage: @unchecked Sendable {
    // Unchecked: changed only while uniquely referenced, like the storage of any copy-on-write value.
    var status: HTTPResponse.Status
    var fields: HTTPFields
    var url: URL
    var body: MessageBody
    var source: Source
    var metrics: LoadMetrics?
    var trailers: HTTPFields?
    /// What the app sees, where it was made before.
    var head: HTTPURLResponse?

    init(
      status: HTTPResponse.Status, fields: HTTPFields, url: URL, body: MessageBody, source: Source,
      metrics: LoadMetrics?, trailers: HTTPFields?, head: HTTPURLResponse? = nil
    ) {
      self.status = status
      self.fields = fields
      self.url = url
      self.body = body
      self.source = source
      self.metrics = metrics
      self.trailers = trailers
      self.head = head
    }

    func copy() -> Storage {
      Storage(
        status: status, fields: fields, url: url, body: body, source: source, metrics: metrics, trailers: trailers,
        head: head)
    }
  }

  private var unique: Storage {
    mutating get {
      if !isKnownUniquelyReferenced(&storage) { storage = storage.copy() }
      return storage
    }
  }

  /// The same for one of the parts that the app's head has, too.
  private var changed: Storage {
    mutating get {
      let storage = unique
      storage.head = nil
      return storage
    }
  }

  /// The status. A status outside 200…999 fails the load with `WaylayError.invalidResponse`.
  public var status: HTTPResponse.Status {
    get { storage.status }
    set { changed.status = newValue }
  }

  /// The header fields: in order, with duplicates kept (`Set-Cookie`!).
  public var fields: HTTPFields {
    get { storage.fields }
    _modify { yield &changed.fields }
  }

  /// The URL of the response: that of the last hop.
  public var url: URL {
    get { storage.url }
    set { changed.url = newValue }
  }

  /// The body. Reading it drives the network, if the transport can hold a server back; dropping an unread body cancels
  /// its transfer.
  public var body: MessageBody {
    get { storage.body }
    _modify { yield &unique.body }
  }

  /// Where the response came from.
  public var source: Source {
    get { storage.source }
    set { unique.source = newValue }
  }

  /// Timing, address and connection of the exchange, if a transport measured them. The total time and the body's byte
  /// counts are known after the body has been read to its end.
  public var metrics: LoadMetrics? {
    get { body.metrics ?? storage.metrics }
    set { unique.metrics = newValue }
  }

  /// Makes a response.
  ///
  /// - Parameters:
  ///   - status: The status; `200 OK` by default.
  ///   - fields: The header fields. Nothing is added to them: set `Content-Length` and `Content-Type` if the app
  ///     expects them.
  ///   - url: The URL of the response.
  ///   - body: The body.
  ///   - source: Where the response came from; ``Source/interceptor`` by default.
  ///   - metrics: The measurements of a transport.
  public init(
    status: HTTPResponse.Status = .ok, fields: HTTPFields = [:], url: URL, body: MessageBody = .empty,
    source: Source = .interceptor, metrics: LoadMetrics? = nil
  ) {
    storage = Storage(
      status: status, fields: fields, url: url, body: body, source: source, metrics: metrics, trailers: nil)
  }

  /// Makes a response to a request, with the request's URL.
  public init(
    to request: InterceptedRequest, status: HTTPResponse.Status = .ok, fields: HTTPFields = [:],
    body: MessageBody = .empty, source: Source = .interceptor
  ) {
    self.init(status: status, fields: fields, url: request.url, body: body, source: source)
  }

  /// The trailer fields, which are empty until the body has been read to its end.
  public var trailers: HTTPFields {
    get { storage.trailers ?? body.trailers }
    set { unique.trailers = newValue }
  }

  /// The head as the app sees it: repeated fields are joined with `", "`, as in `URLSession`.
  public var head: HTTPURLResponse {
    // Failable for historical reasons: Foundation documents no input for which it gives nil, and on Linux there is
    // none.
    storage.head
      ?? HTTPURLResponse(url: url, statusCode: status.code, httpVersion: "HTTP/1.1", headerFields: fields.joinedByName)!
  }

  /// Whether ``head`` is there already.
  package var keepsHead: Bool { storage.head != nil }

  /// Makes ``head`` for all copies of the response: for a response that is given again and again.
  package mutating func keepHead() { unique.head = head }

  /// Where a response came from. A struct, so that other modules can add sources.
  public struct Source: Hashable, Sendable, CustomStringConvertible {
    /// The source's name.
    public let description: String
    /// Whether `Set-Cookie` fields of the response go into the cookie storage. Those from an archive do not.
    public let storesCookies: Bool

    /// Makes a source with the given name.
    public init(_ description: String, storesCookies: Bool) {
      self.description = description
      self.storesCookies = storesCookies
    }

    /// The network, through a transport.
    public static let network = Source("network", storesCookies: true)
    /// An interceptor that made the response itself.
    public static let interceptor = Source("interceptor", storesCookies: true)
  }
}

/// The measurements a transport made of one exchange. All durations count from the call of the transport; `nil` means
/// "not known".
public struct LoadMetrics: Sendable, Hashable {
  /// When the host's addresses were resolved.
  public var nameLookup: Duration?
  /// When the connection was open.
  public var connect: Duration?
  /// When the TLS handshake was complete.
  public var secureConnection: Duration?
  /// When the response's head arrived.
  public var firstByte: Duration?
  /// When the body ended.
  public var total: Duration?
  /// The number of request body bytes sent.
  public var requestBodyBytes: Int64?
  /// The number of response body bytes received.
  public var responseBodyBytes: Int64?
  /// The dialed address, as `ip:port`.
  public var address: String?
  /// Whether the exchange reused an open connection.
  public var isConnectionReused: Bool?
  /// The protocol's ALPN name: `http/1.1`, `h2`.
  public var protocolName: String?

  /// Makes metrics without any measurements.
  public init() {}
}
