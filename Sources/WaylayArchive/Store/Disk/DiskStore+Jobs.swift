import Foundation

// What only the thread of the log does.
extension DiskStore {
  /// Does something whose failure is logged and otherwise borne.
  func attempt(_ what: String, _ work: (DiskStore) throws -> Void) {
    do {
      try work(self)
    } catch {
      options.logger.warning("the archive in \(directory) could not \(what): \(error)")
    }
  }

  /// Writes the next entry of the queue.
  func write(place: UInt64) {
    guard let write = state.withLock({ $0.work.writes.take(place) }) else { return }
    let (id, draft, digest, body) = (write.id, write.draft, write.digest, write.body)
    defer { state.withLock { $0.work.waiting -= body.count } }
    let slot = state.withLock { state in state.slot(id) }
    // Gone before it was written.
    guard var slot else {
      write.written?(nil)
      return
    }
    let headFile = slot.headFile(digest.0)
    let bodyFile = slot.bodyFile(digest.0)
    let made = headFile == bodyFile ? [headFile] : [headFile, bodyFile]
    do {
      try begin(made)
      let (stored, chunks) = try sealed(body, bodyFile, draft.details, digest)
      if headFile != bodyFile { try makeFile(bodyFile, stored) }
      let block = HeadBlock(key: draft.key, details: draft.details, head: draft.head, chunks: chunks)
      let isInline = headFile == bodyFile
      try writeHead(block, &slot, digest, followedBy: isInline ? stored.first : nil)
      slot.bodyOffset = isInline ? slot.headLength : 0
      slot.bodyLength = block.storedBodyLength
      slot.cost = DiskSlot.cost(
        headLength: Int64(slot.headLength), bodyOffset: 0, bodyLength: slot.bodyLength, isInline: isInline)
      // What it takes the place of goes by the same call.
      let replaced = state.withLock { $0.kept.items[id].map { Superseded.records(of: $0, replacedBy: id) } ?? [] }
      try log?.append([slot.record(low: digest.0, isVisited: false)] + replaced)
      settle(id, slot, block, digest)
      write.written?(nil)
    } catch {
      fail(write, made, error)
      write.written?(error)
    }
  }

  /// Writes the newest head of an entry.
  func rewriteHead(_ id: EntryID) {
    let work = state.withLock { state -> (head: [UInt8], details: EntryDetails, old: DiskSlot, number: UInt64)? in
      guard let (head, details) = state.work.heads.removeValue(forKey: id), let handle = state.find(id) else {
        return nil
      }
      return (head, details, state.index[handle], state.names.number())
    }
    guard let (head, details, old, number) = work else { return }
    var slot = old
    slot.head = number
    slot.isSafe = false
    let digest = (id.hash, slot.high)
    let file = slot.headFile(id.hash)
    do {
      guard let folder = state.withLock({ $0.names.folders[slot.partition] }) else { return }
      var block = try decode(read(old.headFile(id.hash), folder, count: Int(old.headLength), at: 0)[...], old, digest)
      block.head = head
      block.details = details
      slot.stored = Self.milliseconds(details.stored)
      slot.isPinned = details.isPinned
      slot.marks = EntryMarks(block.key, details, hash)
      try begin([file])
      try writeHead(block, &slot, digest, followedBy: nil)
      slot.cost = DiskSlot.cost(
        headLength: Int64(slot.headLength), bodyOffset: Int64(slot.bodyOffset), bodyLength: slot.bodyLength,
        isInline: false)
      try log?.append(slot.record(low: id.hash, isVisited: true))
      if let gone = settle(id, slot, block, digest, after: old) {
        discard(gone)
      } else {
        // Removed meanwhile: first the log has to say so, and that job is in the queue already.
        enqueue { $0.discard([file]) }
      }
    } catch {
      discard([file])
      if handle(error, old, id.hash), error is Damage { return }
      // The old head is still good: that is what is stored.
      state.withLock { state in
        state.reports.givenUp = state.reports.givenUp ?? error
        guard let handle = state.find(id) else { return }
        state.index[handle].pending &-= 1
        if state.index[handle].pending == 0 { state.tier.forget(id) }
      }
      options.logger.warning("the archive in \(directory) could not write a new head for entry \(id): \(error)")
    }
  }

