import Foundation
public import HTTPTypes

/// A response on its way back through a chain.
///
/// An interceptor that answers by itself makes one from the request:
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

  /// The status. An answer outside 200…999 fails the load with ``WaylayError/Code/invalidResponse``.
  public var status: HTTPResponse.Status {
    get { storage.status }
    set { changed.status = newValue }
  }

  /// The header fields: in order, with duplicates kept (`Set-Cookie`!).
  public var fields: HTTPFields {
    get { storage.fields }
    _modify { yield &changed.fields }
  }

  /// The URL that the response is for: the last hop's.
  public var url: URL {
    get { storage.url }
    set { changed.url = newValue }
  }

  /// The body. Reading it from the network goes on only as it is read, where the transport can hold a server back; a
  /// body that is dropped unread cancels its transfer.
  public var body: MessageBody {
    get { storage.body }
    _modify { yield &unique.body }
  }

  /// Where the response came from.
  public var source: Source {
    get { storage.source }
    set { unique.source = newValue }
  }

  /// Times, address and connection of the exchange, where a transport measured them. The total and the bytes of the
  /// body are known once the body has been read to its end.
  public var metrics: LoadMetrics? {
    get { body.metrics ?? storage.metrics }
    set { unique.metrics = newValue }
  }

  /// Makes a response.
  ///
  /// - Parameters:
  ///   - status: The status; `200 OK` unless told otherwise.
  ///   - fields: The header fields. Nothing is added to them: set `Content-Length` and `Content-Type` where the app
  ///     expects them.
  ///   - url: The URL the response is for.
  ///   - body: The body.
  ///   - source: Where it came from; ``Source/interceptor`` unless told otherwise.
  ///   - metrics: What a transport measured.
  public init(
    status: HTTPResponse.Status = .ok, fields: HTTPFields = [:], url: URL, body: MessageBody = .empty,
    source: Source = .interceptor, metrics: LoadMetrics? = nil
  ) {
    storage = Storage(
      status: status, fields: fields, url: url, body: body, source: source, metrics: metrics, trailers: nil)
  }

  /// Makes the answer to a request: the URL is the request's.
  public init(
    to request: InterceptedRequest, status: HTTPResponse.Status = .ok, fields: HTTPFields = [:],
    body: MessageBody = .empty, source: Source = .interceptor
  ) {
    self.init(status: status, fields: fields, url: request.url, body: body, source: source)
  }

  /// The trailer fields. Empty until the body has been read to its end.
  public var trailers: HTTPFields {
    get { storage.trailers ?? body.trailers }
    set { unique.trailers = newValue }
  }

  /// The projection that the app sees: a field that occurs more than once is joined by `", "`, as `URLSession` does.
  public var head: HTTPURLResponse {
    // Failable for historical reasons: Foundation documents no input for which it gives nil, and on Linux there is
    // none.
    storage.head
      ?? HTTPURLResponse(url: url, statusCode: status.code, httpVersion: "HTTP/1.1", headerFields: fields.joinedByName)!
  }

  /// Whether ``head`` is there already.
  package var keepsHead: Bool { storage.head != nil }

  /// Makes ``head`` for all copies of the response: for an answer that is given again and again.
  package mutating func keepHead() { unique.head = head }

  /// Where a response came from. A struct, so that modules may add sources.
  public struct Source: Hashable, Sendable, CustomStringConvertible {
    /// The source's name.
    public let description: String
    /// Whether `Set-Cookie` fields of such a response go into the cookie storage. An archive's do not.
    public let storesCookies: Bool

    /// Makes a source of that name.
    public init(_ description: String, storesCookies: Bool) {
      self.description = description
      self.storesCookies = storesCookies
    }

    /// The network, through a transport.
    public static let network = Source("network", storesCookies: true)
    /// An interceptor that made the answer up.
    public static let interceptor = Source("interceptor", storesCookies: true)
  }
}
