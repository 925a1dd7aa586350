import Foundation

extension DiskStore {
  /// The longest head.
  private static let longestHead = 1 << 20
  /// The bytes, and the jobs, that may wait before the next entry is refused: less than a second's worth.
  private static let mostWaiting = 32 << 20
  private static let mostJobs = 4096

  /// Stores an entry with its whole body, which is written in the background.
  @discardableResult
  public func put(_ draft: EntryDraft, body: Data) throws -> StoredEntry {
    let digest = hash.digest(draft.key)
    let folder = folderName(of: draft.key.partition)
    let bytes = Self.estimate(draft, body: Int64(body.count))
    // Also after a failure: what made room has gone, and its files are to follow.
    defer { work() }
    return try state.withLock { state in
      try check(state, head: draft.head.count, bytes: bytes)
      guard state.waiting == 0 || state.waiting + body.count <= Self.mostWaiting, state.outstanding < Self.mostJobs
      else {
        throw ArchiveError.busy
      }
      let waiting = draft.replacing.compactMap { state.turns.write(of: $0.number) }
      var (replaced, retired) = state.replace(draft.replacing)
      // The new one first, then the old one: a kill between the two leaves both, not neither.
      defer { dropLater(replaced, in: &state) }
      guard makeRoom(for: bytes, count: 1, in: &state) else {
        if !retired.isEmpty { state.jobs.append { [retired] in $0.letGo(retired) } }
        throw ArchiveError.storeFull
      }
      let (entry, slot) = enter(draft, digest, body, bytes, folder, in: &state)
      state.index.insert(slot, hash: digest.0, isPinned: slot.isPinned)
      state.usage.bytes += bytes
      state.usage.count += 1
      state.keep(entry, upTo: options.memory, isPinned: true)
      // Nor does a loss of power: what the medium has stays until it has the new one.
      if !retired.isEmpty { state.retired[entry.id] = retired }
      state.waiting += body.count
      let write = Turns.Write(id: entry.id, draft: draft, digest: digest, partition: slot.partition, body: body)
      // Of another partition, whose record may be behind that turn, none takes it.
      let index = replaced.firstIndex { slot, low in
        slot.partition == write.partition && waiting.contains { $0.id == EntryID(number: slot.number, hash: low) }
      }
      if let index {
        let (old, low) = replaced.remove(at: index)
        state.waiting -= waiting.first { $0.id.number == old.number }?.body.count ?? 0
        state.turns.replace(EntryID(number: old.number, hash: low), by: write)
        // It has no files and never will.
        state.loose.remove(old.headFile(low))
        state.loose.remove(old.bodyFile(low))
      } else {
        state.turns.add(write)
        state.jobs.append { $0.write(turn: write.id.number) }
      }
      return entry
    }
  }

  /// Replaces the head of an entry; its body stays in place.
  @discardableResult
  public func update(_ entry: StoredEntry, head: [UInt8], details: EntryDetails) throws -> StoredEntry? {
    defer { work() }
    return try state.withLock { state in
      try check(state, head: head.count, bytes: 0)
      guard let handle = state.find(entry.id), state.grown[entry.id].map({ $0 == entry.bodyLength }) ?? true else {
        return nil
      }
      let isOutstanding = state.heads[entry.id] != nil
      if !isOutstanding {
        guard state.outstanding < Self.mostJobs else { throw ArchiveError.busy }
        state.index[handle].pending &+= 1
        state.jobs.append { $0.rewriteHead(entry.id) }
      }
      // One that has not been written yet is not written at all: this one takes its turn.
      state.heads[entry.id] = (head, details)
      state.index[handle].isPinned = details.isPinned
      state.index.setPinned(details.isPinned || state.resumed.contains(entry.id), handle)
      let number = entry.id.number
      var new = state.tier.first(entry.id.hash) { $0.id.number == number }.map { state.tier[$0] } ?? entry
      new.head = head
      new.details = details
      state.keep(new, upTo: options.memory, isPinned: true)
      return new
    }
  }

  /// Starts an entry whose body follows.
  public func makeWriter(for key: ArchiveKey, length: Int64?) throws -> any EntryWriter {
    try state.withLock { try check($0, head: 0, bytes: length ?? 0) }
    return DiskWriter(store: self, key: key, digest: hash.digest(key))
  }

