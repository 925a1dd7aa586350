import Foundation

/// An interceptor that can refuse WebSocket tasks.
///
/// No chain handles a WebSocket task: it bypasses interception. An interceptor whose promises such a task would break
/// is asked first.
public protocol WebSocketValidating: RequestInterceptor {
  /// Checks a WebSocket task in whose handshake the interceptor would take part if it were a plain request.
  ///
  /// - Parameter request: The handshake, with `ws` or `wss`.
  /// - Throws: Why the task must not be opened. Report the reason before you throw it: the task cannot carry it.
  func validate(webSocket request: URLRequest) throws
}
