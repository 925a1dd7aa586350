/// Work that several loads may wait for, and that may outlive the one that started it: a refresh, a transfer into a
/// store.
///
/// The core treats its code as running inside the loads that started it, as long as the work runs and has waiters.
package final class SharedWork: Sendable {
  /// The innermost work that the current code is a part of.
  @TaskLocal package static var current: SharedWork?

  private let outer = SharedWork.current
  private let owner: ObjectIdentifier?
  private let state: Locked<(waiters: Int, isRunning: Bool)>

  /// - Parameters:
  ///   - owner: The object whose work it is.
  ///   - waiters: The initial number of waiters.
  package init(of owner: ObjectIdentifier? = nil, waiters: Int = 1) {
    (self.owner, state) = (owner, Locked((waiters, true)))
  }

  package var isWanted: Bool { state.withLock { $0.waiters > 0 && $0.isRunning } }

  package func addWaiters(_ count: Int) { state.withLock { $0.waiters += count } }

  /// Runs the work, once.
  package func run<Value>(_ work: () async throws -> Value) async rethrows -> Value {
    defer { state.withLock { $0.isRunning = false } }
    return try await Self.$current.withValue(self, operation: work)
  }

  /// Whether this work, or work around it, is the owner's and still runs.
  package func isRunning(of owner: ObjectIdentifier) -> Bool {
    self.owner == owner && state.withLock { $0.isRunning } || outer?.isRunning(of: owner) ?? false
  }
}
