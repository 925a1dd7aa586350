import Foundation

/// A value behind a lock: the one lock type of the package.
///
/// A POSIX mutex, which is what `NSLock` is made of, in one allocation instead of five: a load makes two of these, and making an
/// `NSLock` costs more than a short chain does. Not `Mutex`, because the thread sanitizer of Swift 6.3 on Linux reports races in correct
/// code that uses it (U13). Critical sections stay short, and none of them contains an `await`.
package final class Locked<State>: @unchecked Sendable {
  // Unchecked: `state` is only ever touched between lock and unlock.
  private var state: State
  // On the heap, because a mutex must not move.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

  package init(_ state: State) {
    self.state = state
    let result = pthread_mutex_init(mutex, nil)
    precondition(result == 0, "a mutex could not be made: error \(result)")
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  @discardableResult
  package func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&state)
  }
}