  /// Returns a writer that appends to a stored body; `nil` if another one is doing so, or if the body is now longer
  /// than `entry` says.
  public func resumeWriting(_ entry: StoredEntry) async throws -> (any EntryWriter)? {
    try state.withLock { try check($0, head: 0, bytes: 0) }
    // What is still to be written is a file afterwards.
    try await perform { _ in }
    let digest = hash.digest(entry.key)
    let slot = try state.withLock { state -> DiskSlot? in
      try check(state, head: 0, bytes: 0)
      guard let handle = state.find(entry.id), state.index[handle].isDurable, state.resumed.insert(entry.id).inserted
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
          let body = now.contents as? DiskBody, let folder = state.withLock({ $0.folders[slot.partition] })
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
  public func remove(_ ids: [EntryID]) {
    guard journal != nil else { return }
    state.withLock { state in
      guard !state.isClosed else { return }
      for (slot, low) in takeReplaced(ids, in: &state) { state.jobs.append { $0.drop(slot, low, nil) } }
    }
    work()
  }
}

extension DiskStore {
  /// Throws when nothing can be stored.
  func check(_ state: State, head: Int, bytes: Int64) throws {
    if journal == nil { throw ArchiveError.readOnly }
    if state.isClosed { throw ArchiveError.closed }
    if state.isLost { throw ArchiveError.unusable(directory, SystemError("open", code: ENOENT)) }
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
    var record = JournalRecord(.put)
    record.partition = partition(draft.key.partition, folder, in: &state)
    record.high = digest.1
    record.number = state.number()
    record.head = record.number
    record.body = body.count <= BodyChunk.size ? record.head : state.number()
    record.stored = Self.milliseconds(draft.details.stored)
    if draft.details.isPinned { record.flags = .pinned }
    var slot = DiskSlot(record)
    slot.cost = bytes
    slot.isDurable = false
    slot.pending = 1
    let entry = StoredEntry(
      id: EntryID(number: slot.number, hash: digest.0), key: draft.key, head: draft.head, details: draft.details,
      storedBytes: bytes,
      contents: MemoryBody(data: body))
    return (entry, slot)
  }

  /// Takes out what a new entry replaces; its files stay until ``dropLater(_:in:)``.
  func takeReplaced(_ ids: [EntryID], in state: inout State) -> [(DiskSlot, UInt64)] {
    ids.compactMap { id in state.find(id).map { (state.take($0, id.hash), id.hash) } }
  }

  func dropLater(_ slots: [(DiskSlot, UInt64)], in state: inout State) {
    for (slot, low) in slots { state.jobs.append { $0.drop(slot, low, nil) } }
  }

  /// The name that the app gives the folder of a new partition; asked for without the lock, as the app may use the
  /// store.
  func folderName(of partition: ArchivePartition) -> String? {
    guard let name = options.folderName else { return nil }
    let digest = hash.digest(partition.bytes).0
    return state.withLock { $0.partitions[digest] != nil } ? nil : name(partition)
  }

  /// The number of a partition, which gets a folder the first time.
  func partition(_ partition: ArchivePartition, _ wanted: String?, in state: inout State) -> UInt32 {
    let digest = hash.digest(partition.bytes).0
    if let number = state.partitions[digest] { return number }
    let number = (state.folders.keys.max() ?? 0) + 1
    let folder = wanted.map(PartitionFolder.isUsable) == true ? wanted ?? "" : PartitionFolder.named(digest)
    state.partitions[digest] = number
    state.folders[number] = folder
    state.unnoted[number] = .partition(number, digest: digest, folder: folder)
    state.jobs.append { $0.attempt("note a partition") { try $0.note(partition: number) } }
    return number
  }

  /// Has the journal know the folder of a partition before anything that is in it.
  func note(partition number: UInt32) throws {
    guard let record = state.withLock({ $0.unnoted[number] }) else { return }
    try journal?.append(record)
    state.withLock { $0.unnoted[number] = nil }
  }

  static func milliseconds(_ date: Date) -> UInt64 {
    UInt64(clamping: Int64(max(0, min(date.timeIntervalSince1970 * 1000, 9e15))))
  }

  /// Ends a writer's hold on an entry.
  func release(_ id: EntryID) {
    state.withLock { state in
      state.resumed.remove(id)
      if let handle = state.find(id) { state.index.setPinned(state.index[handle].isPinned, handle) }
    }
  }
}

extension ArchiveError {
  static let busy = ArchiveError(
    .storeFull,
    "the disk does not keep up: 4096 entries or 32 MB are waiting to be written. Store less, or store later.")
}
