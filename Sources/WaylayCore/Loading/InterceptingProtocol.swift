// The walk, 1 of 5: the loading system asks `canInit` of the class that `ProtocolClasses` has made for an installation,
// keeps the `Ownership` that `Registry` finds, makes an object and calls `startLoading`. A `PlatformClient` reads the
// task, and a `ClientRelay` runs the `Load`, which `Lifecycle` takes through the chain. The relay passes the response to
// the client, on the task's own queue.

import Foundation

/// The bridge from the loading system: one object per task, of one class per installation.
///
/// Everything that differs between Linux and Apple platforms is in ``PlatformProtocol`` and ``PlatformClient``.
class InterceptingProtocol: PlatformProtocol {
  /// The installation of this class, until its registry is invalidated.
  private class var installation: Installation? { ProtocolClasses.installation(of: self) }

  /// The load under way. It holds this object, and is released with the last call to the client.
  private var relay: ClientRelay?
  private var hasStarted = false
  private var hasEnded = false

  override class func canInit(with request: URLRequest) -> Bool {
    // Fail closed: a class whose registry was invalidated accepts all requests, and `startLoading` fails them.
    guard let installation else {
      if PlatformClient.asksInCallersTask { ProtocolClasses.reportLate(request, to: self) }
      return true
    }
    if let isOurs = installation.isOurs, !isOurs(request) { return false }
    if request.httpMethod == InterceptionProbe.method { return true }
    let ownership = Installation.Ownership(
      request, in: installation, for: self, bySession: PlatformClient.sessionAddsCookies)
    if ownership.isWebSocket, mustRefuse(webSocket: request, in: installation) { return true }
    keep(ownership)
    return ownership.isAccepted
  }

  override class func canInit(with task: URLSessionTask) -> Bool {
    // Asked on Apple platforms only (P6).
    guard let request = task.currentRequest else { return false }
    guard task is URLSessionWebSocketTask else { return canInit(with: request) }
    if let installation, installation.isOurs?(request) ?? true, mustRefuse(webSocket: request, in: installation) {
      PlatformClient.cancel(task)
    }
    return false
  }

  /// Whether a request is the handshake of a WebSocket task that must not be opened. Linux asks about the handshake
  /// only if libcurl supports WebSockets, and passes the request instead of the task (P19).
  private class func mustRefuse(webSocket request: URLRequest, in installation: Installation) -> Bool {
    for interceptor in installation.registry.snapshot.index.interceptors(forWebSocket: request) {
      guard let interceptor = interceptor as? any GuardingInterceptor else { continue }
      do { try interceptor.validate(webSocket: request) } catch { return true }
    }
    return false
  }

  /// Canonicalisation happens inside the chain, because Linux never asks (P6).
  override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

  override func startLoading() {
    if let relay { return relay.resume() }
    // The app resumed the task twice, and the load that the first time began is over (P16).
    guard !hasStarted else { return }
    hasStarted = true
    start()
  }

  override func stopLoading() {
    relay?.stop()
  }

  /// Releases the load after the client has got the terminal event, from this object or from the loading system;
  /// otherwise both would retain each other. Called where the client may be called.
  func end() {
    hasEnded = true
    relay = nil
  }

  /// Starts the load, or fails it.
  private func start() {
    begin()
    // Cancelled before it began: the loading system ends the task itself (P17).
    guard !isCancelled else { return }
    // Only cancellation ends a receive call on a WebSocket task: calls to the client do not reach it.
    if let task, task is URLSessionWebSocketTask { return PlatformClient.cancel(task) }
    // A `ws` request is accepted only to be refused: a task of another kind has no use for one, and the classes below
    // would open the connection.
    if ownership == nil, let url = request.url, InterceptorChain.Scope.Target(url).isWebSocket {
      return PlatformClient.fail(self, URLError(.unsupportedURL, userInfo: URLError.failingURL(url)))
    }
    guard let installation = ownership?.installation ?? Self.installation else {
      if !PlatformClient.asksInCallersTask { ProtocolClasses.reportLate(request, to: Self.self) }
      return PlatformClient.fail(self, InterceptorRegistry.invalidatedError(url: request.url))
    }
    if ownership == nil, InterceptionProbe.answers(request) { return PlatformClient.fail(self, URLError(.cancelled)) }
    let client: PlatformClient
    do { client = try PlatformClient(self, in: installation) } catch { return PlatformClient.fail(self, error) }
    var events: [ClientRelay.Event] = []
    do {
      let asked = ownership
      let known = asked.flatMap { $0.context === client.context ? $0 : nil }
      ownership = nil
      let ownership =
        known
        ?? Installation.Ownership(
          client.request, in: installation, context: client.context, for: Self.self,
          bySession: PlatformClient.sessionAddsCookies, origin: asked?.origin, within: asked?.outer)
      let load = Load(
        ownership, client.id, body: client.body, isUpload: client.isUpload, hop: client.hop, delegate: client,
        transports: client.transports)
      load.report(.started)
      var respond: (@Sendable () async throws -> InterceptedResponse)?
      switch Result(catching: { PlatformClient.canRespondInline ? try load.respondInline() : nil }) {
      case .success((let response, let isLast)?):
        if isLast, let all = ClientRelay.events(of: response, for: client) {
          load.report(.responded, response: response)
          load.end(response)
          events = all
        } else {
          respond = { isLast ? response : try await load.respond(after: response) }
        }
      case .success(nil):
        respond = {
          try await load.respond(with: PlatformClient.canRespondInline ? nil : client.prepare(for: load))
        }
      case .failure(let error):
        events = [.failed(load.ended(by: error))]
      }
      if let respond {
        let relay = ClientRelay(client, load)
        relay.start(respond)
        if !hasEnded { self.relay = relay }
      }
    }
    // Deliver last, after the load is released: the next load of any session waits until the loader's queue is done
    // with this one.
    for event in events { client.deliver(event) }
  }
}