  /// Notes in the index what has been written of an entry.
  ///
  /// - Parameter old: What the entry was before, where it was something.
  /// - Returns: The files of that which may go at once; `nil` when the entry was removed while it was written: the job
  ///   that notes that comes later.
  @discardableResult
  private func settle(
    _ id: EntryID, _ written: DiskSlot, _ block: HeadBlock, _ digest: (UInt64, UInt64), after old: DiskSlot? = nil
  ) -> Set<EntryFile>? {
    state.withLock { state in
      guard let handle = state.find(id) else { return nil }
      var slot = written
      let now = state.index[handle]
      slot.pending = now.pending &- 1
      slot.hits = now.hits
      slot.isPinned = now.isPinned
      slot.isDurable = true
      state.usage.replace(now, by: slot)
      state.index[handle] = slot
      state.leftovers.use(slot, digest.0)
      if slot.pending == 0, let before = state.tier.find(id)?.entry {
        var entry = before
        if let folder = state.names.folders[slot.partition] {
          let isSmall = block.bodyLength <= Int64(BodyChunk.size)
          entry = self.entry(block, slot, digest, folder: folder, inMemory: isSmall ? before.contents.inMemory : nil)
          entry.hits = Int(slot.hits)
        }
        state.tier.unpin(entry, upTo: options.memory)
      }
      return old.map { state.supersede($0, of: id) } ?? []
    }
  }

  /// Gives an entry up that could not be written.
  private func fail(_ write: WriteQueue.Write, _ made: [EntryFile], _ error: any Error) {
    let (id, url) = (write.id, write.draft.details.url)
    let cost = state.withLock { state -> Int64? in
      guard let handle = state.find(id) else { return nil }
      // What it was to replace stays: it is on the disk, and the log.
      let before = state.kept.items.removeValue(forKey: id) ?? []
      let cost = state.take(handle, id.hash).cost
      state.reports.givenUp = state.reports.givenUp ?? error
      state.putBack(before + write.replaced)
      return cost
    }
    discard(made)
    if let error = error as? SystemError, error.isMissing, isGone() { return }
    options.logger.warning("the archive in \(directory) could not write entry \(id): \(error)")
    report(StoreEvent(.refused, id: id, url: url, bytes: cost ?? 0, reason: "the disk would not take it: \(error)"))
  }

  /// Removes what is left of an entry that is in the index no more.
  func drop(_ slot: DiskSlot, _ low: UInt64, _ event: StoreEvent?) {
    guard !isSealed else { return }
    // Put back, because what was to replace it could not be written.
    guard state.withLock({ $0.find(EntryID(number: slot.number, hash: low)) == nil }) else { return }
    var event = event
    if let known = event, known.kind == .evicted, known.url == nil, slot.isDurable,
      state.withLock({ !$0.reports.observers.isEmpty })
    {
      let url = try? load(slot, (low, slot.high))?.details.url
      event = StoreEvent(.evicted, id: known.id, url: url, bytes: known.bytes, reason: known.reason)
    }
    var record = LogRecord(.remove)
    record.low = low
    record.number = slot.number
    attempt("note a removal") { store in
      do {
        try store.log?.append(record)
      } catch {
        store.log?.appendLater(record)
        throw error
      }
    }
    discard(slot.files(low))
    if let event { report(event) }
  }

  /// Removes files that no entry uses.
  func discard(_ gone: Set<EntryFile>) { discard(gone.sorted { ($0.number, $0.low) < ($1.number, $1.low) }) }

  /// Removes files that no entry uses, in their order: of one that the log may still have, the head goes first,
  /// because without a body it would be taken for whole.
  func discard(_ gone: [EntryFile]) {
    let folders = state.withLock { state -> [UInt32: String]? in
      state.leftovers.drafts.subtract(gone)
      guard !state.life.isSealed, !state.life.isLost else { return nil }
      state.leftovers.loose.formUnion(gone)
      return state.names.folders
    }
    guard let folders else { return }
    for file in gone {
      guard let folder = folders[file.partition] else { continue }
      do {
        try archive.remove(file, folder)
        state.withLock { _ = $0.leftovers.loose.remove(file) }
      } catch {
        // It stays among the loose ones, and goes when the archive is opened next.
        options.logger.warning("the archive in \(directory) could not remove a file: \(error)")
      }
    }
  }

  /// After opening: what a kill left goes, and what the limits do not allow any more.
  func tidy(removing loose: Set<EntryFile>) {
    enqueue { store in
      if !loose.isEmpty { store.discard(loose) }
      store.trim(to: store.limits)
    }
  }
}

extension DiskStore {
  /// Says in the log that files are about to be made.
  func begin(_ made: [EntryFile]) throws {
    for number in Set(made.map(\.partition)) { try note(partition: number) }
    state.withLock { $0.leftovers.loose.formUnion(made) }
    try log?.append(made.map(\.looseRecord))
  }

