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
  private var storage: CopyOnWrite<Content>

  /// The parts of a response.
  private struct Content: Sendable {
    var status: HTTPResponse.Status
    var fields: HTTPFields
    var url: URL
    var body: MessageBody
    var source: Source
    var metrics: LoadMetrics?
    var trailers: HTTPFields?
    /// ``head``, if it has been made.
    var head: HTTPURLResponse?
  }

  /// The content. Changing it invalidates the head.
  private var content: Content {
    _read { yield storage.value }
    _modify {
      storage.value.head = nil
      yield &storage.value
    }
  }

  /// The status. A status outside 200…999 fails the load with `WaylayError.invalidResponse`.
  public var status: HTTPResponse.Status {
    get { content.status }
    set { content.status = newValue }
  }

  /// The header fields: in order, with duplicates kept (`Set-Cookie`!).
  public var fields: HTTPFields {
    get { content.fields }
    _modify { yield &content.fields }
  }

  /// The URL of the response: that of the last hop.
  public var url: URL {
    get { content.url }
    set { content.url = newValue }
  }

  /// The body. Reading it drives the network, if the transport can hold a server back; dropping an unread body cancels
  /// its transfer.
  public var body: MessageBody {
    get { storage.value.body }
    _modify { yield &storage.value.body }
  }

  /// Where the response came from.
  public var source: Source {
    get { storage.value.source }
    set { storage.value.source = newValue }
  }

  /// Timing, address and connection of the exchange, if a transport measured them. The total time and the body's byte
  /// counts are known after the body has been read to its end.
  public var metrics: LoadMetrics? {
    get { body.metrics ?? storage.value.metrics }
    set { storage.value.metrics = newValue }
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
    storage = CopyOnWrite(
      Content(status: status, fields: fields, url: url, body: body, source: source, metrics: metrics))
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
    get { storage.value.trailers ?? body.trailers }
    set { storage.value.trailers = newValue }
  }

  /// The head as the app sees it: repeated fields are joined with `", "`, as in `URLSession`.
  public var head: HTTPURLResponse {
    // Failable for historical reasons: Foundation documents no input for which it gives nil, and on Linux there is
    // none.
    storage.value.head
      ?? HTTPURLResponse(url: url, statusCode: status.code, httpVersion: "HTTP/1.1", headerFields: fields.joinedByName)!
  }

  /// Whether ``head`` has been made.
  package var keepsHead: Bool { storage.value.head != nil }

  /// Makes ``head`` once for all later copies, for a response that is served repeatedly.
  package mutating func keepHead() { storage.value.head = head }

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

extension InterceptedResponse {
  /// Whether the body was truncated: it ended before its content coding did. Known once it has been read.
  package var isBodyCut: Bool { metrics?.isBodyCut ?? false }
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
  /// Whether the body was truncated: the connection closed before the end of its content coding.
  var isBodyCut = false
  /// Whether the server's key is among the host's pins; set only with `Pins.isReportOnly`.
  public var isPinned: Bool?

  /// Makes metrics without any measurements.
  public init() {}
}
