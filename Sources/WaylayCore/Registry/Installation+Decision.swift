// The walk, 2 of 5: whose request is it? What the session adds is put in, a tag is taken out and read as a lineage;
// then `ChainIndex` goes through the chains, newest first, and asks `InterceptorChain.Scope` and `canInit`. The
// `Decision` waits, on Linux in `PendingDecision`, for the protocol object that is made next, and with it, in
// `Lifecycle`, the request becomes a `Load`.

import Foundation

extension Installation {
  /// What is to become of a request.
  ///
  /// Made once per task, where the loading system asks whether we take the request, and used where it is loaded.
  final class Decision: Sendable {
    let installation: Installation
    /// The protocol class that was asked; none in a direct load.
    let owner: ObjectIdentifier?
    let snapshot: InterceptorRegistry.Snapshot
    /// Whose load it is.
    let context: LoadContext
    /// The request without a tag and with the session's header fields and cookies.
    let request: URLRequest
    /// The lineage of the code that the request comes from.
    let outer: Lineage?
    /// The chain that owns the request. None: it came from inside this registry's own chain, or no chain accepts it.
    let selection: ChainIndex.Selection?
    /// Whether the request's `Cookie` is the storage's, and so to be made anew for another hop.
    let hasStoredCookies: Bool
    /// Whether we take the request: a chain accepts it, or its tag must not reach the system (rule 7).
    let isAccepted: Bool
    /// Whether it is the handshake of a WebSocket task, which no chain serves.
    let isWebSocket: Bool

    /// - Parameters:
    ///   - context: Whose load it is; the installation's unless told otherwise.
    ///   - bySession: Whether a session has put its cookies into the request already.
    init(
      _ request: URLRequest, in installation: Installation, context: LoadContext? = nil,
      for owner: URLProtocol.Type? = nil, bySession: Bool
    ) {
      let context = context ?? installation.context
      self.context = context
      self.installation = installation
      self.owner = owner.map { ObjectIdentifier($0) }
      snapshot = installation.registry.snapshot
      var request = request
      let tagged = RequestTag.lineage(of: request)
      if tagged != nil { RequestTag.strip(&request) }
      hasStoredCookies = context.prepare(
        &request, origin: PlatformClient.origin(of: request), bySession: bySession)
      self.request = request
      let current = Lineage.current
      outer = (current?.depth ?? 0) < (tagged?.depth ?? 0) ? tagged : current
      let isReentry = installation.registry.isReentry(from: outer)
      let target = request.url.map(InterceptorChain.Scope.Target.init)
      isWebSocket = target?.isWebSocket ?? false
      selection = if let target, !isReentry { snapshot.index.select(request, target) } else { nil }
      isAccepted = isReentry || selection != nil
    }
  }
}
