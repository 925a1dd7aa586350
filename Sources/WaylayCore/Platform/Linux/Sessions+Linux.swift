#if CORELIBS_FOUNDATION
  import Dispatch
  import Foundation

  /// The protocol classes of `URLSession.shared` and of other sessions that exist, on Linux: their configuration is
  /// live, and `registerClass` comes too late once the shared session has been used, and never for another (P11).
  enum SharedSession {
    /// The replaced lists, retained forever: the loading system reads a list without a lock, and may still use it.
    private static let former = Locked<[[AnyClass]]>([])

    static func canChange(_ session: URLSession) -> Bool { true }

    static func insert(_ protocolClass: URLProtocol.Type, into session: URLSession) {
      change(session) { $0.insert(protocolClass, at: 0) }
    }

    static func remove(_ protocolClass: URLProtocol.Type, from session: URLSession) {
      change(session) { $0.removeAll { $0 == protocolClass } }
    }

    private static func change(_ session: URLSession, _ change: (inout [AnyClass]) -> Void) {
      former.withLock { former in
        let configuration = session.configuration
        let before = configuration.protocolClasses ?? []
        var classes = before
        change(&classes)
        former.append(before)
        if former.count > 64 { former.removeFirst() }
        configuration.protocolClasses = classes
      }
    }
  }

  /// Calls listeners when a session is released. The session itself reports only its invalidation, to its delegate.
  ///
  /// The object is a specific value of the session's work queue, which is released after the session and its tasks.
  final class SessionEnd: Sendable {
    private let listeners = Locked<[@Sendable () -> Void]>([])

    /// Held while a `SessionEnd` is looked up or stored on a queue, so that a session gets only one.
    private static let lock = Locked(false)
    private static let key = DispatchSpecificKey<SessionEnd>()

    static func await(_ session: URLSession, _ listener: @escaping @Sendable () -> Void) {
      guard let queue = TaskInternals.workQueue(of: session) else { return }
      let end = lock.withLock { _ in
        let end = queue.getSpecific(key: key) ?? SessionEnd()
        queue.setSpecific(key: key, value: end)
        return end
      }
      end.listeners.withLock { $0.append(listener) }
    }

    deinit {
      for listener in listeners.withLock({ $0 }) { listener() }
    }
  }
#endif
