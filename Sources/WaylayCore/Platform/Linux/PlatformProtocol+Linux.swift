#if CORELIBS_FOUNDATION
  import Foundation

  /// The base class of Waylay's protocol classes on Linux, where the initialiser is `required`, without `override`.
  class PlatformProtocol: URLProtocol {
    /// The ownership that `canInit` determined right before this object was made, in the code that resumed the task.
    final var ownership: Installation.Ownership?
    /// The caller of the task's `async` function; set at the beginning of `startLoading`.
    final var caller: TaskCaller?

    required init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {
      // On Linux this runs inside `resume()`, right after `canInit` and on the same thread (P7).
      ownership = PendingOwnership.take(for: Self.self, request)
      super.init(request: request, cachedResponse: cachedResponse, client: client)
    }

    /// Keeps the result of `canInit` for the object that is made next.
    final class func keep(_ ownership: Installation.Ownership) { PendingOwnership.keep(ownership) }
  }

  /// An ownership on its way from `canInit` to the protocol object that is made for it.
  ///
  /// On Linux the loading system asks `canInit` and makes the object in one go, on one thread, inside the app's
  /// `resume()` (P6, P7). So it waits in a thread-specific variable; an object that finds the ownership of another
  /// class or URL there asks the chains again.
  enum PendingOwnership {
    private static let key: pthread_key_t = {
      var key = pthread_key_t()
      let result = pthread_key_create(&key) { slot in
        if let slot { Unmanaged<Installation.Ownership>.fromOpaque(slot).release() }
      }
      precondition(result == 0, "a thread slot could not be made: error \(result)")
      return key
    }()

    static func keep(_ ownership: Installation.Ownership) {
      let previous = pthread_getspecific(key)
      pthread_setspecific(key, Unmanaged.passRetained(ownership).toOpaque())
      if let previous { Unmanaged<Installation.Ownership>.fromOpaque(previous).release() }
    }

    static func take(for owner: URLProtocol.Type, _ request: URLRequest) -> Installation.Ownership? {
      guard let pointer = pthread_getspecific(key) else { return nil }
      pthread_setspecific(key, nil)
      let ownership = Unmanaged<Installation.Ownership>.fromOpaque(pointer).takeRetainedValue()
      return ownership.owner == ObjectIdentifier(owner) && ownership.request.url == request.url ? ownership : nil
    }
  }

  extension RequestTag {
    /// `nil`: on Linux, all hops stay inside one load.
    static func origin(of request: URLRequest) -> URL? { nil }

    /// The lineage of the request's tag, if it has one.
    static func lineage(of request: URLRequest) -> Lineage? {
      guard let url = request.mainDocumentURL else { return nil }
      return parse(url.absoluteString)?.lineage
    }

    /// Adds a tag to the request.
    static func tag(_ request: inout URLRequest, with lineage: Lineage) {
      strip(&request)
      request.mainDocumentURL = URL(string: text(for: lineage, original: request.mainDocumentURL?.absoluteString))
    }

    /// Removes the tag from the request.
    static func strip(_ request: inout URLRequest) {
      guard let url = request.mainDocumentURL, let tag = parse(url.absoluteString) else { return }
      request.mainDocumentURL = tag.original.flatMap { URL(string: $0) }
    }
  }

  /// The note behind `URLRequest.interceptorNote`, in the same property as the loop guard's tag.
  enum RequestNote {
    private static let scheme = "waylay-note"

    /// The query of a URL that carries a note: the note, and the main document that the app set.
    private static func items(of url: URL?) -> [URLQueryItem]? {
      guard let url, url.scheme == scheme else { return nil }
      return URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems
    }

    static func read(from request: URLRequest) -> String? {
      guard request.mainDocumentURL != nil else { return nil }
      var request = request
      RequestTag.strip(&request)
      return items(of: request.mainDocumentURL)?.first?.value
    }

    static func write(_ note: String?, to request: inout URLRequest) {
      let lineage = RequestTag.lineage(of: request)
      RequestTag.strip(&request)
      let document = request.mainDocumentURL.flatMap(document)
      var parts = URLComponents()
      parts.scheme = scheme
      parts.path = "note"
      parts.queryItems = [
        URLQueryItem(name: "note", value: note), URLQueryItem(name: "document", value: document?.absoluteString),
      ]
      request.mainDocumentURL = note == nil ? document : parts.url
      if let lineage { RequestTag.tag(&request, with: lineage) }
    }

    /// The app's own main document.
    static func document(of url: URL) -> URL? {
      guard let items = items(of: url) else { return url }
      return items.last?.value.flatMap { URL(string: $0) }
    }
  }

  /// The networks that a `URLRequest` may use: on Linux it only has cellular access, and no transport distinguishes
  /// networks.
  enum RequestNetworkAccess {
    static func read(from request: URLRequest) -> InterceptedRequest.NetworkAccess {
      request.allowsCellularAccess ? .all : InterceptedRequest.NetworkAccess.all.subtracting(.cellular)
    }

    static func write(_ access: InterceptedRequest.NetworkAccess, to request: inout URLRequest) {
      request.allowsCellularAccess = access.contains(.cellular)
    }
  }
#endif
