import Foundation
import WaylayArchive
import WaylayCore

/// The steps that open and close stores, and those that take the directory away.
extension World {
  func open(_ dice: inout Dice) async {
    if isInMemory {
      if handle(&dice) == nil { add(MemoryStore(limits: limits), isReader: false) }
      return
    }
    // Opening is done on the caller's thread, which must not be held up.
    guard !brake.isOn else { return }
    var chosen = dice
    dice = Dice(dice.word())
    await moving {
      let wantsReader = chosen.chance(35)
      let (isTaken, mayBeTaken) = state.withLock { state in
        let owners = state.handles.filter { !$0.isReader && $0.incarnation == state.incarnation && $0.closed == nil }
        state.departing.removeAll { $0.store == nil }
        return (owners.contains { $0.isWhole }, !owners.isEmpty || !state.departing.isEmpty)
      }
      do {
        let store = try DiskStore(at: directory, options: options(&chosen, isReader: wantsReader))
        if !store.isReadOnly, isTaken { violate("two stores write to one directory") }
        if store.isReadOnly, !wantsReader || !mayBeTaken { violate("a store is for reading though nobody writes") }
        add(store, isReader: store.isReadOnly)
        note("opened for \(store.isReadOnly ? "reading" : "writing")")
      } catch let error as ArchiveError where error.code == .locked && mayBeTaken && !wantsReader {
        note("locked")
      } catch {
        // A reader that comes while the archive is being made, or made anew, is too early.
        violate("opening: \(error)")
      }
    }
  }

  func leave(_ dice: inout Dice) async {
    guard let handle = handle(&dice) else { return }
    if dice.chance(65) {
      await close(handle)
    } else if !brake.isOn {
      // Let go: the last one who has it lets go of the directory.
      state.withLock { state in
        state.handles.removeAll { $0.number == handle.number }
        if handle.closed == nil { state.departing.append(Weak(store: handle.store as? DiskStore)) }
        for (number, writer) in state.writers where writer.handle == handle.number { state.writers[number] = nil }
      }
      note("\(handle.name) is let go")
    }
  }

  func close(_ handle: Handle) async {
    let start = state.withLock { state in
      let now = state.history.tick()
      state.history.note("\(handle.name) is closed")
      return now
    }
    change(handle.number) { $0.leaving = $0.leaving ?? start }
    await handle.store.close()
    let now = self.handle(handle.number) ?? handle
    state.withLock { state in
      if !handle.isReader, now.orphaned == nil { state.history.flushed(handle.incarnation, since: start) }
      let end = state.history.tick()
      if let index = state.handles.firstIndex(where: { $0.number == handle.number }) {
        state.handles[index].closed = state.handles[index].closed ?? end
      }
    }
  }

  /// Takes the directory away, as apps clear caches: whoever has it open has it no more.
  func move(_ dice: inout Dice) async {
    guard !brake.isOn else { return }
    let isRenamed = dice.chance(50)
    await moving {
      guard FileManager.default.fileExists(atPath: directory.path) else { return }
      state.withLock { state in
        let now = state.history.tick()
        for index in state.handles.indices where state.handles[index].orphaned == nil { state.handles[index].orphaned = now }
        state.departing = []
        state.incarnation += 1
        state.history.note("the directory is \(isRenamed ? "renamed" : "removed")")
      }
      // Whoever writes meanwhile may make a file where everything had been removed.
      for _ in 0..<20 where !isRenamed && FileManager.default.fileExists(atPath: directory.path) {
        try? FileManager.default.removeItem(at: directory)
      }
      guard FileManager.default.fileExists(atPath: directory.path) else { return }
      let aside = directory.deletingLastPathComponent().appendingPathComponent("aside-\(UUID().uuidString)")
      try? FileManager.default.moveItem(at: directory, to: aside)
    }
  }

  /// Takes the lock's file away, as cleaners do that know better.
  func removeLock() {
    try? FileManager.default.removeItem(at: directory.appendingPathComponent("lock"))
    note("the lock's file is removed")
  }
}
