#if !canImport(Darwin)
  import Foundation
  package import FoundationNetworking

  // The twin of Platform/Apple/Darwin.swift: what the Apple half is built on when it runs on Linux, against the model.

  /// What a protocol class of ours is in the model; the initialiser is `required` on Linux.
  class PlatformProtocol: URLProtocol {
    final var ownership: Installation.Ownership?
    fileprivate let clock = ModelClock()

    /// What a task would expect to send.
    final var expectedBodyLength: Int64? {
      (RequestProperty.value(ModelPatience.length, of: request) as? Int).map { Int64($0) }
    }

    final var owner: (any AnyObject & Sendable)? { (client as? any ModelClient)?.owner }

    /// Waits until the model says that a second has passed.
    final func second() async throws { try await clock.second() }

    required init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {
      super.init(request: request, cachedResponse: cachedResponse, client: client)
    }
  }

  /// What the model says to a protocol object beside the calls of `URLProtocol`.
  package enum ModelPatience {
    /// The property of a request that says what its task expects to send.
    package static let length = "model.length"

    /// The clock of a protocol object of ours.
    package static func clock(of object: URLProtocol) -> ModelClock? { (object as? PlatformProtocol)?.clock }

    /// No one has this request any more.
    package static func release(_ request: URLRequest) { RequestProperty.release(RequestHold.key, of: request) }
  }

  /// The time of a protocol object: a second passes when the model says so, and only while the object waits for one.
  package final class ModelClock: Sendable {
    private struct State {
      var now = 0
      /// How many waits end with the next second.
      var waiting = 0
      var waiters = Waiters()
      var model = Waiters()
    }

    private let state = Locked(State())

    fileprivate func second() async throws {
      let due = state.change(waking: \.model) { state in
        state.waiting += 1
        return state.now + 1
      }
      await state.wait(at: \.waiters) { $0.now >= due }
      state.withLock { if $0.now < due { $0.waiting -= 1 } }
      try Task.checkCancellation()
    }

    /// Lets a second pass, as soon as the object waits for one.
    package func tick() async {
      await state.wait(at: \.model) { $0.waiting > 0 }
      guard !Task.isCancelled else { return }
      state.change(waking: \.waiters) { state in
        state.now += 1
        state.waiting = 0
      }
    }
  }

  /// A client of the model, whose objects are one after another those of a task.
  package protocol ModelClient: AnyObject {
    var owner: any AnyObject & Sendable { get }
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
  ///
  /// A value that is no property list is lost, as in a copy of a request that is made as one.
  package enum RequestProperty {
    private static let scheme = "apple-model"
    private static let original = "original"
    /// The objects among the values. Requests have values here: the model says when the last copy of one is released.
    private static let objects = Locked<(last: Int, retained: [Int: NSData])>((0, [:]))

    private static func retain(_ data: NSData) -> Int {
      objects.withLock { objects in
        objects.last += 1
        objects.retained[objects.last] = data
        return objects.last
      }
    }

    private static func text(_ key: String, of request: URLRequest) -> String? {
      values(of: request).first { $0.name == key }?.value
    }

    fileprivate static func release(_ key: String, of request: URLRequest) {
      guard let text = text(key, of: request), let number = Int(text.dropFirst()) else { return }
      // Released outside of the lock.
      _ = objects.withLock { $0.retained.removeValue(forKey: number) }
    }

    /// Whether a value is no property list.
    package static func isMisused(in request: URLRequest) -> Bool {
      values(of: request).contains { $0.name != original && $0.value == misuse }
    }

    private static let misuse = "x"

    private static func values(of request: URLRequest) -> [URLQueryItem] {
      guard let url = request.mainDocumentURL, url.scheme == scheme else {
        return request.mainDocumentURL.map { [URLQueryItem(name: original, value: $0.absoluteString)] } ?? []
      }
      return URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems ?? []
    }

    package static func value(_ key: String, of request: URLRequest) -> Any? {
      guard key != original, let text = text(key, of: request), text != misuse else { return nil }
      switch text.prefix(1) {
      case "d": return Int(text.dropFirst()).flatMap { number in objects.withLock { $0.retained[number] } }
      case "i": return Int(text.dropFirst())
      case "u": return UInt64(text.dropFirst())
      default: return String(text.dropFirst())
      }
    }

    package static func setting(_ changes: [String: Any?], in request: URLRequest) -> URLRequest {
      var items = values(of: request).filter { changes.index(forKey: $0.name) == nil }
      for (key, value) in changes {
        switch value {
        case nil: break
        case let data as NSData: items.append(URLQueryItem(name: key, value: "d\(retain(data))"))
        case let number as Int: items.append(URLQueryItem(name: key, value: "i\(number)"))
        case let number as UInt64: items.append(URLQueryItem(name: key, value: "u\(number)"))
        case let text as String: items.append(URLQueryItem(name: key, value: "s" + text))
        default: items.append(URLQueryItem(name: key, value: misuse))
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