  /// A body as it goes to a file, in chunks.
  func sealed(
    _ body: Data, _ file: EntryFile, _ details: EntryDetails, _ digest: (UInt64, UInt64)
  ) throws -> ([Data], [BodyChunk]) {
    var pieces: [Data] = []
    var chunks: [BodyChunk] = []
    let isCompressed = options.compressesText && details.isText
    var start = body.startIndex
    while start < body.endIndex {
      let end = min(start + BodyChunk.size, body.endIndex)
      let place = Sealing.Context(file: file.number, index: UInt64(chunks.count))
      let (bytes, chunk) = try context.sealing.sealed(
        chunk: body[start..<end], compressing: isCompressed, place, digest: Self.bytes(digest))
      pieces.append(bytes)
      chunks.append(chunk)
      start = end
    }
    return (pieces, chunks)
  }

  /// Writes a head block to a file of its own, or to one that it shares with a small body.
  func writeHead(_ block: HeadBlock, _ slot: inout DiskSlot, _ digest: (UInt64, UInt64), followedBy body: Data?) throws
  {
    let place = Sealing.Context.head(slot.head)
    var bytes = try context.sealing.sealed(block.encoded(), place, digest: Self.bytes(digest))
    slot.headLength = UInt32(truncatingIfNeeded: bytes.count)
    slot.headCheck = Checksum.of(bytes, seed: place.seed)
    if let body { bytes.append(contentsOf: body) }
    try files.write(bytes, to: create(slot.headFile(digest.0)), at: 0)
  }

  private func makeFile(_ file: EntryFile, _ pieces: [Data]) throws {
    let descriptor = try create(file)
    var offset: Int64 = 0
    for piece in pieces {
      try files.write(piece, to: descriptor, at: offset)
      offset += Int64(piece.count)
    }
  }

  /// Makes a file, and its folder where it is the first.
  func create(_ file: EntryFile) throws -> FileDescriptor {
    guard let folder = state.withLock({ $0.life.isLost ? nil : $0.names.folders[file.partition] }) else {
      throw SystemError("create", code: ENOENT)
    }
    return try archive.create(file, folder)
  }
}

extension EntryDetails {
  /// Whether the body is text by its media type.
  var isText: Bool {
    mediaType.hasPrefix("text/") || mediaType.hasSuffix("+json") || mediaType.hasSuffix("+xml")
      || ["application/json", "application/javascript", "application/xml", "application/x-javascript"].contains(
        mediaType)
  }
}

/// What waits to be written, by its place in the queue.
///
/// An entry that replaces one that still waits takes its place. Otherwise a key that is stored again and again, faster
/// than the queue moves, would never be written at all: whenever it is reached, there is a newer one at the end of the
/// queue.
struct WriteQueue: Sendable {
  struct Write: Sendable {
    var id: EntryID
    var draft: EntryDraft
    var digest: (UInt64, UInt64)
    var partition: UInt32
    var body: Data
    /// What it takes the place of and nobody else keeps, to be put back when it cannot be written.
    var replaced: [Superseded] = []
    /// Told when it is written, or what has taken its place, or why not; or when it has been removed before.
    var written: (@Sendable ((any Error)?) -> Void)?
  }

  /// A place has the number of the entry that it was first for.
  private var writes: [UInt64: Write] = [:]
  /// The places of the entries that have another one's.
  private var inherited: [UInt64: UInt64] = [:]

  /// What waits in the place of an entry, if it still does.
  func write(of number: UInt64) -> Write? {
    guard let write = writes[inherited[number] ?? number], write.id.number == number else { return nil }
    return write
  }

  /// Gives an entry a place of its own.
  mutating func add(_ write: Write) { writes[write.id.number] = write }

  /// Gives an entry the place of one that waits, with those who wait for that one, and what that was to replace.
  mutating func replace(_ old: EntryID, by write: Write) {
    let place = inherited.removeValue(forKey: old.number) ?? old.number
    inherited[write.id.number] = place
    var write = write
    if let before = writes[place] {
      write.replaced += before.replaced
      write.written = [before.written, write.written].compactMap(\.self).reduce(nil) { first, second in
        { error in
          first?(error)
          second(error)
        }
      }
    }
    writes[place] = write
  }

  /// What is to be written at a place that has been reached.
  mutating func take(_ place: UInt64) -> Write? {
    guard let write = writes.removeValue(forKey: place) else { return nil }
    inherited[write.id.number] = nil
    return write
  }
}
