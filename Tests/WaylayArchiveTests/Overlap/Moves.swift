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
    let isReader = dice.chance(20)
    let (incarnation, isMoving) = state.withLock { ($0.incarnation, $0.isMoving) }
    let hold = Hold()
    let outcome = Result { try DiskStore(at: directory, options: options(&dice, isReader: isReader, hold)) }
    let isMoved = state.withLock { isMoving || $0.isMoving || $0.incarnation != incarnation }
    switch outcome {
    case .success(let store):
      if !isMoving, add(store, isReader: isReader, hold, since: incarnation) {
        return note("opened for \(isReader ? "reading" : "writing")")
      }
      note("opened while the directory is moved")
      await store.close()
    case .failure(let error as ArchiveError)
    where (isMoved || isReader) && [.directoryUnusable, .foreignFormat].contains(error.code):
      note("there is none, or half of it: \(error.code)")
    case .failure(let error): violate("opening: \(error)")
    }
  }

  func leave(_ dice: inout Dice) async {
    guard let handle = handle(&dice) else { return }
    if dice.chance(65) {
      await close(handle)
    } else if !brake.isOn {
      // Released: the last one that has it closes it.
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
      if isFirst, !handle.isReader, marks.orphaned == nil {
        state.history.flushed(handle.incarnation, since: start, by: handle.number)
      }
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
