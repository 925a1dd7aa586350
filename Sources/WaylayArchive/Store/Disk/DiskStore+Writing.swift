import Foundation

extension DiskStore {
  /// The longest head.
  private static let longestHead = 1 << 20
  /// The bytes, and the jobs, that may wait before the next entry is refused: less than a second's worth.
  private static let mostWaiting = 32 << 20
  private static let mostJobs = 4096

  /// Stores an entry with its whole body, which is written in the background.
  @discardableResult
  package func put(_ draft: EntryDraft, body: Data) throws -> StoredEntry { try put(draft, body: body, written: nil) }

  /// The same for who waits until it is written: nothing is too much for the queue.
  func write(_ draft: EntryDraft, body: Data) async throws -> StoredEntry {
    let promise = Promise<Void>()
    let entry = try put(draft, body: body) { error in promise.settle(error.map { .failure($0) } ?? .success(())) }
    do {
      try await promise.value()
    } catch let error as ArchiveError {
      throw error
    } catch {
      throw ArchiveError(
        .notWritten, "the entry could not be written (\(error)): free some space, or check the directory.",
        underlying: error)
    }
    return entry
  }

  private func put(
    _ draft: EntryDraft, body: Data, written: (@Sendable ((any Error)?) -> Void)?
  ) throws -> StoredEntry {
    let digest = hash.digest(draft.key)
    let folder = folderName(of: draft.key.partition)
    let bytes = Self.estimate(draft, body: Int64(body.count))
    // Also after a failure: what made room has gone, and its files are to follow.
    defer { work() }
    return try state.withLock { state in
      try check(state, head: draft.head.count, bytes: bytes)
      let fits = state.work.waiting == 0 || state.work.waiting + body.count <= Self.mostWaiting
      guard written != nil || fits && state.work.outstanding < Self.mostJobs else { throw ArchiveError.busy }
      let waiting = draft.replacing.compactMap { state.work.writes.write(of: $0.number) }
      var (replaced, superseded) = state.replace(draft.replacing)
      // The new one first, then the old one: a kill between the two leaves both, not neither.
      defer { dropLater(replaced, in: &state) }
      let isInline = body.count <= BodyChunk.size
      guard makeRoom(for: DiskSlot.blocks(bytes, isInline: isInline), count: 1, in: &state) else {
        // What is on the disk stays there.
        state.putBack(superseded + Superseded.entries(replaced))
        replaced.removeAll(where: \.0.isDurable)
        throw ArchiveError.storeFull
      }
      let (entry, slot) = enter(draft, digest, body, bytes, folder, in: &state)
      state.index.insert(slot, hash: digest.0, isPinned: slot.isPinned)
      state.usage.add(slot)
      state.tier.keep(entry, upTo: options.memory, isPinned: true)
      // Nor does a loss of power: what the disk has stays until it has the new one.
      if !superseded.isEmpty { state.kept.items[entry.id] = superseded }
      state.work.waiting += body.count
      let write = WriteQueue.Write(
        id: entry.id, draft: draft, digest: digest, partition: slot.partition, body: body,
        replaced: Superseded.entries(replaced), written: written)
      // Of another partition, whose record may be behind that place, none takes it.
      let index = replaced.firstIndex { slot, low in
        slot.partition == write.partition && waiting.contains { $0.id == EntryID(number: slot.number, hash: low) }
      }
      if let index {
        let (old, low) = replaced.remove(at: index)
        state.work.waiting -= waiting.first { $0.id.number == old.number }?.body.count ?? 0
        state.work.writes.replace(EntryID(number: old.number, hash: low), by: write)
        // It has no files and never will.
        state.leftovers.use(old, low)
      } else {
        state.work.writes.add(write)
        state.work.add { $0.write(place: write.id.number) }
      }
      return entry
    }
  }

  /// Replaces the head of an entry; its body stays in place.
  @discardableResult
  package func update(_ entry: StoredEntry, head: [UInt8], details: EntryDetails) throws -> StoredEntry? {
    defer { work() }
    return try state.withLock { state in
      try check(state, head: head.count, bytes: 0)
      guard let handle = state.find(entry.id), state.growing.lengths[entry.id].map({ $0 == entry.bodyLength }) ?? true
      else {
        return nil
      }
      let isOutstanding = state.work.heads[entry.id] != nil
      if !isOutstanding {
        guard state.work.outstanding < Self.mostJobs else { throw ArchiveError.busy }
        state.index[handle].pending &+= 1
        state.work.add { $0.rewriteHead(entry.id) }
      }
      // One that has not been written yet is not written at all: this one takes its place.
      state.work.heads[entry.id] = (head, details)
      state.index[handle].isPinned = details.isPinned
      state.index.setPinned(details.isPinned || state.growing.resumed.contains(entry.id), handle)
      var new = state.tier.find(entry.id)?.entry ?? entry
      new.head = head
      new.details = details
      state.tier.keep(new, upTo: options.memory, isPinned: true)
      return new
    }
  }

