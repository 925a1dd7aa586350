import Foundation
public import HTTPTypes

/// A request on its way through a chain.
///
/// ```swift
/// func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
///   var request = request
///   request.fields[.authorization] = "Bearer \(await tokens.current)"
///   return try await next(request)
/// }
/// ```
///
/// To unit-test an interceptor, make a request yourself:
///
/// ```swift
/// let request = InterceptedRequest(.post, "https://api.example.com/v1/users", fields: [.accept: "application/json"], body: .text("Ada"))
/// ```
public struct InterceptedRequest: Sendable {
  var storage: CopyOnWrite<Content>
  /// The lineage for the loop guard's tag, which ``urlRequest`` carries. It is that of the interceptor which has the
  /// request, so it is not a part of the shared content.
  var lineage: Lineage?

  /// The parts of a request.
  struct Content: Sendable {
    let id: ID
    let context: LoadContext
    var parts: Parts
    var body: MessageBody
    var attempt = 1
    var hop = 0
    /// The URL that the load began with, if it is another one.
    var firstURL: URL?
    var notes: [ObjectIdentifier: any Sendable] = [:]
    /// Whether the source and the parts have equal values.
    var isProjected: Bool
    /// The observer of the exchange, once the request has reached the transport.
    var observer: TransportObserver?
  }

  /// The parts that a `URLRequest` has as well. Changing one invalidates the projection.
  var parts: Parts {
    _read { yield storage.value.parts }
    _modify {
      storage.value.isProjected = false
      yield &storage.value.parts
    }
  }

  /// The load's identifier, which stays the same across retries, redirects and credentials.
  public var id: ID { storage.value.id }

  /// The method.
  public var method: HTTPRequest.Method {
    get { parts.method }
    set { parts.method = newValue }
  }

  /// The URL.
  public var url: URL {
    get { parts.url }
    set {
      parts.url = newValue
      if parts.defect == .withoutURL { parts.defect = nil }
    }
  }

  /// The header fields as sent on the wire, in order and with duplicates.
  ///
  /// The loading system keeps no order: the fields of its requests are sorted by name.
  public var fields: HTTPFields {
    get { parts.fields }
    _modify { yield &parts.fields }
  }

  /// The body, whatever kind of task the request comes from.
  public var body: MessageBody {
    get { storage.value.body }
    _modify { yield &storage.value.body }
  }

  /// Cache policy, timeout and other settings that are not sent to the server.
  public var options: Options {
    get { parts.options }
    _modify { yield &parts.options }
  }

  /// The number of the attempt in this hop, starting at 1. ``InterceptorChain/Next`` counts it.
  public internal(set) var attempt: Int {
    get { storage.value.attempt }
    set { storage.value.attempt = newValue }
  }

  /// The number of preceding redirects, starting at 0.
  public internal(set) var hop: Int {
    get { storage.value.hop }
    set { storage.value.hop = newValue }
  }

  /// The URL that the load began with, before any redirect.
  public var firstURL: URL { storage.value.firstURL ?? url }

  /// The context of the load: cookie and credential storage, timeouts, additional header fields.
  public var context: LoadContext { storage.value.context }

  /// Seconds without progress after which the request times out: its own ``Options/timeout`` or the session's.
  public var idleTimeout: TimeInterval { options.timeout ?? context.requestTimeout }

  /// Makes a request for a unit test or for your own load.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - url: The URL.
  ///   - fields: The header fields.
  ///   - body: The body.
  ///   - options: Timeout, cache policy and the like.
  ///   - context: The context of the session that the load belongs to.
  public init(
    _ method: HTTPRequest.Method, _ url: URL, fields: HTTPFields = [:], body: MessageBody = .empty,
    options: Options = Options(),
    context: LoadContext = LoadContext()
  ) {
    let parts = Parts(method: method, url: url, fields: fields, options: options)
    storage = CopyOnWrite(Content(id: .next(), context: context, parts: parts, body: body, isProjected: false))
  }

  /// Makes a request from a URL literal.
  ///
  /// - Precondition: `url` is a valid URL. For text that is not a literal in your source, use `URL(string:)`.
  public init(
    _ method: HTTPRequest.Method, _ url: StaticString, fields: HTTPFields = [:], body: MessageBody = .empty,
    options: Options = Options(),
    context: LoadContext = LoadContext()
  ) {
    guard let parsed = URL(string: "\(url)") else { preconditionFailure("\"\(url)\" is not a URL") }
    self.init(method, parsed, fields: fields, body: body, options: options, context: context)
  }

  /// A typed annotation, which one interceptor leaves for a later one or for a transport.
  ///
  /// ```swift
  /// enum Tenant: InterceptedRequest.Key { static let defaultValue = "none" }
  ///
  /// request[Tenant.self] = "acme"
  /// ```
  ///
  /// Annotations travel with the request to the interceptors after this one and to the transport; they are never sent.
  /// A redirect starts with the annotations that the load began with.
  public subscript<K: Key>(_ key: K.Type) -> K.Value {
    get {
      // Test for a missing value first: for a key with optional values, `nil as? K.Value` succeeds.
      guard let note = storage.value.notes[ObjectIdentifier(key)] else { return K.defaultValue }
      return note as? K.Value ?? K.defaultValue
    }
    set {
      var value = newValue
      // Do not combine the cast with `??`: for a key with optional values, `nil` is a value.
      if K.self == Route.self, let route = newValue as? Route, let bound = route.bound(to: url) as? K.Value {
        value = bound
      }
      storage.value.notes[ObjectIdentifier(key)] = value
    }
  }

