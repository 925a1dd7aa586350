import Foundation

/// Writes an entry of a store on disk in pieces. A small body never becomes a file.
final class BodyWriter: EntryWriter {
  /// A file that is locked until the writer ends.
  struct File: Sendable {
    let number: UInt64
    let descriptor: FileDescriptor
    let isText: Bool
    private(set) var chunks: [BodyChunk] = []
    /// The end of the written chunks, in the body and in the file.
    private(set) var end: (plain: Int64, stored: Int64) = (0, 0)

    init(_ number: UInt64, _ descriptor: FileDescriptor, isText: Bool = false, chunks: [BodyChunk] = []) {
      (self.number, self.descriptor, self.isText) = (number, descriptor, isText)
      for chunk in chunks { append(chunk) }
    }

    mutating func append(_ chunk: BodyChunk) {
      chunks.append(chunk)
      end = (end.plain + Int64(chunk.plain), end.stored + Int64(chunk.stored))
    }
  }

  private struct State {
    var file: File?
    /// The bytes after those in `file`, until they are written.
    var buffer = Data()
    /// The bytes of this writer that count against the limits, but are in no entry.
    var reserved: Int64 = 0
    /// The entry in the index, and the length of its body there.
    var known: (id: EntryID, length: Int64)?
    /// The error that ended the writer; set once.
    var failure: (any Error)?
    var isDone = false

    var written: Int64 { file?.end.plain ?? 0 }
    var length: Int64 { written + Int64(buffer.count) }

    func check() throws {
      if let failure { throw failure }
      if isDone { throw ArchiveError.writerDone }
    }

    func next(leaving most: Int) throws -> Data? {
      try check()
      return buffer.count > most ? Data(buffer.prefix(BodyChunk.size)) : nil
    }
  }

  /// The maximum number of bytes in memory.
  private static let mostBuffered = 2 * BodyChunk.size

  private let store: DiskStore
  private let key: ArchiveKey
  private let digest: UInt64
  private let moment: Int64
  private let state: Locked<State>

  /// - Parameters:
  ///   - moment: ``ArchiveStore/moment`` when the entry was decided.
  ///   - known: The entry that it appends to.
  ///   - file: The file of the entry's body, if it has one.
  ///   - body: The entry's body, if it is in its row.
  init(
    _ store: DiskStore, _ key: ArchiveKey, since moment: Int64, known: StoredEntry? = nil, file: File? = nil,
    body: Data = Data()
  ) {
    (self.store, self.key, digest, self.moment) = (store, key, store.digest(of: key), moment)
    state = Locked(State(file: file, buffer: body, known: known.map { ($0.id, $0.bodyLength) }))
  }

  /// Removes a file that no row refers to; a running write retains the writer.
  deinit {
    let state = state.withLock { $0 }
    store.unreserve(state.reserved)
    if let known = state.known { store.endResuming(known.id) }
    guard let file = state.file, !state.isDone else { return }
    store.bodies.pool.run { [store] in
      // A failed transaction may have been committed. The next opening removes the file if this lookup fails.
      let isKnown = try? store.connections.read { database in
        try database.number("SELECT 1 FROM entry WHERE file=?", [.bits(file.number)]) != nil
      }
      if isKnown == false { try? store.directory.removeBody(file.number) }
      store.unlock(file)
    }
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
    let isFull = state.withLock { state in
      state.reserved += Int64(chunk.count)
      if state.buffer.isEmpty { state.buffer = chunk } else { state.buffer.append(chunk) }
      return state.buffer.count >= Self.mostBuffered
    }
    if isFull { try await write(leaving: BodyChunk.size - 1) }
  }

  func read(at offset: Int64, upTo limit: Int) async throws -> Data {
    guard offset >= 0, limit > 0 else { return Data() }
    let (file, piece) = state.withLock { state -> (File?, Data) in
      if offset < state.written { return (state.file, Data()) }
      return (nil, Data(state.buffer.dropFirst(Int(clamping: offset - state.written)).prefix(limit)))
    }
    guard let file else { return piece }
    let body = FileBody(
      store.bodies, number: file.number, digest: digest, chunks: file.chunks, descriptor: file.descriptor)
    return try await body.read(offset..<min(offset + Int64(limit), body.length))
  }

  func checkpoint(_ draft: EntryDraft) async throws -> StoredEntry { try await publish(draft, isLast: false) }
  func commit(_ draft: EntryDraft) async throws -> StoredEntry { try await publish(draft, isLast: true) }
  func abort() { giveUp(ArchiveError.writerDone) }

  /// Ends the writer with an error; the bytes so far stay readable.
  private func giveUp(_ reason: any Error) { state.withLock { $0.failure = $0.failure ?? reason } }

  /// Writes chunks to the file until at most `most` bytes are in memory.
  private func write(leaving most: Int) async throws {
    do {
      try await store.bodies.pool.perform { [self] in
        // A closed store has released the lock of the file.
        try store.checkLife()
        var hasMadeRoom = false
        while let chunk = try state.withLock({ try $0.next(leaving: most) }) {
          do { try write(chunk) } catch let error as SystemError where error.isFull && !hasMadeRoom {
            hasMadeRoom = true
            store.makeRoomOnVolume(forFile: state.withLock { $0.file == nil })
          }
        }
      }
    } catch { giveUp(store.notWritten(error, "a body")) }
    try state.withLock { try $0.check() }
  }

  private func write(_ data: Data) throws {
    if state.withLock({ $0.file == nil }) {
      let (number, descriptor) = try store.directory.makeBody()
      let isText = store.compresses(data)
      store.locked.withLock { $0[number] = descriptor }
      state.withLock { $0.file = File(number, descriptor, isText: isText) }
    }
    let (place, descriptor, isText, end) = state.withLock { state in
      let file = state.file!
      let place = Sealing.Context(file: file.number, index: UInt64(file.chunks.count))
      return (place, file.descriptor, file.isText, file.end.stored)
    }
    let (bytes, chunk) = try store.bodies.sealing.sealed(chunk: data, compressing: isText, place, digest: digest.bytes)
    try store.files.write(bytes, to: descriptor, at: end)
    state.withLock { state in
      // A copy, because a slice would retain the whole piece.
      let rest = state.buffer.dropFirst(data.count)
      state.buffer = rest.count < BodyChunk.size ? Data(rest) : rest
      state.file?.append(chunk)
    }
  }

  /// Writes the rest, and commits the entry.
  private func publish(_ draft: EntryDraft, isLast: Bool) async throws -> StoredEntry {
    guard draft.key == key else { throw ArchiveError.wrongDraft }
    let isInFile = try state.withLock { state in
      try state.check()
      return state.file != nil || state.length > DiskStore.inline
    }
    if isInFile { try await write(leaving: 0) }
    let (file, buffer, known, reserved) = try state.withLock { state in
      try state.check()
      defer { state.reserved = 0 }
      return (state.file, state.buffer, state.known, state.reserved)
    }
    // From here on, the entry counts against the limits.
    store.unreserve(reserved)
    do {
      let entry = try await store.publish(draft, file, buffer, known: known, since: moment, isLast: isLast)
      state.withLock { state in
        state.known = isLast ? nil : (entry.id, entry.bodyLength)
        state.isDone = isLast
      }
      if isLast {
        store.endResuming(entry.id)
        // The body stays readable, and the next writer may append.
        if let file { store.unlock(file) }
      }
      return entry
    } catch {
      giveUp(error)
      throw error
    }
  }
}
