// The walk, 1 of 5: the loading system asks `canInit` of the class that `ProtocolClasses` has made for an installation,
// keeps the decision that `Registry` makes, makes an object and calls `startLoading`: `PlatformClient` reads what the
// task brings, and a `ClientRelay` runs the `Load`, which `Lifecycle` takes through the chain. What comes back goes
// through the relay to the client, on the task's own queue.

import Foundation

/// The bridge from the loading system: one object per task, of one class per installation.
///
/// Everything that differs between Linux and Apple platforms is in ``PlatformProtocol`` and ``PlatformClient``.
class InterceptingProtocol: PlatformProtocol {
  /// The installation this class stands for, until its registry is invalidated.
  private class var installation: Installation? { ProtocolClasses.installation(of: self) }

  /// The load under way. It holds this object, and is let go with the last word to the client.
  private var relay: ClientRelay?
  private var hasStarted = false
  private var hasEnded = false

  override class func canInit(with request: URLRequest) -> Bool {
    // Fails closed: a class whose registry is gone accepts everything, and `startLoading` says why it fails.
    guard let installation else {
      if PlatformClient.asksInCallersTask { ProtocolClasses.tellLate(request, to: self) }
      return true
    }
    if let isOurs = installation.isOurs, !isOurs(request) { return false }
    let decision = Installation.Decision(
      request, in: installation, for: self, bySession: PlatformClient.sessionAddsCookies)
    if decision.isWebSocket, mustRefuse(webSocket: request, in: installation) { return true }
    PlatformClient.keep(decision)
    return decision.isAccepted
  }

  override class func canInit(with task: URLSessionTask) -> Bool {
    // Asked on Apple platforms only (P6).
    guard let request = task.currentRequest else { return false }
    guard task is URLSessionWebSocketTask else { return canInit(with: request) }
    if let installation, installation.isOurs?(request) ?? true, mustRefuse(webSocket: request, in: installation) {
      PlatformClient.leavingQueue { task.cancel() }
    }
    return false
  }

  /// Whether a request is the handshake of a WebSocket task that must not be opened. Linux asks by the request (P19),
  /// where libcurl has WebSockets.
  private class func mustRefuse(webSocket request: URLRequest, in installation: Installation) -> Bool {
    for link in installation.registry.snapshot.index.links(forWebSocket: request) {
      guard let link = link as? any WebSocketValidating else { continue }
      do { try link.validate(webSocket: request) } catch { return true }
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
    let client = PlatformClient(self)
    // Cancelled before it began: the loading system ends the task itself (P17).
    guard !client.isCancelled else { return }
    // Code that waits for a message learns that a WebSocket task has ended by its cancellation alone: no call to the
    // client reaches it.
    if let task, task is URLSessionWebSocketTask { return PlatformClient.leavingQueue { task.cancel() } }
    // A request for `ws` was taken only to be refused. No other kind of task has a use for one, and beneath us it would
    // be opened.
    if decision == nil, let url = request.url, InterceptorChain.Scope.Target(url).isWebSocket {
      return client.fail(URLError(.unsupportedURL, userInfo: URLError.failingURL(url)), url: url)
    }
    guard let installation = decision?.installation ?? Self.installation else {
      if !PlatformClient.asksInCallersTask { ProtocolClasses.tellLate(request, to: Self.self) }
      return client.fail(InterceptorRegistry.invalidatedError(url: request.url), url: request.url)
    }
    do {
      let body = try client.prepare()
      let context = try client.context(in: installation)
      if let decision, decision.context !== context { self.decision = nil }
      for event in start(client, body: body, in: installation, context) { client.deliver(event) }
    } catch {
      client.fail(error, url: request.url)
    }
  }

  override func stopLoading() {
    relay?.stop()
  }

  /// The client has heard, or will hear from somebody else, how the load ended. Called where the client may be called.
  func end() {
    hasEnded = true
    relay = nil
  }

  /// Starts the load.
  ///
  /// - Returns: An answer that came inside this call, to be delivered as its last act: whatever the loader's queue does
  ///   after the last word, the next load of any session waits for. So the load is gone by then.
  private func start(
    _ client: PlatformClient, body: MessageBody, in installation: Installation, _ context: LoadContext
  ) -> [ClientRelay.Event] {
    let decision =
      decision
      ?? Installation.Decision(
        request, in: installation, context: context, for: Self.self, bySession: PlatformClient.sessionAddsCookies)
    self.decision = nil
    let load = Load(decision, client.id, body: body, isUpload: client.isUpload, hop: client.hop, delegate: client)
    load.report(.started)
    guard PlatformClient.canAnswerInline else {
      relay(client, load) { try await load.respond() }
      return []
    }
    do {
      guard let answer = try load.answerInline() else {
        relay(client, load) { try await load.respond() }
        return []
      }
      let response = answer.response
      if answer.isLast, let events = ClientRelay.answer(response, to: client) {
        load.report(.responded, response: response)
        load.end(response)
        return events
      }
      relay(client, load) { answer.isLast ? response : try await load.respond(after: response) }
      return []
    } catch {
      return [ClientRelay.failure(error, of: load)]
    }
  }

  /// Leaves the rest of a load to a relay, which lives as long as it takes.
  private func relay(
    _ client: PlatformClient, _ load: Load, _ respond: @escaping @Sendable () async throws -> InterceptedResponse
  ) {
    let relay = ClientRelay(client, load)
    relay.start(respond)
    if !hasEnded { self.relay = relay }
  }
}
