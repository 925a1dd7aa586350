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
/// For the unit test of an interceptor, make one yourself:
///
/// ```swift
/// let request = InterceptedRequest(.post, "https://api.example.com/v1/users", fields: [.accept: "application/json"], body: .text("Ada"))
/// ```
public struct InterceptedRequest: Sendable {
  var storage: Storage

  /// What a request consists of, behind one reference: a request is passed down every chain, and changed in few of its
  /// links.
  final class Storage: @unchecked Sendable {
    // Unchecked: changed only while uniquely referenced, like the storage of any copy-on-write value.
    let id: ID
    let context: LoadContext
    var method: HTTPRequest.Method
    var url: URL
    var fields: HTTPFields
    var options: Options
    var body: MessageBody
    var attempt = 1
    var hop = 0
    var notes: [ObjectIdentifier: any Sendable] = [:]
    /// The request of the loading system that this one was made from, with what has no name here.
    var source: URLRequest?
    /// Whether `source` says what the parts say.
    var isProjected = false
    /// What the loading system's request has that no HTTP message can have: whoever sends it fails.
    var defect: Defect?
    /// What the loop guard's tag says, for whoever takes the request out of the chain.
    var lineage: Lineage?
    /// Who hears of its exchange, once it is at the transport.
    var observer: TransportObserver?

    init(id: ID, context: LoadContext, parts: consuming Parts, body: consuming MessageBody) {
      self.id = id
      self.context = context
      method = parts.method
      url = parts.url
      fields = parts.fields
      options = parts.options
      source = parts.source
      isProjected = parts.source != nil
      defect = parts.defect
      self.body = body
    }

    func copy() -> Storage {
      let parts = Parts(method: method, url: url, fields: fields, options: options, source: source, defect: defect)
      let copy = Storage(id: id, context: context, parts: parts, body: body)
      (copy.attempt, copy.hop, copy.notes) = (attempt, hop, notes)
      (copy.isProjected, copy.lineage, copy.observer) = (isProjected, lineage, observer)
      return copy
    }
  }

  var unique: Storage {
    mutating get {
      if !isKnownUniquelyReferenced(&storage) { storage = storage.copy() }
      return storage
    }
  }

  /// The same for one of the parts that the loading system's request has, too.
  private var changed: Storage {
    mutating get {
      let storage = unique
      storage.isProjected = false
      return storage
    }
  }

  /// The load's number: the same across retries, redirects and credentials.
  public var id: ID { storage.id }

  /// The method.
  public var method: HTTPRequest.Method {
    get { storage.method }
    set { changed.method = newValue }
  }

  /// The URL.
  public var url: URL {
    get { storage.url }
    set {
      let storage = changed
      storage.url = newValue
      if storage.defect == .withoutURL { storage.defect = nil }
    }
  }

  /// The header fields, in order and with duplicates kept: as they go on the wire.
  ///
  /// Those of a request that comes from the loading system, which keeps no order, are sorted by name.
  public var fields: HTTPFields {
    get { storage.fields }
    _modify { yield &changed.fields }
  }

  /// The body: the only truth about it, whatever kind of task the request came from.
  public var body: MessageBody {
    get { storage.body }
    _modify { yield &unique.body }
  }

  /// Cache policy, timeout and what else is said of the load rather than to the server.
  public var options: Options {
    get { storage.options }
    _modify { yield &changed.options }
  }

  /// Which try of this hop it is, from 1. Counted by ``InterceptorChain/Next``.
  public internal(set) var attempt: Int {
    get { storage.attempt }
    set { unique.attempt = newValue }
  }

  /// How many redirects came before, from 0.
  public internal(set) var hop: Int {
    get { storage.hop }
    set { unique.hop = newValue }
  }

  /// Whose load this is: cookie and credential storage, timeouts, additional header fields.
  public var context: LoadContext { storage.context }

  /// Seconds without progress after which the request times out: its own ``Options/timeout``, or the session's.
  public var idleTimeout: TimeInterval { options.timeout ?? context.requestTimeout }

  /// Makes a request for a unit test or for a load of one's own.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - url: The URL.
  ///   - fields: The header fields.
  ///   - body: The body.
  ///   - options: Timeout, cache policy and the like.
  ///   - context: Whose load it is.
  public init(
    _ method: HTTPRequest.Method, _ url: URL, fields: HTTPFields = [:], body: MessageBody = .empty,
    options: Options = Options(),
    context: LoadContext = LoadContext()
  ) {
    storage = Storage(
      id: .next(), context: context, parts: Parts(method: method, url: url, fields: fields, options: options),
      body: body)
  }

  /// The same with the URL as a literal.
  ///
  /// - Precondition: `url` is one. For a text that is not written in the source, use `URL(string:)`.
  public init(
    _ method: HTTPRequest.Method, _ url: StaticString, fields: HTTPFields = [:], body: MessageBody = .empty,
    options: Options = Options(),
    context: LoadContext = LoadContext()
  ) {
    guard let parsed = URL(string: "\(url)") else { preconditionFailure("\"\(url)\" is not a URL") }
    self.init(method, parsed, fields: fields, body: body, options: options, context: context)
  }

  /// A typed note: what one interceptor tells a later one, or a transport.
  ///
  /// ```swift
  /// enum Tenant: InterceptedRequest.Key { static let defaultValue = "none" }
  ///
  /// request[Tenant.self] = "acme"
  /// ```
  ///
  /// Notes travel with the request to the links after this one and to the transport, and never reach the wire. A
  /// redirect starts with the notes that the load began with.
  public subscript<K: Key>(_ key: K.Type) -> K.Value {
    get {
      // Not by `as?` of what may not be there: that is a value of a key whose values are optional.
      guard let note = storage.notes[ObjectIdentifier(key)] else { return K.defaultValue }
      return note as? K.Value ?? K.defaultValue
    }
    set {
      var value = newValue
      // Not by `??` behind a cast: nothing at all is a value, too, of a key whose values are optional.
      if K.self == Route.self, let route = newValue as? Route, let bound = route.bound(to: url) as? K.Value {
        value = bound
      }
      unique.notes[ObjectIdentifier(key)] = value
    }
  }

  /// The name and type of a note.
  public protocol Key {
    /// What is noted.
    associatedtype Value: Sendable
    /// What a request without the note answers.
    static var defaultValue: Value { get }
  }

  /// The number of a load, unique in the process.
  public struct ID: Hashable, Sendable, CustomStringConvertible {
    let number: UInt64

    private static let counter = Locked<UInt64>(0)

    static func next() -> ID {
      ID(
        number: counter.withLock {
          $0 += 1
          return $0
        })
    }

    /// The number as text.
    public var description: String { String(number) }
  }
}

/// Whether the body is an upload task's, which has none in its request: no type is made up for it, and protocol classes
/// beneath do not see it, as without us (P9).
enum UploadedBody: InterceptedRequest.Key {
  static let defaultValue = false
}
