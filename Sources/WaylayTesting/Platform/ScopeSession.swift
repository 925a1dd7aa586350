// A file of its own for its condition on the platform.
#if CORELIBS_FOUNDATION
  import Dispatch
  import Foundation
  import WaylayCore

  /// The session of a scope, which all of the test's code shares: what one part of it does to end it must not end it
  /// for the others.
  ///
  /// Making a task in an invalidated session ends the process (platform fact U17), and a client that invalidates its
  /// session in its `deinit` does not know that it has the session of others. So this one is never invalidated: it ends
  /// with its scope, and frees its resources when it is released.
  ///
  /// Unchecked, as its superclass is, to whose state it adds nothing.
  final class ScopeSession: URLSession, @unchecked Sendable {
    /// Lets tasks go on to their end, as it promises.
    override func finishTasksAndInvalidate() {}

    /// Cancels the tasks that run; those that are made from now on belong to others, although the list of tasks, which
    /// comes later, has them too. Tasks are numbered: one that is never resumed marks the place.
    override func invalidateAndCancel() {
      guard let url = URL(string: "waylay:mark") else { return }
      let mark = dataTask(with: url)
      TaskInternals.workQueue(of: self)?.async { [self] in
        let tasks = TaskInternals.tasks(of: self).filter { $0.taskIdentifier <= mark.taskIdentifier }
        // A task that is cancelled waits for that queue.
        DispatchQueue.global().async { for task in tasks { task.cancel() } }
      }
    }

    /// Whether it continues to work after it is invalidated.
    static let outlivesInvalidation = true

    static func make(_ configuration: URLSessionConfiguration) -> URLSession {
      ScopeSession(configuration: configuration)
    }
  }
#else
  /// The session of a scope. The system has no class to derive from, so invalidating it ends it: each use
  /// makes one.
  ///
  /// Source: https://developer.apple.com/documentation/foundation/urlsession/finishtasksandinvalidate()
  enum ScopeSession {
    /// Whether it continues to work after it is invalidated.
    static let outlivesInvalidation = false

    static func make(_ configuration: URLSessionConfiguration) -> URLSession {
      URLSession(configuration: configuration)
    }
  }
#endif
