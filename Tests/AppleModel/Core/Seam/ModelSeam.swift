#if !canImport(Darwin)
  import Foundation
  package import FoundationNetworking

  // The twin of Platform/Apple/Darwin.swift: what the Apple half is built on when it runs on Linux, against the model.

  /// What a protocol class of ours is in the model; the initialiser is `required` on Linux.
  class PlatformProtocol: URLProtocol {
    final var ownership: Installation.Ownership?
    fileprivate let (seconds, clock) = AsyncStream.makeStream(of: Void.self)

    /// What a task would expect to send.
    final var expectedBodyLength: Int64? {
      (RequestProperty.value(ModelPatience.length, of: request) as? Int).map { Int64($0) }
    }

    final var owner: (any AnyObject & Sendable)? { (client as? any ModelClient)?.owner }

    /// Waits until the model says that a second has passed.
    final func second() async throws {
      for await _ in seconds { return }
      throw CancellationError()
    }

    required init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {
      super.init(request: request, cachedResponse: cachedResponse, client: client)
    }
  }

  /// What the model says to a protocol object beside the calls of `URLProtocol`.
  package enum ModelPatience {
    /// The property of a request that says what its task expects to send.
    package static let length = "model.length"

    /// A second has passed in which the app has said nothing to a redirect.
    package static func tick(_ object: URLProtocol) {
      (object as? PlatformProtocol)?.clock.yield()
    }

    /// No one has this request any more.
    package static func release(_ request: URLRequest) {
      guard let number = RequestProperty.value(RequestHold.key, of: request) as? Int else { return }
      RequestHold.held.withLock { _ = $0.remove(number) }
    }
  }

  /// A client of the model, whose objects are one after another those of a task.
  package protocol ModelClient: AnyObject {
    var owner: any AnyObject & Sendable { get }
  }

  /// Requests have values here: the model says when one is released.
  struct RequestHold: Sendable {
    fileprivate static let key = "model.hold"
    fileprivate static let held = Locked<Set<Int>>([])
    private static let last = Locked(0)

    private let number: Int

    var isHeld: Bool { Self.held.withLock { $0.contains(number) } }

    static func on(_ request: URLRequest) -> (URLRequest, RequestHold) {
      let number = last.withLock { last in
        last += 1
        return last
      }
      held.withLock { _ = $0.insert(number) }
      return (RequestProperty.setting([key: number], in: request), RequestHold(number: number))
    }
  }

  /// The run loop that `startLoading` was called in, and its mode.
  struct ClientThread: Sendable {
    private let runLoop: ModelRunLoop
    private let modes: Set<ModelRunLoop.Mode>

    init() {
      guard let runLoop = ModelRunLoop.current else {
        preconditionFailure("startLoading was not called on a thread of the model")
      }
      self.runLoop = runLoop
      modes = [.standard, runLoop.currentMode]
    }

    func perform(_ work: @escaping @Sendable () -> Void) {
      runLoop.perform(in: modes, work)
    }
  }

  /// Properties of a request. They travel in `mainDocumentURL`, because those of `URLProtocol` are lost on Linux (P8).
  package enum RequestProperty {
    private static let scheme = "apple-model"
    private static let original = "original"

    private static func values(of request: URLRequest) -> [URLQueryItem] {
      guard let url = request.mainDocumentURL, url.scheme == scheme else {
        return request.mainDocumentURL.map { [URLQueryItem(name: original, value: $0.absoluteString)] } ?? []
      }
      return URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems ?? []
    }

    package static func value(_ key: String, of request: URLRequest) -> Any? {
      guard key != original, let text = values(of: request).first(where: { $0.name == key })?.value else { return nil }
      switch text.prefix(1) {
      case "i": return Int(text.dropFirst())
      case "u": return UInt64(text.dropFirst())
      default: return String(text.dropFirst())
      }
    }

    package static func setting(_ changes: [String: Any?], in request: URLRequest) -> URLRequest {
      var items = values(of: request).filter { changes.index(forKey: $0.name) == nil }
      for (key, value) in changes {
        switch value {
        case let number as Int: items.append(URLQueryItem(name: key, value: "i\(number)"))
        case let number as UInt64: items.append(URLQueryItem(name: key, value: "u\(number)"))
        case let text as String: items.append(URLQueryItem(name: key, value: "s" + text))
        default: break
        }
      }
      var changed = request
      if items.allSatisfy({ $0.name == original }) {
        changed.mainDocumentURL = items.first?.value.flatMap { URL(string: $0) }
      } else {
        var parts = URLComponents()
        parts.scheme = scheme
        parts.host = "properties"
        parts.queryItems = items
        changed.mainDocumentURL = parts.url
      }
      return changed
    }
  }

  /// A request on Linux says nothing of networks that cost.
  enum RequestNetworkAccess {
    static func read(from request: URLRequest) -> InterceptedRequest.NetworkAccess {
      request.allowsCellularAccess ? .all : InterceptedRequest.NetworkAccess.all.subtracting(.cellular)
    }

    static func write(_ access: InterceptedRequest.NetworkAccess, to request: inout URLRequest) {
      request.allowsCellularAccess = access.contains(.cellular)
    }
  }

  extension URLSessionConfiguration {
    /// The setting is unavailable on Linux; one that the model has no use for stands for it.
    package var waitsForNetwork: Bool {
      get { httpMaximumConnectionsPerHost == 1 }
      set { httpMaximumConnectionsPerHost = newValue ? 1 : 6 }
    }

    /// Whether the loader asks protocol classes; another setting without a use for the model stands for it.
    package var usesClassicLoadingMode: Bool {
      get { allowsCellularAccess }
      set { allowsCellularAccess = newValue }
    }

    func useClassicLoader() { usesClassicLoadingMode = true }
  }

  extension URLAuthenticationChallenge {
    /// There are no such challenges on Linux (U4).
    var isServerTrust: Bool { false }
    var asksForCertificate: Bool { false }
    var leafCertificate: Data? { nil }
  }

  extension URLCredential {
    /// Foundation on Linux has no identities.
    static func certificate(_ certificate: ClientCertificate) -> URLCredential? { nil }
  }

  extension URLAuthenticationChallenge {
    var isForLoad: Bool {
      let methods = [
        NSURLAuthenticationMethodDefault, NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest,
      ]
      return methods.contains(protectionSpace.authenticationMethod)
    }
  }

  /// The method of a task's delegate that Foundation on Linux does not have.
  package protocol ConnectivityDelegate {
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)
  }

  extension ExchangeTable: ConnectivityDelegate {}

  extension Stream {
    /// Foundation on Linux has no such pair.
    static func boundPair(bufferSize: Int) -> (input: InputStream?, output: OutputStream?) {
      let buffer = PairBuffer(capacity: bufferSize)
      return (PairInput(buffer), PairOutput(buffer))
    }
  }
#endif
