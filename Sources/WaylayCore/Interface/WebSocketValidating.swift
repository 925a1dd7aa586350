import Foundation

/// An interceptor that says which WebSocket tasks must not be opened.
///
/// No chain serves a WebSocket task: it goes the system's own way. An interceptor that promises what such a task would
/// break is asked before.
public protocol WebSocketValidating: RequestInterceptor {
  /// Told of a WebSocket task whose handshake, were it a plain request, the interceptor would take part in.
  ///
  /// - Parameter request: The handshake, with `ws` or `wss`.
  /// - Throws: Why the task must not be opened. Whoever throws has said so aloud: the task has no place for the reason.
  func validate(webSocket request: URLRequest) throws
}
