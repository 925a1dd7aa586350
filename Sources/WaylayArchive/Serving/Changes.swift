import Foundation

/// Which resources a load has changed lately: an answer that was asked for before and comes after is not what the resource is now.
///
/// Only the latest are remembered; what is forgotten counts as changed when the question goes back further than that.
final class Changes: Sendable {
  private struct State {
    var moment: UInt64 = 0
    var changed: [ArchiveKey: UInt64] = [:]
    /// Everything up to this moment may have been forgotten.
    var forgotten: UInt64 = 0
  }

  private let state = Locked(State())
  private let limit: Int

  init(limit: Int = 1024) {
    self.limit = limit
  }

  /// The moment, which goes on with each change.
  var now: UInt64 { state.withLock { $0.moment } }

  func note(_ key: ArchiveKey) {
    state.withLock { state in
      if state.changed.count >= limit {
        state.changed = [:]
        state.forgotten = state.moment
      }
      state.moment += 1
      state.changed[key] = state.moment
    }
  }

  func hasChanged(_ key: ArchiveKey, since moment: UInt64) -> Bool {
    state.withLock { state in state.changed[key].map { $0 > moment } ?? (moment < state.forgotten) }
  }
}
