// A separate file for its platform condition.
#if CORELIBS_FOUNDATION
  import Dispatch
  import Foundation
  import WaylayCore

  /// The session of a scope, shared by all code of the test: code that invalidates it must not break the rest of the
  /// test.
  ///
  /// Making a task in an invalidated session ends the process (platform fact U17), and a client that invalidates its
  /// session in `deinit` does not know that the session is shared. This class therefore ignores invalidation: it ends
  /// with its scope, and frees its resources when it is released.
  ///
  /// Unchecked like its superclass; it adds no state.
  final class ScopeSession: URLSession, @unchecked Sendable {
    /// Lets tasks finish, but keeps the session valid.
    override func finishTasksAndInvalidate() {}

    /// Cancels existing tasks only: tasks made after this call belong to other code. The list of tasks arrives
    /// asynchronously and may include later tasks, so a task that is never resumed marks the highest identifier.
    override func invalidateAndCancel() {
      guard let url = URL(string: "waylay:mark") else { return }
      let mark = dataTask(with: url)
      TaskInternals.workQueue(of: self)?.async { [self] in
        let tasks = TaskInternals.tasks(of: self).filter { $0.taskIdentifier <= mark.taskIdentifier }
        // Cancelling waits for the work queue, so do it on another queue.
        DispatchQueue.global().async { for task in tasks { task.cancel() } }
      }
    }

    /// Whether the session continues to work after it is invalidated.
    static let outlivesInvalidation = true

    /// Whether scopes verify that the loading system asks their protocol classes; here it always does.
    static let isVerified = false

    static func make(_ configuration: URLSessionConfiguration) -> URLSession {
      ScopeSession(configuration: configuration)
    }
  }
#else
  /// The session of a scope. On Apple platforms it has no subclass to ignore invalidation, so invalidation ends it:
  /// each use makes a session.
  ///
  /// Source: https://developer.apple.com/documentation/foundation/urlsession/finishtasksandinvalidate()
  enum ScopeSession {
    /// Whether the session continues to work after it is invalidated.
    static let outlivesInvalidation = false

    /// Whether scopes verify that the loading system asks their protocol classes; a loader may ask none.
    static let isVerified = true

    static func make(_ configuration: URLSessionConfiguration) -> URLSession {
      URLSession(configuration: configuration)
    }
  }
#endif
