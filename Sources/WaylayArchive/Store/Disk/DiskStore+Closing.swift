import Foundation

// The end of a store: whoever opens the directory next finds nothing half done, and nobody who goes on.
extension DiskStore {
  /// Writes pending entries and releases the directory.
  ///
  /// Everything stored before is available when the directory is opened next; to survive a power failure as well, call
  /// ``flush()`` first. An uncommitted body is discarded: its writer fails with ``ArchiveError/Code/closed`` from now
  /// on, and so does every other call that stores something. Closing several times, even concurrently, is harmless:
  /// each call returns when the directory is released.
  public func close() async {
    let isFirst = state.withLock { state in
      defer { state.isClosed = true }
      return !state.isClosed
    }
    guard isFirst else { return await wait { $0.isReleased } }
    // No piece of a body and no flush is begun any more; those that are under way come to their end.
    await wait { $0.writing == 0 }
    // What was to be done before may have left something to do.
    for _ in 0..<2 { try? await perform { _ in } }
    try? await perform { $0.end() }
    free()
  }

  /// Lets go of a directory that is ours no more, once nothing of this store works in it: whoever opens the one that is
  /// at the path now, or finds this one elsewhere, need not wait for a close.
  func leave() {
    enqueue { store in
      store.state.withLock { $0.isLeft = true }
      store.releaseIfLeft()
    }
  }

  private func releaseIfLeft() {
    guard state.withLock({ $0.isLeft && $0.writing == 0 }) else { return }
    free()
  }

  private func free() {
    lock?.release()
    state.withLock { state in
      state.isReleased = true
      return state.closers.takeAll()
    }.wake()
  }

  /// Waits until a directory that was lost is free for others.
  func leaving() async { await wait { $0.isReleased || !$0.isLost } }

  /// Waits also when the task has been cancelled: whoever waits relies on it.
  private func wait(until isReached: @escaping @Sendable (State) -> Bool) async {
    await Task { [self] in
      while !state.withLock({ isReached($0) }) { await state.wait(at: \.closers) { isReached($0) } }
    }.value
  }

  /// The last thing that the thread of the journal does.
  private func end() {
    if !state.withLock({ $0.isLost }) {
      clearDrafts()
      passAtTheEnd()
      compactAtTheEnd()
    }
    let end = state.withLock { state in
      state.index.removeAll()
      state.tier.removeAll()
      state.tierBytes = 0
      state.usage = StoreUsage()
      return state.end
    }
    if let end { attempt("note its end") { try $0.journal?.append(end) } }
    medium.sync { try? journal?.synchronize() }
    seal()
  }

  /// Removes what writers have written and not committed. They may still be read from: their files stay open.
  private func clearDrafts() {
    let (drafts, resumed) = state.withLock { state in
      (Array(state.drafts), state.resumed.compactMap { id in state.find(id).map { (id, state.index[$0]) } })
    }
    discard(drafts)
    for (id, slot) in resumed where slot.head != slot.body && slot.bodyOffset == 0 {
      attempt("cut a body") { store in
        guard let folder = store.state.withLock({ $0.folders[slot.partition] }) else { return }
        try store.files.truncate(store.archive.openForWriting(slot.bodyFile(id.hash), folder), to: slot.bodyLength)
      }
    }
  }

  /// From now on nothing of this store changes anything in the directory.
  func seal(_ reason: any Error = ArchiveError.closed) {
    journal?.seal(reason)
    state.withLock { $0.isSealed = true }
  }

  /// Whether the directory may be changed still; asked on the thread of the journal, where the sealing happens as well.
  var isSealed: Bool { state.withLock { $0.isSealed } }

  /// Does a piece of a writer's work, which a close waits for.
  func writing(_ work: () throws -> Void) throws {
    try state.withLock { state in
      if state.isClosed { throw ArchiveError.closed }
      if state.isSealed { throw ArchiveError.unusable(directory, SystemError("open", code: ENOENT)) }
      state.writing += 1
    }
    defer { endWriting() }
    try work()
  }

  /// Ends what a close waits for, and what keeps a directory that was lost.
  func endWriting() {
    state.withLock { state in
      state.writing -= 1
      return state.writing == 0 ? state.closers.takeAll() : []
    }.wake()
    releaseIfLeft()
  }
}
