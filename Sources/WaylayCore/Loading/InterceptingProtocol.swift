import Foundation

/// The bridge from the loading system: one object per task, of one class per installation.
///
/// Everything that differs between Linux and Apple platforms is in ``PlatformClient``.
class InterceptingProtocol: URLProtocol {
  /// The installation this class stands for, until its registry is invalidated.
  private class var installation: Installation? { ProtocolClasses.installation(of: self) }

  /// The lineage of the code that resumed the task: on Linux this initialiser runs inside `resume()` (P7).
  private let resumedBy = Lineage.current
  private var relay: ClientRelay?

  override class func canInit(with request: URLRequest) -> Bool {
    // Fails closed: a class whose registry is gone accepts everything, and `startLoading` says why it fails.
    guard let installation else { return true }
    return installation.accepts(request)
  }

  override class func canInit(with task: URLSessionTask) -> Bool {
    // Asked on Apple platforms only (P6).
    guard !(task is URLSessionWebSocketTask), let request = task.currentRequest else { return false }
    return canInit(with: request)
  }

  /// Canonicalisation happens inside the chain, because Linux never asks (P6).
  override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

  override func startLoading() {
    if let relay { return relay.resume() }
    let client = PlatformClient(self)
    guard let installation = Self.installation else {
      return client.fail(InterceptorRegistry.invalidatedError(url: request.url), url: request.url)
    }
    do {
      let body = try client.prepare()
      relay = start(client, body: body, in: installation)
    } catch {
      client.fail(error, url: request.url)
    }
  }

  override func stopLoading() {
    relay?.stop()
  }

  /// Starts the load; an answer that comes inside this call is delivered inside it.
  private func start(_ client: PlatformClient, body: MessageBody, in installation: Installation) -> ClientRelay {
    var bare = request
    if bare.httpBody != nil { bare.httpBody = nil }
    if bare.httpBodyStream != nil { bare.httpBodyStream = nil }
    let tagged = RequestTag.lineage(of: bare)
    if tagged != nil { RequestTag.strip(&bare) }
    let outer = resumedBy == nil && tagged == nil ? nil : [resumedBy, tagged].compactMap { $0 }.max { $0.depth < $1.depth }
    let snapshot = installation.registry.snapshot
    let isReentry = outer?.contains(installation.registry.lineageEntry.origin) ?? false

    installation.context.prepare(&bare, bySession: PlatformClient.sessionAddsCookies)
    let selection = isReentry ? nil : snapshot.index.select(bare)
    let inline = PlatformClient.canAnswerInline && selection?.answersInline == true
    let load = Load(
      InterceptedRequest(
        id: .next(), urlRequest: bare, body: body, attempt: 1, hop: client.hop, context: installation.context),
      in: installation, outer: outer, snapshot: snapshot, inline: inline, redirects: client)
    let relay = ClientRelay(client, load)
    relay.start(.init(selection: selection), inline: inline)
    return relay
  }
}
