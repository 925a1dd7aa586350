extension HostRewriter: WebSocketValidating {
  /// Reports a WebSocket task that cannot be routed: no transport routes one, so it falls back to the system, including
  /// the system's resolver, or fails under ``Policy/require``. Both are reported, because the task itself cannot say
  /// why.
  public func validate(webSocket request: URLRequest) throws {
    // Asked about a host that a rule routes: `canInit` has said so.
    guard let authority = Self.authority(ofWebSocket: request.url) else { return }
    let isRefused = !policy.fallback.allowsSystem
    let error = HostError(
      .webSocketNotRouted,
      isRefused
        ? "a WebSocket task cannot be routed, and the policy allows no other way: it was cancelled. Open the "
          + "connection yourself, or leave the host to the system with HostRule(excluding:)."
        : "a WebSocket task cannot be routed, so it goes the system's way, to whatever address the system's resolver "
          + "returns for the host.",
      host: authority.host.description)
    let intercepted = InterceptedRequest(request)
    reporter.warnOnce("a WebSocket task is not routed", error, about: authority.host)
    reporter.happened(isRefused ? .failed : .fellBackToSystem, request: intercepted, host: authority.host, error: error)
    if isRefused { throw error }
  }

  private static func authority(ofWebSocket url: URL?) -> HostHealth.Authority? {
    guard let url, let host = url.host, let name = try? HostName(host) else { return nil }
    return HostHealth.Authority(name, port: url.port ?? (url.scheme?.lowercased() == "wss" ? 443 : 80))
  }
}
