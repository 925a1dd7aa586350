import Foundation

/// A request on its way through a chain.
///
/// ```swift
/// func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
///   var request = request
///   request.urlRequest.setValue("Bearer \(await tokens.current)", forHTTPHeaderField: "Authorization")
///   return try await next(request)
/// }
/// ```
///
/// For the unit test of an interceptor, make one yourself: `InterceptedRequest(URLRequest(url: url))`.
public struct InterceptedRequest: Sendable {
  private var storage: Storage

  /// What a request consists of, behind one reference: a request is passed down every chain, and changed in few of its links.
  private final class Storage: @unchecked Sendable {
    // Unchecked: changed only while uniquely referenced, like the storage of any copy-on-write value.
    let id: ID
    let context: LoadContext
    var urlRequest: URLRequest
    var body: MessageBody
    var attempt: Int
    var hop: Int
    var notes: [ObjectIdentifier: any Sendable] = [:]
    /// What the tag is to say that whoever looks at the `URLRequest` finds on it; `nil` when there is none, or it is on already.
    var pendingTag: Lineage?

    init(id: ID, context: LoadContext, urlRequest: URLRequest, body: MessageBody, attempt: Int, hop: Int) {
      self.id = id
      self.context = context
      self.urlRequest = urlRequest
      self.body = body
      self.attempt = attempt
      self.hop = hop
    }

    func copy() -> Storage {
      let copy = Storage(id: id, context: context, urlRequest: urlRequest, body: body, attempt: attempt, hop: hop)
      copy.notes = notes
      copy.pendingTag = pendingTag
      return copy
    }
  }

  private var unique: Storage {
    mutating get {
      if !isKnownUniquelyReferenced(&storage) { storage = storage.copy() }
      return storage
    }
  }

  /// The load's number: the same across retries, redirects and credentials.
  public var id: ID { storage.id }

  /// Method, URL and header fields. It never carries `httpBody` or `httpBodyStream` inside a chain: ``body`` does.
  ///
  /// Its `mainDocumentURL` may hold the loop guard's tag (Linux); the transport takes it off again.
  public var urlRequest: URLRequest {
    get {
      guard let tag = storage.pendingTag else { return storage.urlRequest }
      var tagged = storage.urlRequest
      RequestTag.tag(&tagged, with: tag)
      return tagged
    }
    _modify {
      let storage = unique
      if let tag = storage.pendingTag {
        RequestTag.tag(&storage.urlRequest, with: tag)
        storage.pendingTag = nil
      }
      yield &storage.urlRequest
    }
  }

  /// The request without a tag that is not on it yet: what the core itself looks at, and changes before the tag is due.
  package var untagged: URLRequest {
    get { storage.urlRequest }
    _modify { yield &unique.urlRequest }
  }

  /// Puts the loop guard's tag on, when somebody looks at the request; making it costs as much as a short chain.
  mutating func tag(with lineage: Lineage) {
    // Whoever keeps a request, a history for one, must not keep the load that it came from, and with it the chain.
    unique.pendingTag = lineage.withoutLoads
  }

  /// Takes the tag off, for the wire.
  mutating func stripTag() {
    if storage.pendingTag != nil {
      unique.pendingTag = nil
    } else {
      RequestTag.strip(&unique.urlRequest)
    }
  }

  /// The body: the only truth about it, whatever kind of task the request came from.
  public var body: MessageBody {
    get { storage.body }
    _modify { yield &unique.body }
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

  /// Makes a request for a unit test or for a load of one's own.
  ///
  /// - Parameters:
  ///   - urlRequest: The request. An `httpBody` or `httpBodyStream` moves into ``body``.
  ///   - body: The body, in place of the one that `urlRequest` carries.
  ///   - context: Whose load it is.
  public init(_ urlRequest: URLRequest, body: MessageBody? = nil, context: LoadContext = LoadContext()) {
    let (bare, carried) = Self.separatingBody(of: urlRequest)
    self.init(id: ID.next(), urlRequest: bare, body: body ?? carried, attempt: 1, hop: 0, context: context)
  }

  init(id: ID, urlRequest: URLRequest, body: MessageBody, attempt: Int, hop: Int, context: LoadContext) {
    storage = Storage(id: id, context: context, urlRequest: urlRequest, body: body, attempt: attempt, hop: hop)
  }

  /// The URL, or `nil` for a request that was made without one.
  public var url: URL? { storage.urlRequest.url }

  /// The method in upper case, `GET` where none was set.
  public var method: String { (storage.urlRequest.httpMethod ?? "GET").uppercased() }

  /// A typed note: what one interceptor tells a later one, or a transport.
  ///
  /// ```swift
  /// enum Tenant: InterceptedRequest.Key { static let defaultValue = "none" }
  ///
  /// request[Tenant.self] = "acme"
  /// ```
  ///
  /// Notes travel with the request to the links after this one and to the transport, and never reach the wire. A redirect starts
  /// with the notes that the load began with.
  public subscript<K: Key>(_ key: K.Type) -> K.Value {
    get {
      // Not by `as?` of what may not be there: that is a value of a key whose values are optional.
      guard let note = storage.notes[ObjectIdentifier(key)] else { return K.defaultValue }
      return note as? K.Value ?? K.defaultValue
    }
    set {
      var value = newValue
      // Not by `??` behind a cast: nothing at all is a value, too, of a key whose values are optional.
      if K.self == Route.self, let route = newValue as? Route, let bound = route.bound(to: url) as? K.Value { value = bound }
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

extension InterceptedRequest {
  /// The request without its body, and the body: data as data, a stream as a body that can be read once.
  static func separatingBody(of urlRequest: URLRequest) -> (URLRequest, MessageBody) {
    var bare = urlRequest
    if let data = urlRequest.httpBody {
      bare.httpBody = nil
      return (bare, .data(data))
    }
    if let stream = urlRequest.httpBodyStream {
      bare.httpBodyStream = nil
      return (bare, .stream(reading: stream))
    }
    return (bare, .empty)
  }

  /// The same notes and numbers for another hop.
  func redirected(to urlRequest: URLRequest, body: MessageBody) -> InterceptedRequest {
    var next = self
    next.untagged = urlRequest
    next.body = body
    next.attempt = 1
    next.hop += 1
    next.route = nil
    return next
  }
}

/// Whether the body is an upload task's, which has none in its request: no type is made up for it, and protocol classes beneath do not see it, as without
/// us (P9).
enum UploadedBody: InterceptedRequest.Key {
  static let defaultValue = false
}
