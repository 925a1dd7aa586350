import Foundation

extension DiskStore {
  /// The limits of the store; see ``ArchiveStore/limits``. A read-only store evicts nothing.
  public var limits: StoreLimits {
    get { state.withLock { $0.limits } }
    set {
      state.withLock { state in
        state.limits = newValue
        if journal != nil, !state.isClosed, newValue.isExceeded(by: state.usage) { trimLater(in: &state) }
      }
      work()
    }
  }

  /// Evicts until so much more fits; what is evicted goes from the disk before anything that is written after this
  /// call.
  ///
  /// Only as much as is needed: the rest of the way to the low-water mark is not the caller's time.
  func makeRoom(for bytes: Int64, count: Int, in state: inout State) -> Bool {
    var wanted = state.usage
    wanted.bytes += bytes
    wanted.count += count
    guard state.limits.isExceeded(by: wanted) else { return true }
    while state.limits.isExceeded(by: wanted) {
      guard evictOne(in: &state) else { return false }
      wanted.bytes = state.usage.bytes + bytes
      wanted.count = state.usage.count + count
    }
    trimLater(in: &state)
    return true
  }

  /// Has the rest of the way to the low-water mark be done behind.
  private func trimLater(in state: inout State) {
    guard !state.isTrimming else { return }
    state.isTrimming = true
    state.jobs.append { $0.trim(to: $0.limits.low) }
  }

  /// Evicts down to a mark, a few at a time, so that nobody waits for the lock.
  func trim(to mark: StoreLimits) {
    var goesOn = true
    while goesOn {
      goesOn = state.withLock { state in
        for _ in 0..<16 where mark.isExceeded(by: state.usage) {
          guard evictOne(in: &state) else { break }
        }
        let isDone = !mark.isExceeded(by: state.usage) || state.index.pinned == state.index.count
        if isDone { state.isTrimming = false }
        return !isDone
      }
    }
    work()
  }

  private func evictOne(in state: inout State) -> Bool {
    guard let handle = state.index.candidate() else { return false }
    let low = state.index.hash(handle)
    let slot = state.index[handle]
    let id = EntryID(number: slot.number, hash: low)
    let url = state.observers.isEmpty ? nil : state.tier.first(low) { $0.id == id }.map { state.tier[$0].details.url }
    state.take(handle, low)
    let event = StoreEvent(.evicted, id: id, url: url, bytes: slot.cost, reason: "made room for other entries")
    state.jobs.append { $0.drop(slot, low, event) }
    return true
  }

  /// Counts bytes of a body on its way, or gives them back.
  func reserve(_ bytes: Int64, of total: Int64) throws {
    defer { work() }
    try state.withLock { state in
      if bytes > 0 {
        try check(state, head: 0, bytes: total)
        guard makeRoom(for: bytes, count: 0, in: &state) else { throw ArchiveError.storeFull }
      }
      // What was lost or closed is counted no more.
      if !state.isLost, !state.isClosed { state.usage.bytes += bytes }
    }
  }
}
