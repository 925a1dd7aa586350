import Foundation

/// Collects a body in memory.
final class MemoryWriter: EntryWriter {
  private struct State {
    var body: Data
    var reserved: Int64 = 0
    var isDone = false
    var checkpointed: EntryID?
  }

  private let store: MemoryStore
  private let key: ArchiveKey
  private let state: Locked<State>

  init(store: MemoryStore, key: ArchiveKey, body: Data) {
    self.store = store
    self.key = key
    state = Locked(State(body: body))
  }

  deinit {
    abort()
  }

  /// The entry that this writer's checkpoints are, or that it goes on from.
  var checkpointed: EntryID? {
    get { state.withLock { $0.checkpointed } }
    set { state.withLock { $0.checkpointed = newValue } }
  }

  var length: Int64 { state.withLock { Int64($0.body.count) } }

  func append(_ chunk: Data) async throws {
    let length = try state.withLock { state in
      guard !state.isDone else { throw ArchiveError.writerDone }
      return Int64(state.body.count + chunk.count)
    }
    do {
      try store.reserve(Int64(chunk.count), of: length)
    } catch {
      abort()
      throw error
    }
    state.withLock { state in
      state.body.append(chunk)
      state.reserved += Int64(chunk.count)
    }
  }

  func read(at offset: Int64, upTo limit: Int) async throws -> Data {
    state.withLock { state in
      guard offset >= 0, offset < state.body.count else { return Data() }
      return Data(state.body.dropFirst(Int(offset)).prefix(max(0, limit)))
    }
  }

  func checkpoint(_ draft: EntryDraft) async throws -> StoredEntry {
    // The writer keeps its own reservation: the checkpoint's copy counts by itself.
    let (body, known) = try state.withLock { state in
      guard !state.isDone else { throw ArchiveError.writerDone }
      return (state.body, state.checkpointed)
    }
    let entry = try store.insert(draft, contents: MemoryBody(data: body), reserved: 0, replacing: draft.replacing, as: known)
    state.withLock { $0.checkpointed = entry.id }
    return entry
  }

  func commit(_ draft: EntryDraft) async throws -> StoredEntry {
    guard draft.key == key else { throw ArchiveError.wrongDraft }
    let (body, reserved, known) = try state.withLock { state in
      guard !state.isDone else { throw ArchiveError.writerDone }
      state.isDone = true
      defer { state.reserved = 0 }
      return (state.body, state.reserved, state.checkpointed)
    }
    do {
      return try store.insert(draft, contents: MemoryBody(data: body), reserved: reserved, replacing: draft.replacing, as: known)
    } catch {
      try? store.reserve(-reserved, of: 0)
      throw error
    }
  }

  func abort() {
    let reserved = state.withLock { state in
      state.isDone = true
      // What is there stays readable as long as somebody holds the writer.
      defer { state.reserved = 0 }
      return state.reserved
    }
    if reserved > 0 { try? store.reserve(-reserved, of: 0) }
  }
}

extension ArchiveError {
  static let writerDone = ArchiveError(.notWritten, "a writer was used after it had been committed or had given up: make another one.")
  static let wrongDraft = ArchiveError(
    .notWritten, "a writer was given a draft with another key than its own: make the writer for that key.")
}