  /// Starts an entry whose body follows.
  package func makeWriter(for key: ArchiveKey, length: Int64?) throws -> any EntryWriter {
    try state.withLock { try check($0, head: 0, bytes: length ?? 0) }
    return DiskWriter(store: self, key: key, digest: hash.digest(key))
  }

  /// Returns a writer that appends to a stored body; `nil` if another one is doing so, or if the body is now longer
  /// than `entry` says.
  package func resumeWriting(_ entry: StoredEntry) async throws -> (any EntryWriter)? {
    try state.withLock { try check($0, head: 0, bytes: 0) }
    // What is still to be written is a file afterwards.
    try await perform { _ in }
    let digest = hash.digest(entry.key)
    let slot = try state.withLock { state -> DiskSlot? in
      try check(state, head: 0, bytes: 0)
      guard let handle = state.find(entry.id), state.index[handle].isDurable,
        state.growing.resumed.insert(entry.id).inserted
      else {
        return nil
      }
      state.index.setPinned(true, handle)
      return state.index[handle]
    }
    guard let slot else { return nil }
    var writer: DiskWriter?
    defer { if writer == nil { release(entry.id) } }
    do {
      writer = try await context.pool.perform { [self] in
        // The body of an entry only grows: one that is as long as the caller's is the caller's.
        guard let now = try load(slot, digest, wanted: entry.key), now.bodyLength == entry.bodyLength,
          let body = now.contents as? DiskBody, let folder = state.withLock({ $0.names.folders[slot.partition] })
        else { return nil }
        let file = slot.bodyFile(digest.0)
        // A body within the file of its head cannot grow there.
        let descriptor = slot.head == slot.body || slot.bodyOffset > 0 ? nil : try archive.openForWriting(file, folder)
        return DiskWriter(
          store: self, key: now.key, digest: digest, known: now.id,
          file: descriptor.map { DiskWriter.File(descriptor: $0, file: file) },
          chunks: descriptor == nil ? [] : body.chunks,
          buffer: descriptor == nil ? now.contents.inMemory ?? Data() : Data())
      }
    } catch {
      _ = handle(error, slot, digest.0)
    }
    return writer
  }

  /// Removes entries.
  package func remove(_ ids: [EntryID]) {
    guard log != nil else { return }
    state.withLock { state in
      guard !state.life.isClosed else { return }
      for (slot, low) in takeReplaced(ids, in: &state) { state.work.add { $0.drop(slot, low, nil) } }
    }
    work()
  }
}

extension DiskStore {
  /// Throws when nothing can be stored.
  func check(_ state: State, head: Int, bytes: Int64) throws {
    if log == nil { throw ArchiveError.readOnly }
    if state.life.isClosed { throw ArchiveError.closed }
    if state.life.isLost { throw ArchiveError.unusable(directory, SystemError("open", code: ENOENT)) }
    if head > Self.longestHead { throw ArchiveError.entryTooLarge(Int64(head), Int64(Self.longestHead)) }
    let limit = state.limits.entryBytes
    if bytes > limit { throw ArchiveError.entryTooLarge(bytes, limit) }
  }

  /// What an entry will take, before it is compressed and encrypted.
  static func estimate(_ draft: EntryDraft, body: Int64) -> Int64 {
    let details = draft.details
    let text = details.url.utf8.count + details.host.utf8.count + details.mediaType.utf8.count
    let chunks = (body + Int64(BodyChunk.size) - 1) / Int64(BodyChunk.size)
    let head = draft.head.count + draft.key.bytes.count + draft.key.partition.bytes.count + text + 60
    return DiskSlot.bookkeeping + Int64(head) + body + chunks * 16
  }