// `URLProtocol` is used as a class, so isolation needs a class per installation. A generic subclass is a class of its
// own for each type argument, and type arguments can be made at run time by opening an existential (platform fact P12):
// the number of an installation is written in binary as a nest of types. A class costs about 1 kB and some
// microseconds, and is never freed.

/// A number written as a type.
protocol TypeNumber {}

/// Zero, where every number begins.
enum NoBits: TypeNumber {}

/// A number with a 0 appended.
enum ZeroBit<Rest: TypeNumber>: TypeNumber {}

/// A number with a 1 appended.
enum OneBit<Rest: TypeNumber>: TypeNumber {}

/// The protocol classes of the process, each with its installation.
enum ProtocolClasses {
  private struct State {
    var installations: [ObjectIdentifier: Installation] = [:]
    /// The handlers of requests that reach a class after its registry was invalidated.
    var listeners: [ObjectIdentifier: InterceptorRegistry.LateListener] = [:]
    var last: UInt64 = 0
  }

  // Global by nature: the loading system hands us a class, never an object. Nothing here is shared between classes but
  // the table.
  private static let state = Locked(State())

  /// Makes a class for an installation and retains the installation until ``remove(_:leaving:)``.
  static func make(for installation: Installation) -> URLProtocol.Type {
    let number = state.withLock { state in
      state.last += 1
      return state.last
    }
    let made = protocolClass(type(for: number))
    state.withLock { $0.installations[ObjectIdentifier(made)] = installation }
    return made
  }

  /// The installation of a class; `nil` once its registry is invalidated. Numbers, and so classes, are never reused.
  static func installation(of protocolClass: URLProtocol.Type) -> Installation? {
    let key = ObjectIdentifier(protocolClass)
    return state.withLock { $0.installations[key] }
  }

  /// Releases the installation of a class.
  static func remove(_ protocolClass: URLProtocol.Type, leaving listener: InterceptorRegistry.LateListener?) {
    let key = ObjectIdentifier(protocolClass)
    let removed = state.withLock { state in
      if let listener { state.listeners[key] = listener }
      return state.installations.removeValue(forKey: key)
    }
    // Released outside of the lock.
    _ = removed
  }

  /// Reports a request that reached a class after its registry was invalidated.
  static func reportLate(_ request: URLRequest, to protocolClass: URLProtocol.Type) {
    let key = ObjectIdentifier(protocolClass)
    state.withLock { $0.listeners[key] }?(request)
  }

  private static func type(for number: UInt64) -> any TypeNumber.Type {
    var result: any TypeNumber.Type = NoBits.self
    for bit in (0..<(UInt64.bitWidth - number.leadingZeroBitCount)).reversed() {
      result = appending(number >> bit & 1 == 1, to: result)
    }
    return result
  }

  private static func appending<Rest: TypeNumber>(_ bit: Bool, to rest: Rest.Type) -> any TypeNumber.Type {
    bit ? OneBit<Rest>.self : ZeroBit<Rest>.self
  }

  private static func protocolClass<Number: TypeNumber>(_ number: Number.Type) -> URLProtocol.Type {
    NumberedProtocol<Number>.self
  }
}

/// The protocol class of one installation.
final class NumberedProtocol<Number: TypeNumber>: InterceptingProtocol {}
