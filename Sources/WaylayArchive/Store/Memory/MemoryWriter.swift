import Foundation

/// Collects a body in memory.
final class MemoryWriter: EntryWriter {
  private struct State {
    var body = Data()
    var reserved: Int64 = 0
    var failure: (any Error)?
    var isDone = false
    /// The entry that this writer's checkpoints are, or that it goes on from.
    var known: EntryID?

    func check() throws {
      if let failure { throw failure }
      if isDone { throw ArchiveError.writerDone }
    }
  }

  private let store: MemoryStore
  private let key: ArchiveKey
  private let state: Locked<State>

  init(store: MemoryStore, key: ArchiveKey, known: EntryID? = nil) {
    self.store = store
    self.key = key
    state = Locked(State(known: known))
  }

  deinit {
    abort()
    if let known = state.withLock({ $0.isDone ? nil : $0.known }) { store.release(known) }
  }

  var length: Int64 { state.withLock { Int64($0.body.count) } }

  func append(_ chunk: Data) async throws {
    let length = try state.withLock { state in
      try state.check()
      return Int64(state.body.count) + Int64(chunk.count)
    }
    do {
      try store.reserve(Int64(chunk.count), of: length)
    } catch {
      giveUp(error)
      throw error
    }
    state.withLock { state in
      state.body.append(chunk)
      state.reserved += Int64(chunk.count)
    }
  }

  func read(at offset: Int64, upTo limit: Int) async throws -> Data {
    state.withLock { state in
      guard offset >= 0, limit > 0, offset < state.body.count else { return Data() }
      return Data(state.body.dropFirst(Int(offset)).prefix(limit))
    }
  }

  func checkpoint(_ draft: EntryDraft) async throws -> StoredEntry {
    guard draft.key == key else { throw ArchiveError.wrongDraft }
    // The writer keeps its own reservation: the checkpoint's copy counts by itself.
    let (body, known) = try state.withLock { state in
      try state.check()
      return (state.body, state.known)
    }
    do {
      let entry = try store.insert(
        draft, contents: MemoryBody(data: body), reserved: 0, replacing: draft.replacing.filter { $0 != known },
        as: known, isLast: false)
      state.withLock { $0.known = entry.id }
      return entry
    } catch {
      giveUp(error)
      throw error
    }
  }

  func commit(_ draft: EntryDraft) async throws -> StoredEntry {
    guard draft.key == key else { throw ArchiveError.wrongDraft }
    let (body, reserved, known) = try state.withLock { state in
      try state.check()
      return (state.body, state.reserved, state.known)
    }
    do {
      let entry = try store.insert(
        draft, contents: MemoryBody(data: body), reserved: reserved, replacing: draft.replacing.filter { $0 != known },
        as: known)
      state.withLock { state in
        state.isDone = true
        state.reserved = 0
      }
      return entry
    } catch {
      giveUp(error)
      throw error
    }
  }

  func abort() { giveUp(ArchiveError.writerDone) }

  /// Fails from now on, with the first reason that there was.
  private func giveUp(_ reason: any Error) {
    let reserved = state.withLock { state in
      state.failure = state.failure ?? reason
      // What is there stays readable as long as somebody holds the writer.
      defer { state.reserved = 0 }
      return state.isDone ? 0 : state.reserved
    }
    if reserved > 0 { try? store.reserve(-reserved, of: 0) }
  }
}

extension ArchiveError {
  static let writerDone = ArchiveError(
    .notWritten, "a writer was used after it was committed or had given up: make another one.")
  static let wrongDraft = ArchiveError(
    .notWritten, "a writer was given a draft for a different key: make a writer for that key.")
}