  /// The name and type of an annotation.
  public protocol Key {
    /// The type of the annotation's value.
    associatedtype Value: Sendable
    /// The value for a request without the annotation.
    static var defaultValue: Value { get }
  }

  /// The identifier of a load, unique in the process.
  public struct ID: Hashable, Sendable, CustomStringConvertible {
    let number: UInt64

    private static let counter = Locked<UInt64>(0)

    static func next() -> ID {
      counter.withLock { number in
        number += 1
        return ID(number: number)
      }
    }

    /// The identifier as text.
    public var description: String { String(number) }
  }
}

/// Whether the body is that of an upload task, whose `URLRequest` has none. It gets no default `Content-Type`, and
/// protocol classes below do not see it, as without interception (P9).
enum UploadedBody: InterceptedRequest.Key {
  static let defaultValue = false
}

extension InterceptedRequest {
  /// Settings of a load that are not sent to the server.
  ///
  /// ```swift
  /// var attempt = request
  /// attempt.options.timeout = 5
  /// return try await next(attempt)
  /// ```
  public struct Options: Sendable, Hashable {
    /// Whether a cache may answer, and whether the load may use the network.
    public var cachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy
    /// Seconds without progress after which the load times out; `nil` uses the session's timeout. Zero and negative
    /// values mean "never".
    ///
    /// The 60 s of a `URLRequest` whose timeout was never set count as `nil`.
    public var timeout: TimeInterval?
    /// The time at which the load fails with `WaylayError.timedOut`, including its redirects, its retries and the
    /// reading of its body. Set it in the first interceptor; it applies to all later hops and attempts, which can only
    /// make it earlier. With `nil`, only the session's `timeoutIntervalForResource` applies.
    ///
    /// ```swift
    /// Intercept(request: { $0.options.deadline = $0.options.deadline ?? .now + .seconds(10) })
    /// ```
    ///
    /// Interceptors that wait, such as `Retry`, give up early if the deadline would pass first.
    public var deadline: ContinuousClock.Instant?
    /// Whether to send stored cookies and to store those of the response.
    public var handlesCookies = true
    /// The networks the load may use, for transports that can distinguish them.
    public var networkAccess = NetworkAccess.all
    /// The kind of traffic, for transports that prioritize.
    public var serviceType = URLRequest.NetworkServiceType.default
    /// Whether a second server may receive the request while the first one is slow, as `HostRewriter` does for safe
    /// methods; set it to `false` for a request that is expensive for a server, such as a report that takes a minute.
    public var allowsHedging = true
    /// The main document of the load, which determines the rules for third-party cookies.
    public var mainDocumentURL: URL?

    /// Makes the options of a new request.
    public init() {}
  }

  /// The kinds of network that a request may use.
  public struct NetworkAccess: OptionSet, Sendable, Hashable {
    /// The raw bits.
    public let rawValue: Int

    /// Makes a set of the given bits.
    public init(rawValue: Int) {
      self.rawValue = rawValue
    }

    /// A cellular network.
    public static let cellular = NetworkAccess(rawValue: 1 << 0)
    /// An expensive network, such as a personal hotspot. Not known on Linux.
    public static let expensive = NetworkAccess(rawValue: 1 << 1)
    /// A network in Low Data Mode. Not known on Linux.
    public static let constrained = NetworkAccess(rawValue: 1 << 2)
    /// Any network.
    public static let all: NetworkAccess = [.cellular, .expensive, .constrained]
  }
}

extension InterceptedRequest.Options {
  /// The options of a `URLRequest`.
  init(_ request: URLRequest) {
    cachePolicy = request.cachePolicy
    timeout = Self.timeout(of: request)
    handlesCookies = request.httpShouldHandleCookies
    networkAccess = RequestNetworkAccess.read(from: request)
    serviceType = request.networkServiceType
    mainDocumentURL = request.mainDocumentURL.flatMap(RequestNote.document)
  }

  /// The explicit timeout of a `URLRequest`; `nil` if it has the default.
  static func timeout(of request: URLRequest) -> TimeInterval? {
    request.timeoutInterval == LoadContext.defaultRequestTimeout ? nil : request.timeoutInterval
  }

  /// Applies the options to a `URLRequest`.
  func apply(to request: inout URLRequest) {
    request.cachePolicy = cachePolicy
    request.timeoutInterval = timeout ?? LoadContext.defaultRequestTimeout
    request.httpShouldHandleCookies = handlesCookies
    RequestNetworkAccess.write(networkAccess, to: &request)
    request.networkServiceType = serviceType
    let note = request.interceptorNote
    request.mainDocumentURL = mainDocumentURL
    if let note { request.interceptorNote = note }
  }
}

extension InterceptedRequest {
  /// Whether the request's method is safe, so that two servers may receive it at once (RFC 9110, section 9.2.1): GET,
  /// HEAD, OPTIONS, TRACE and QUERY (RFC 10008).
  public var isSafe: Bool { [.get, .head, .options, .trace].contains(method) || method.rawValue == "QUERY" }

  /// Whether the request may be sent again even if the server may have processed it (RFC 9110, section 9.2.2): the safe
  /// methods, PUT and DELETE.
  ///
  /// ``MessageBody/isReplayable`` tells whether the body can be sent again.
  public var isIdempotent: Bool { isSafe || [.put, .delete].contains(method) }
}
