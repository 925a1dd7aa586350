import Foundation

/// One place a registry is installed in: a session configuration, or the direct way.
///
/// It knows whose loads these are (the context) and has one transport for all of them.
final class Installation: Sendable {
  private struct State {
    var transport: (any Transport)?
    var isInvalidated = false
  }

  let registry: InterceptorRegistry
  let context: LoadContext
  /// Its protocol class; none for the direct way.
  let protocolClass = Locked<URLProtocol.Type?>(nil)
  private let configuration: Locked<URLSessionConfiguration>
  private let state = Locked(State())

  /// - Parameter configuration: The session's configuration without this installation's own protocol class.
  init(_ registry: InterceptorRegistry, configuration: URLSessionConfiguration) {
    self.registry = registry
    self.configuration = Locked(configuration)
    context = LoadContext(configuration)
  }

  /// The transport: the registry's, or one inner session that is made on the first use.
  func transport() throws -> any Transport {
    if let shared = registry.transport { return shared }
    return try state.withLock { state in
      guard !state.isInvalidated else { throw InterceptorRegistry.invalidatedError(url: nil) }
      if let transport = state.transport { return transport }
      let transport = configuration.withLock { URLSessionTransport(configuration: $0) }
      state.transport = transport
      return transport
    }
  }

  func invalidate() {
    let transport = state.withLock { state in
      state.isInvalidated = true
      defer { state.transport = nil }
      return state.transport
    }
    if let protocolClass = protocolClass.withLock({ $0 }) { ProtocolClasses.remove(protocolClass) }
    transport?.invalidate()
  }

  /// Whether a chain takes the request. Pure, any thread.
  func accepts(_ request: URLRequest) -> Bool {
    if let lineage = RequestTag.lineage(of: request), lineage.contains(registry.lineageEntry.origin) { return true }
    guard !context.additionalHeaders.isEmpty else { return registry.snapshot.index.owner(of: request) != nil }
    var request = request
    context.addHeaders(to: &request)
    return registry.snapshot.index.owner(of: request) != nil
  }
}
