import Foundation

/// Which resources a load has changed lately: an answer that was asked for before and comes after is not what the
/// resource is now.
///
/// Only the latest are remembered; what is forgotten counts as changed when the question goes back further than that.
final class Changes: Sendable {
  private struct State {
    var moment: UInt64 = 0
    var changed: [ArchiveKey: UInt64] = [:]
    /// Everything up to this moment may have been forgotten.
    var forgotten: UInt64 = 0

    mutating func note(_ key: ArchiveKey, _ limit: Int) {
      if changed.count >= limit {
        changed = [:]
        forgotten = moment
      }
      moment += 1
      changed[key] = moment
    }

    func hasChanged(_ key: ArchiveKey, since moment: UInt64) -> Bool {
      changed[key].map { $0 > moment } ?? (moment < forgotten)
    }
  }

  private let state = Locked(State())
  private let limit: Int

  init(limit: Int = 1024) {
    self.limit = limit
  }

  /// The moment, which goes on with each change.
  var now: UInt64 { state.withLock { $0.moment } }

  func note(_ key: ArchiveKey) {
    state.withLock { $0.note(key, limit) }
  }

  /// Notes the change that one load has made itself, and returns the moment after it; `nil` when somebody else changed
  /// the resource since `moment`, so that nobody can say which of the two came last.
  func noteOwn(_ key: ArchiveKey, since moment: UInt64) -> UInt64? {
    state.withLock { state in
      let isAlone = !state.hasChanged(key, since: moment)
      state.note(key, limit)
      return isAlone ? state.moment : nil
    }
  }

  func hasChanged(_ key: ArchiveKey, since moment: UInt64) -> Bool {
    state.withLock { $0.hasChanged(key, since: moment) }
  }
}
