/// Work that several loads may wait for, and that may outlive the one that started it: a refresh, a transfer into a
/// store.
///
/// The core treats its code as running inside the loads that started it, as long as the work runs.
package final class SharedWork: Sendable {
  /// The innermost work that the current code is a part of.
  @TaskLocal package static var current: SharedWork?

  private let outer: Locked<SharedWork?>
  private let owner: ObjectIdentifier?
  private let running = Locked(true)

  /// - Parameter owner: The object whose work it is.
  package init(of owner: ObjectIdentifier? = nil) {
    self.owner = owner
    outer = Locked(SharedWork.current?.innermostRunning)
  }

  /// This work or, after its end, the innermost one around it that runs. Those that have ended are no longer retained.
  private var innermostRunning: SharedWork? {
    let running = outer.withLock(\.self)?.innermostRunning
    outer.withLock { $0 = running }
    return isRunning ? self : running
  }

  package var isRunning: Bool { running.withLock { $0 } }

  /// Runs the work, once.
  package func run<Value>(_ work: () async throws -> Value) async rethrows -> Value {
    defer { running.withLock { $0 = false } }
    return try await Self.$current.withValue(self, operation: work)
  }

  /// Whether this work, or work around it, is the owner's and still runs.
  package func isRunning(of owner: ObjectIdentifier) -> Bool {
    self.owner == owner && isRunning || outer.withLock(\.self)?.isRunning(of: owner) ?? false
  }
}
