#if canImport(FoundationNetworking)
  import Dispatch
  import Foundation

  /// Tells when a session is gone: nobody is told by the session itself, unless it was invalidated and has a delegate.
  ///
  /// What hangs on the session's work queue goes with it, and that goes with the session and the last of its tasks.
  final class SessionEnd: Sendable {
    private let listeners = Locked<[@Sendable () -> Void]>([])

    /// The session of a queue is asked for and noted in one go.
    private static let turn = Locked(false)
    private static let key = DispatchSpecificKey<SessionEnd>()

    static func await(_ session: URLSession, _ listener: @escaping @Sendable () -> Void) {
      guard let queue = TaskInternals.workQueue(of: session) else { return }
      let end = turn.withLock { _ in
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
