import Foundation

/// A value behind a lock: the one lock type of the package.
///
/// `NSLock` rather than `Mutex`, because the thread sanitizer of Swift 6.3 on Linux reports races in correct code that uses
/// `Mutex` (U13). Critical sections stay short, and none of them contains an `await`.
package final class Locked<State>: @unchecked Sendable {
  // Unchecked: `state` is only ever touched between `lock()` and `unlock()`.
  private var state: State
  private let lock = NSLock()

  package init(_ state: State) {
    self.state = state
  }

  @discardableResult
  package func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&state)
  }
}
