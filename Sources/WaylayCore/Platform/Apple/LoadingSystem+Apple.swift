#if !CORELIBS_FOUNDATION || WAYLAY_APPLE_MODEL
  import Foundation

  extension RequestTag {
    fileprivate static let key = "waylay.lineage"

    /// The URL the app asked for, when `request` is a later hop.
    static func origin(of request: URLRequest) -> URL? { RedirectTag.origin(of: request) }

    /// The lineage of the request's tag, if it has one.
    static func lineage(of request: URLRequest) -> Lineage? {
      (RequestProperty.value(key, of: request) as? String).flatMap { parse($0)?.lineage }
    }

    /// Adds a tag to the request.
    static func tag(_ request: inout URLRequest, with lineage: Lineage) {
      request = RequestProperty.setting([key: text(for: lineage)], in: request)
    }

    /// Removes the tag from the request.
    static func strip(_ request: inout URLRequest) {
      guard RequestProperty.value(key, of: request) != nil else { return }
      request = RequestProperty.setting([key: nil], in: request)
    }
  }

  /// The property of a request behind `URLRequest.interceptorNote`.
  enum RequestNote {
    private static let key = "waylay.note"

    static func read(from request: URLRequest) -> String? { RequestProperty.value(key, of: request) as? String }

    static func write(_ note: String?, to request: inout URLRequest) {
      request = RequestProperty.setting([key: note], in: request)
    }

    static func document(of url: URL) -> URL? { url }
  }

  /// The values that a redirect passes to the next protocol object. They are properties of its request, and are also
  /// stored by task, because an app may follow with another request.
  enum RedirectTag {
    private static let hopKey = "waylay.hop"
    private static let idKey = "waylay.id"
    private static let originKey = "waylay.origin"

    private struct Trail {
      weak var owner: (any AnyObject & Sendable)?
      let properties: [String: any Sendable]
    }

    private static let trails = Locked<[ObjectIdentifier: Trail]>([:])

    static func hop(of request: URLRequest) -> Int {
      RequestProperty.value(hopKey, of: request) as? Int ?? 0
    }

    static func id(of request: URLRequest) -> InterceptedRequest.ID? {
      (RequestProperty.value(idKey, of: request) as? UInt64).map { InterceptedRequest.ID(number: $0) }
    }

    /// The URL the app asked for, when `request` is a later hop.
    static func origin(of request: URLRequest) -> URL? {
      (RequestProperty.value(originKey, of: request) as? String).flatMap { URL(string: $0) }
    }

    /// A request that was made inside a load stays one over a redirect: it keeps its tag (rule 7).
    ///
    /// - Parameter owner: The task that will load the request.
    static func tagged(
      _ request: URLRequest, hop: Int, id: InterceptedRequest.ID, from source: URLRequest,
      of owner: (any AnyObject & Sendable)?
    ) -> URLRequest {
      var properties: [String: any Sendable] = [hopKey: hop, idKey: id.number]
      properties[originKey] = (origin(of: source) ?? source.url)?.absoluteString
      properties[RequestTag.key] = RequestProperty.value(RequestTag.key, of: source) as? String
      if let owner {
        trails.withLock { trails in
          trails = trails.filter { $0.value.owner != nil }
          trails[ObjectIdentifier(owner)] = Trail(owner: owner, properties: properties)
        }
      }
      return RequestProperty.setting(properties, in: request)
    }

    /// The request of a new protocol object, with the values of the last redirect of its task. Before the first redirect
    /// it has none: a request that an interceptor derives from the one of a later hop begins another load.
    static func restored(_ request: URLRequest, of owner: (any AnyObject & Sendable)?) -> URLRequest {
      guard let owner else { return request }
      guard let trail = trails.withLock({ $0[ObjectIdentifier(owner)] }), trail.owner === owner else {
        guard id(of: request) != nil else { return request }
        return RequestProperty.setting([hopKey: nil, idKey: nil, originKey: nil], in: request)
      }
      return RequestProperty.setting(trail.properties, in: request)
    }
  }

  /// Tells when no copy of a request is retained any more: all copies share the object in one of its properties.
  ///
  /// Properties must be property lists. CFNetwork prints "API MISUSE: properties set by +[NSURLProtocol
  /// setProperty:forKey:inRequest:] should only include property list types" for any other value, and a copy that is made
  /// of a request as a property list would be without it (SBTUITestTunnel pull request 192, PINRemoteImage issue 606). So
  /// the object is data, whose deallocator ends the hold. It is an `NSData`, because the copy of an immutable object is
  /// the object itself, while `Data` copies a few bytes into the value and frees them at once.
  /// https://developer.apple.com/documentation/foundation/nsdata/init(bytesnocopy:length:deallocator:)
  struct RequestHold: Sendable {
    static let key = "waylay.hold"

    /// Settled when the last copy of the request is released.
    let released = Promise<Void>()

    /// A copy of the request with this hold.
    func held(_ request: URLRequest) -> URLRequest {
      let count = 64
      let data = NSData(
        bytesNoCopy: .allocate(byteCount: count, alignment: 1), length: count,
        deallocator: { [released] bytes, _ in
          bytes.deallocate()
          released.settle(.success(()))
        })
      return RequestProperty.setting([Self.key: data], in: request)
    }
  }

  extension PlatformProtocol {
    /// A no-op: `canInit` may be called on any thread and any number of times, whether or not an object is made (P6).
    static func keep(_ ownership: Installation.Ownership) {}
  }

  // Written from the documentation, type-checked, and not run by this package's own checks, which run on Linux.
  // https://developer.apple.com/documentation/foundation/urlprotocol/registerclass(_:)
  // https://developer.apple.com/documentation/foundation/urlprotocol/unregisterclass(_:)

  /// The protocol classes of `URLSession.shared`, on Apple platforms, where classes are registered for it and asked
  /// last in, first out.
  enum SharedSession {
    /// Other sessions return a copy of their configuration, so changing it has no effect.
    static func canChange(_ session: URLSession) -> Bool { session === URLSession.shared }

    static func insert(_ protocolClass: URLProtocol.Type, into session: URLSession) {
      // The result is `false` only for a class that is not a subclass of `URLProtocol`.
      _ = URLProtocol.registerClass(protocolClass)
    }

    static func remove(_ protocolClass: URLProtocol.Type, from session: URLSession) {
      URLProtocol.unregisterClass(protocolClass)
    }
  }

  /// The default transport of a registry.
  package enum PlatformTransport {
    /// Makes a transport over a separate session.
    ///
    /// - Parameters:
    ///   - configuration: The settings of the session that it serves.
    ///   - limits: The limits for messages.
    ///   - security: Pins and client certificates.
    ///   - logger: Not used here.
    package static func make(
      _ configuration: URLSessionConfiguration, limits: MessageLimits = MessageLimits(),
      security: TransportSecurity = TransportSecurity(), logger: Logger?
    ) -> any Transport {
      URLSessionTransport(configuration: configuration, limits: limits, security: security)
    }

    /// The system keeps house by itself.
    static func rest(_ transport: (any Transport)?) {}
  }
#endif