  private func enter(
    _ draft: EntryDraft, _ digest: (UInt64, UInt64), _ body: Data, _ bytes: Int64, _ folder: String?,
    in state: inout State
  ) -> (StoredEntry, DiskSlot) {
    var record = LogRecord(.put)
    record.partition = partition(draft.key.partition, folder, in: &state)
    record.high = digest.1
    record.number = state.names.number()
    record.head = record.number
    record.body = body.count <= BodyChunk.size ? record.head : state.names.number()
    record.stored = Self.milliseconds(draft.details.stored)
    if draft.details.isPinned { record.flags = .pinned }
    record.marks = EntryMarks(draft.key, draft.details, hash)
    var slot = DiskSlot(record)
    slot.cost = bytes
    slot.isDurable = false
    slot.pending = 1
    let entry = StoredEntry(
      id: EntryID(number: slot.number, hash: digest.0), key: draft.key, head: draft.head, details: draft.details,
      storedBytes: bytes, contents: MemoryBody(data: body))
    return (entry, slot)
  }

  /// Takes out what a new entry replaces; its files stay until ``dropLater(_:in:)``.
  func takeReplaced(_ ids: [EntryID], in state: inout State) -> [(DiskSlot, UInt64)] {
    ids.compactMap { id in state.find(id).map { (state.take($0, id.hash), id.hash) } }
  }

  func dropLater(_ slots: [(DiskSlot, UInt64)], in state: inout State) {
    for (slot, low) in slots { state.work.add { $0.drop(slot, low, nil) } }
  }

  /// The name that the app gives the folder of a new partition; asked for without the lock, as the app may use the
  /// store.
  func folderName(of partition: ArchivePartition) -> String? {
    guard let name = options.folderName else { return nil }
    let digest = hash.digest(partition.bytes).0
    return state.withLock { $0.names.partitions[digest] != nil } ? nil : name(partition)
  }

  /// The number of a partition, which gets a folder the first time.
  func partition(_ partition: ArchivePartition, _ wanted: String?, in state: inout State) -> UInt32 {
    let digest = hash.digest(partition.bytes).0
    if let number = state.names.partitions[digest] { return number }
    let folder = wanted.map(PartitionFolder.isUsable) == true ? wanted ?? "" : PartitionFolder.named(digest)
    let number = state.names.add(digest, folder: folder)
    state.work.add { $0.attempt("note a partition") { try $0.note(partition: number) } }
    return number
  }

  /// Has the log know the folder of a partition before anything that is in it.
  func note(partition number: UInt32) throws {
    guard let record = state.withLock({ $0.names.unnoted[number] }) else { return }
    try log?.append(record)
    state.withLock { $0.names.unnoted[number] = nil }
  }

  static func milliseconds(_ date: Date) -> UInt64 {
    UInt64(clamping: Int64(max(0, min(date.timeIntervalSince1970 * 1000, 9e15))))
  }

  /// Ends a writer's hold on an entry.
  func release(_ id: EntryID) {
    state.withLock { state in
      state.growing.resumed.remove(id)
      if let handle = state.find(id) { state.index.setPinned(state.index[handle].isPinned, handle) }
    }
  }
}

extension ArchiveError {
  static let busy = ArchiveError(
    .storeFull,
    "the disk does not keep up: 4096 entries or 32 MB are waiting to be written. Store less, or store later.")
}

/// An entry whose body a writer has written.
struct Publication: Sendable {
  var draft: EntryDraft
  var digest: (UInt64, UInt64)
  /// The file of the body; `nil` for a body of no bytes.
  var file: EntryFile?
  var chunks: [BodyChunk]
  /// The entry that it is already, with a shorter body.
  var known: EntryID?
  /// What has been counted of it against the limits.
  var reserved: Int64
  var isLast: Bool
}

