import Foundation
import WaylayCore

@testable import WaylayArchive

/// The steps that open and close stores, and those that take the directory away.
extension World {
  func open(_ dice: inout Dice) async {
    if isInMemory {
      if handle(&dice) == nil { add(MemoryStore(limits: limits), isReader: false, Hold()) }
      return
    }
    // Opening is done on the caller's thread, which must not be held up.
    guard !brake.isOn else { return }
    var chosen = dice
    dice = Dice(dice.word())
    // Some do not care who opens or moves it at the same time.
    if chosen.chance(30) { await openNow(&chosen) } else { await alone { await openNow(&chosen) } }
  }

  private func openNow(_ dice: inout Dice) async {
    let wantsReader = dice.chance(35)
    let (owners, incarnation, isMoving, begun, isCrowded) = state.withLock { state in
      state.openings.begun += 1
      let isCrowded = state.mayBeTaken || state.openings.begun - state.openings.ended > 1
      return (state.owners, state.incarnation, state.isMoving, state.openings.begun, isCrowded)
    }
    let hold = Hold()
    let outcome = Result { try DiskStore(at: directory, options: options(&dice, isReader: wantsReader, hold)) }
    defer { state.withLock { $0.openings.ended += 1 } }
    let (still, isMoved, mayBeTaken) = state.withLock { state in
      (
        state.owners, isMoving || state.isMoving || state.incarnation != incarnation,
        isCrowded || state.openings.begun != begun
      )
    }
    switch outcome {
    case .success(let store):
      if !store.isReadOnly, !isMoved, !owners.isDisjoint(with: still) { violate("two stores write to one directory") }
      if store.isReadOnly, !wantsReader || !mayBeTaken && !isMoved {
        violate("a store is for reading though nobody writes")
      }
      if !isMoving, add(store, isReader: store.isReadOnly, hold, since: incarnation) {
        return note("opened for \(store.isReadOnly ? "reading" : "writing")")
      }
      note("opened while the directory is moved")
      await store.close()
    case .failure(let error as ArchiveError) where error.code == .locked && (mayBeTaken || isMoved):
      note("locked")
    case .failure(let error as ArchiveError)
    where isMoved && [.directoryUnusable, .foreignFormat].contains(error.code):
      note("half of it is there: \(error.code)")
    case .failure(let error): violate("opening: \(error)")
    }
  }

  func leave(_ dice: inout Dice) async {
    guard let handle = handle(&dice) else { return }
    if dice.chance(65) {
      await close(handle)
    } else if !brake.isOn {
      // Released: the last one owner releases the directory.
      state.withLock { state in
        state.handles.removeAll { $0.number == handle.number }
        if handle.store is DiskStore, state.marks[handle.number]?.closed == nil {
          state.departing.append(Weak(hold: handle.hold))
        }
        for (number, writer) in state.writers where writer.handle == handle.number { state.writers[number] = nil }
      }
      note("\(handle.name) is released")
    }
  }

  func close(_ handle: Handle) async {
    let (start, isFirst) = state.withLock { state in
      let now = state.history.tick()
      let isFirst = state.marks[handle.number]?.leaving == nil
      if isFirst { state.marks[handle.number]?.leaving = now }
      state.history.note("\(handle.name) is closed")
      return (now, isFirst)
    }
    await handle.store.close()
    state.withLock { state in
      let marks = state.marks[handle.number] ?? Marks()
      if isFirst, !handle.isReader, marks.orphaned == nil { state.history.flushed(handle.incarnation, since: start) }
      let end = state.history.tick()
      state.marks[handle.number]?.closed = marks.closed ?? end
    }
  }

  /// Takes the directory away, as apps clear caches: a store that has it open loses it.
  func move(_ dice: inout Dice) async {
    guard !brake.isOn else { return }
    let isRenamed = dice.chance(50)
    await alone {
      guard FileManager.default.fileExists(atPath: directory.path) else { return }
      state.withLock { state in
        let now = state.history.tick()
        for number in state.marks.keys where state.marks[number]?.orphaned == nil {
          state.marks[number]?.orphaned = now
        }
        state.departing = []
        state.isMoving = true
        state.incarnation += 1
        state.history.note("the directory is \(isRenamed ? "renamed" : "removed")")
      }
      defer { state.withLock { $0.isMoving = false } }
      // A writer may make a file where everything had been removed.
      for _ in 0..<20 where !isRenamed && FileManager.default.fileExists(atPath: directory.path) {
        try? FileManager.default.removeItem(at: directory)
      }
      guard FileManager.default.fileExists(atPath: directory.path) else { return }
      let aside = directory.deletingLastPathComponent().appendingPathComponent("aside-\(UUID().uuidString)")
      try? FileManager.default.moveItem(at: directory, to: aside)
    }
  }
}
