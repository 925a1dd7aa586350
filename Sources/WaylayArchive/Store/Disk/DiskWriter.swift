import Foundation

/// Writes a body to a file of its own, on the store's threads, in chunks that are checked, and encrypted where the
/// store is.
///
/// A body that turns out to be small never becomes a file of its own.
final class DiskWriter: EntryWriter {
  struct File: Sendable {
    var descriptor: FileDescriptor
    var file: EntryFile
  }

  fileprivate struct State {
    /// What is there of a chunk that is not full yet.
    var buffer: Data
    /// Full chunks that wait to be written.
    var queue: [Data] = []
    var queued = 0
    var file: File?
    var chunks: [BodyChunk]
    /// What of the body is in the file, and what it takes there.
    var written: Int64
    var offset: Int64
    /// What is counted against the limits and not in an entry.
    var reserved: Int64 = 0
    var isWriting = false
    var isText = false
    var failure: (any Error)?
    var isDone = false
    /// The entry, once a checkpoint has stored it.
    var known: EntryID?
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private static let mostQueued = 1 << 20

  private let store: DiskStore
  private let key: ArchiveKey
  private let digest: (UInt64, UInt64)
  fileprivate let state: Locked<State>

  init(
    store: DiskStore, key: ArchiveKey, digest: (UInt64, UInt64), known: EntryID? = nil, file: File? = nil,
    chunks: [BodyChunk] = [], buffer: Data = Data()
  ) {
    self.store = store
    self.key = key
    self.digest = digest
    let offset = chunks.reduce(0) { $0 + Int64($1.stored) }
    state = Locked(
      State(
        buffer: buffer, file: file, chunks: chunks, written: chunks.reduce(0) { $0 + Int64($1.plain) }, offset: offset,
        known: known))
  }

  deinit {
    // Nobody writes any more: a thread that did would hold this writer.
    let (known, file, reserved) = state.withLock { state in
      (state.known, state.isDone ? nil : state.file, state.reserved)
    }
    if reserved > 0 { try? store.reserve(-reserved, of: 0) }
    if let file { store.enqueue { $0.abandon(file, of: known) } } else if let known { store.release(known) }
  }

  var length: Int64 { state.withLock { $0.length } }

  func append(_ chunk: Data) async throws {
    let length = try state.withLock { state in
      try state.check()
      return state.length + Int64(chunk.count)
    }
    do {
      try store.reserve(Int64(chunk.count), of: length)
    } catch {
      giveUp(error)
      throw error
    }
    let (starts, isFull) = state.withLock { state in
      state.reserved += Int64(chunk.count)
      state.cut(chunk)
      return (state.starts(), state.queued > Self.mostQueued)
    }
    if starts { drain() }
    if isFull {
      await wait { $0.queued <= Self.mostQueued / 2 }
      try state.withLock { try $0.check() }
    }
  }

  func read(at offset: Int64, upTo limit: Int) async throws -> Data {
    enum Place {
      case memory(Data)
      case file(DiskBody, Range<Int64>)
    }
    guard offset >= 0, limit > 0 else { return Data() }
    let place = state.withLock { state -> Place in
      if offset < state.written, let file = state.file {
        let body = DiskBody(
          context: store.context, folder: "", file: file.file, digest: DiskStore.bytes(digest), offset: 0,
          chunks: state.chunks, inMemory: nil, descriptor: file.descriptor)
        return .file(body, offset..<min(offset + Int64(limit), state.written))
      }
      var start = state.written
      for piece in state.queue + [state.buffer] {
        if offset < start + Int64(piece.count) {
          return .memory(Data(piece.dropFirst(Int(offset - start)).prefix(limit)))
        }
        start += Int64(piece.count)
      }
      return .memory(Data())
    }
    switch place {
    case .memory(let data): return data
    case .file(let body, let range): return try await body.read(range)
    }
  }

  func checkpoint(_ draft: EntryDraft) async throws -> StoredEntry { try await publish(draft, isLast: false) }

  func commit(_ draft: EntryDraft) async throws -> StoredEntry {
    guard draft.key == key else { throw ArchiveError.wrongDraft }
    let small = try state.withLock { state -> (Data, Int64)? in
      try state.check()
      guard state.file == nil, state.queue.isEmpty, !state.isWriting, state.known == nil else { return nil }
      state.isDone = true
      defer { state.reserved = 0 }
      return (state.buffer, state.reserved)
    }
    if let (body, reserved) = small {
      try? store.reserve(-reserved, of: 0)
      let entry: StoredEntry
      do {
        entry = try await store.write(draft, body: body)
      } catch {
        giveUp(error)
        throw error
      }
      return entry
    }
    return try await publish(draft, isLast: true)
  }

  func abort() { giveUp(ArchiveError.writerDone) }

  /// Fails from now on, with the first reason that there was.
  private func giveUp(_ reason: any Error) {
    let waiters = state.withLock { state in
      // What is there stays readable; what is on disk goes with the writer, which may be writing just now.
      state.failure = state.failure ?? reason
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }
}

extension DiskWriter.State {
  fileprivate var length: Int64 { written + Int64(queued) + Int64(buffer.count) }

  fileprivate func check() throws {
    if let failure { throw failure }
    if isDone { throw ArchiveError.writerDone }
  }

  /// Cuts what is there into full chunks.
  fileprivate mutating func cut(_ chunk: Data) {
    var rest = chunk[...]
    if !buffer.isEmpty {
      let part = rest.prefix(BodyChunk.size - buffer.count)
      buffer.append(part)
      rest = rest.dropFirst(part.count)
      guard buffer.count == BodyChunk.size else { return }
      push(buffer)
      buffer = Data()
    }
    while rest.count >= BodyChunk.size {
      push(rest.prefix(BodyChunk.size))
      rest = rest.dropFirst(BodyChunk.size)
    }
    // A copy: the rest of a chunk would keep all of it in memory.
    if !rest.isEmpty { buffer = Data(rest) }
  }

  fileprivate mutating func push(_ chunk: Data) {
    queue.append(chunk)
    queued += chunk.count
  }

  /// Whether somebody has to begin to write.
  fileprivate mutating func starts() -> Bool {
    guard !queue.isEmpty, !isWriting, failure == nil else { return false }
    isWriting = true
    return true
  }
}

extension DiskWriter {
  /// Writes what waits, on a thread of the store.
  private func drain() {
    store.context.pool.run { [self] in
      while true {
        let (next, file, index, offset) = state.withLock { state in
          (state.failure == nil ? state.queue.first : nil, state.file, state.chunks.count, state.offset)
        }
        guard let next else { break }
        do {
          try store.writing { try write(next, to: file ?? begin(), UInt64(index), at: offset) }
        } catch let error as ArchiveError {
          giveUp(error)
        } catch {
          state.withLock { state in
            state.failure = ArchiveError(
              .notWritten, "a body could not be written (\(error)): free some space, or check the directory.",
              underlying: error)
          }
          store.options.logger.warning("the archive in \(store.directory) could not write a body: \(error)")
          if let error = error as? SystemError, error.isMissing { _ = store.isGone() }
        }
        wake()
      }
      let starts = state.withLock { state in
        state.isWriting = false
        return state.starts()
      }
      if starts { drain() }
      wake()
    }
  }

  private func wake() {
    let waiters = state.withLock { state in
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Waits until something is true of the state, or the writer has failed and writes no more.
  private func wait(until isReached: @Sendable (State) -> Bool) async {
    while true {
      let isThere = state.withLock { isReached($0) || ($0.failure != nil && !$0.isWriting) }
      if isThere { return }
      await withCheckedContinuation { continuation in
        let isThere = state.withLock { state in
          if isReached(state) || (state.failure != nil && !state.isWriting) { return true }
          state.waiters.append(continuation)
          return false
        }
        if isThere { continuation.resume() }
      }
    }
  }

  /// Makes the file.
  private func begin() throws -> File {
    let folder = store.folderName(of: key.partition)
    let file = store.state.withLock { state in
      EntryFile(
        partition: store.partition(key.partition, folder, in: &state), low: digest.0, number: state.names.number())
    }
    store.work()
    try store.begin([file])
    store.state.withLock { _ = $0.leftovers.drafts.insert(file) }
    let made: File
    do {
      made = File(descriptor: try store.create(file), file: file)
    } catch {
      store.enqueue { $0.discard([file]) }
      throw error
    }
    state.withLock { $0.file = made }
    return made
  }

  private func write(_ data: Data, to file: File, _ index: UInt64, at offset: Int64) throws {
    let isCompressed = state.withLock { state in
      // What it is, the draft says too late: by its looks.
      if index == 0 { state.isText = store.options.compressesText && data.looksLikeText }
      return state.isText
    }
    let (bytes, chunk) = try store.context.sealing.sealed(
      chunk: data, compressing: isCompressed, Sealing.Context(file: file.file.number, index: index),
      digest: DiskStore.bytes(digest))
    try store.files.write(bytes, to: file.descriptor, at: offset)
    state.withLock { state in
      state.queue.removeFirst()
      state.queued -= data.count
      state.chunks.append(chunk)
      state.written += Int64(data.count)
      state.offset += Int64(bytes.count)
    }
  }

  /// Writes what is left, then the head, then the record that makes an entry of it.
  private func publish(_ draft: EntryDraft, isLast: Bool) async throws -> StoredEntry {
    guard draft.key == key else { throw ArchiveError.wrongDraft }
    let starts = try state.withLock { state in
      try state.check()
      if !state.buffer.isEmpty {
        state.push(state.buffer)
        state.buffer = Data()
      }
      return state.starts()
    }
    if starts { drain() }
    await wait { $0.queue.isEmpty && !$0.isWriting }
    let publication = try state.withLock { state in
      try state.check()
      return Publication(
        draft: draft, digest: digest, file: state.file?.file, chunks: state.chunks, known: state.known,
        reserved: state.reserved, isLast: isLast)
    }
    do {
      let entry = try await store.perform { try $0.publish(publication) }
      state.withLock { state in
        state.known = isLast ? nil : entry.id
        state.reserved = 0
        state.isDone = isLast
      }
      if isLast { store.release(entry.id) }
      return entry
    } catch {
      giveUp(error)
      throw error
    }
  }
}

extension Data {
  /// Whether the first bytes are those of a text in UTF-8 or a relative of ASCII: no control characters but white space
  /// and escape.
  fileprivate var looksLikeText: Bool {
    prefix(1024).allSatisfy { $0 >= 0x20 || (0x09...0x0D).contains($0) || $0 == 0x1B }
  }
}