extension DiskStore {
  /// Makes an entry of a written body; on the thread of the log.
  func publish(_ publication: Publication) throws -> StoredEntry {
    let (draft, digest) = (publication.draft, publication.digest)
    let folderName = folderName(of: draft.key.partition)
    let (old, number, partition) = try state.withLock { state in
      try check(state, head: draft.head.count, bytes: 0)
      let old = publication.known.flatMap { state.slot($0) }
      if publication.known != nil, old == nil { throw ArchiveError.writerOvertaken }
      return (old, state.names.number(), self.partition(draft.key.partition, folderName, in: &state))
    }
    var record = LogRecord(.put)
    record.flags = draft.details.isPinned ? .pinned : []
    record.partition = publication.file?.partition ?? partition
    (record.low, record.high) = digest
    record.number = old?.number ?? number
    record.head = number
    record.body = publication.file?.number ?? number
    record.stored = Self.milliseconds(draft.details.stored)
    record.hits = old?.hits ?? 0
    record.marks = EntryMarks(draft.key, draft.details, hash)
    var slot = DiskSlot(record)
    slot.isPinned = draft.details.isPinned
    let block = HeadBlock(key: draft.key, details: draft.details, head: draft.head, chunks: publication.chunks)
    do {
      try begin([slot.headFile(digest.0)])
      try writeHead(block, &slot, digest, followedBy: nil)
      let isInline = slot.head == slot.body
      slot.bodyOffset = isInline ? slot.headLength : 0
      slot.bodyLength = block.storedBodyLength
      slot.cost = DiskSlot.cost(
        headLength: Int64(slot.headLength), bodyOffset: 0, bodyLength: slot.bodyLength, isInline: isInline)
      let (cost, bytes) = (slot.cost, slot.blocks - (old?.blocks ?? 0) - publication.reserved)
      let limit = limits.entryBytes
      guard cost <= limit else { throw ArchiveError.entryTooLarge(cost, limit) }
      let hasRoom = state.withLock { makeRoom(for: max(bytes, 0), count: old == nil ? 1 : 0, in: &$0) }
      guard hasRoom else { throw ArchiveError.storeFull }
      try log?.append(slot.record(low: digest.0, isVisited: old != nil))
    } catch {
      discard([slot.headFile(digest.0)])
      guard let error = error as? SystemError else { throw error }
      if error.isMissing { _ = isGone() }
      options.logger.warning("the archive in \(directory) could not write an entry: \(error)")
      throw ArchiveError(
        .notWritten, "the entry could not be written (\(error)): free some space, or check the directory.",
        underlying: error)
    }
    let folder = state.withLock { $0.names.folders[slot.partition] } ?? ""
    let entry = entry(block, slot, digest, folder: folder, inMemory: nil)
    var replaced: [LogRecord] = []
    var gone: Set<EntryFile> = []
    let isThere = state.withLock { state in
      if let known = publication.known {
        guard let handle = state.find(known) else { return false }
        // A head that was given to it as it was, and waits to be written, is not that of what it is now.
        if state.work.heads.removeValue(forKey: known) != nil { state.index[handle].pending &-= 1 }
        slot.pending = state.index[handle].pending
        state.usage.replace(state.index[handle], by: slot)
        state.index[handle] = slot
        state.growing.lengths[known] = block.bodyLength
        state.index.setPinned(slot.isPinned || !publication.isLast, handle)
      } else {
        state.index.insert(slot, hash: digest.0, isPinned: slot.isPinned || !publication.isLast)
        if !publication.isLast { state.growing.resumed.insert(entry.id) }
        state.usage.add(slot)
      }
      state.usage.reserve(-publication.reserved)
      state.leftovers.use(slot, digest.0)
      if slot.pending == 0 {
        state.tier.forget(entry.id)
        state.tier.keep(entry, upTo: options.memory)
      }
      let (dropped, superseded) = state.replace(draft.replacing.filter { $0 != entry.id })
      dropLater(dropped, in: &state)
      if !superseded.isEmpty { state.kept.items[entry.id, default: []] += superseded }
      replaced = Superseded.records(of: superseded, replacedBy: entry.id)
      if let old { gone = state.supersede(old, of: entry.id) }
      return true
    }
    // Removed while the head was written: its files go with the job that notes that, but for the new head.
    guard isThere else {
      // Once the log says that it has gone; that job is in the queue already.
      let file = slot.headFile(digest.0)
      enqueue { $0.discard([file]) }
      throw ArchiveError.writerOvertaken
    }
    if !replaced.isEmpty { attempt("note what was replaced") { try $0.log?.append(replaced) } }
    discard(gone)
    return entry
  }

  /// Gives up what a writer wrote after its last checkpoint, or all of it; on the thread of the log.
  func abandon(_ file: DiskWriter.File, of known: EntryID?) {
    guard !isSealed else { return }
    guard let known else { return discard([file.file]) }
    // Of one that was replaced, its body stays as long as it is kept.
    let slot = state.withLock { state in state.slot(known) ?? state.kept.slot(known) }
    if let slot, slot.bodyFile(known.hash) == file.file {
      // What comes behind is nobody's; readers of the checkpoint do not read so far.
      attempt("cut a body") { try $0.files.truncate(file.descriptor, to: Int64(slot.bodyOffset) + slot.bodyLength) }
    } else {
      // Where the entry has been removed, first the log has to say so, and that job is in the queue already.
      enqueue { $0.discard([file.file]) }
    }
    release(known)
  }
}

extension ArchiveError {
  static let writerOvertaken = ArchiveError(
    .notWritten, "the entry was removed while its body was still being written: start over.")
}
