import Foundation

extension DiskStore {
  /// A file that does not hold what the log says.
  struct Damage: Error {
    let reason: String
    var isMissing = false
  }

  /// Returns all entries of a key if they are in memory, none if there are none, and `nil` otherwise.
  package func cached(_ key: ArchiveKey) -> [StoredEntry]? {
    let digest = hash.digest(key)
    return state.withLock { state in
      guard state.life.isOpen else { return [] }
      // A reader does not know what the writer has stored and removed since.
      if log == nil { return nil }
      var found: [(slot: EntryIndex<DiskSlot>.Handle, kept: MemoryTier.Handle, entry: StoredEntry)] = []
      for slot in state.index.handles(digest.0) where state.index[slot].high == digest.1 {
        // One of another key may have the same digest: its head tells.
        guard let kept = state.tier.find(EntryID(number: state.index[slot].number, hash: digest.0)) else { return nil }
        if kept.entry.key == key { found.append((slot, kept.handle, kept.entry)) }
      }
      for hit in found {
        state.index.visit(hit.slot)
        state.index[hit.slot].hits &+= 1
        state.tier.visit(hit.kept, hits: state.index[hit.slot].hits)
      }
      return found.map(\.entry).sorted { $0.id.number < $1.id.number }
    }
  }

  /// Returns the entries of a key, oldest first.
  ///
  /// - Throws: `ArchiveError.readFailed` if there are entries but the system can currently read none of them.
  package func entries(for key: ArchiveKey) async throws -> [StoredEntry] {
    if let entries = cached(key) { return entries }
    return try await context.pool.perform { [self] in
      if log == nil { try refresh() }
      return try entriesNow(for: key, hash.digest(key))
    }
  }

  private func entriesNow(for key: ArchiveKey, _ digest: (UInt64, UInt64)) throws -> [StoredEntry] {
    var result: [StoredEntry] = []
    var failure: (any Error)?
    // An entry that changes while it is read is read again; that many changes in a row are a busy entry, and a miss.
    for _ in 0..<8 {
      let found = state.withLock { $0.life.isOpen ? $0.slots(digest) : [] }
      result = []
      failure = nil
      var hasChanged = false
      for (slot, entry) in found {
        if let entry {
          if entry.key == key { result.append(entry) }
          continue
        }
        do {
          guard let entry = try load(slot, digest, wanted: key) else { continue }
          if keep(entry, slot) { result.append(entry) } else { hasChanged = true }
        } catch {
          if !(error is Damage) { failure = error }
          hasChanged = !handle(error, slot, digest.0) || hasChanged
        }
      }
      if !hasChanged { break }
    }
    if let failure, result.isEmpty { throw ArchiveError.readFailed("what is stored", failure) }
    state.withLock { state in
      for entry in result {
        if let handle = state.find(entry.id) { state.visit(handle, entry.id) }
      }
    }
    return result.sorted { $0.id.number < $1.id.number }
  }

  /// Reads an entry's head, and its body where that is small; `nil` when it has another key than the one wanted.
  func load(_ slot: DiskSlot, _ digest: (UInt64, UInt64), wanted key: ArchiveKey? = nil) throws -> StoredEntry? {
    guard let folder = state.withLock({ $0.names.folders[slot.partition] }) else {
      throw Damage(reason: "its folder is not known")
    }
    let isSmall = slot.bodyLength <= Int64(BodyChunk.size + context.sealing.overhead)
    let isTogether = isSmall && slot.head == slot.body
    let headLength = Int(slot.headLength)
    let bytes = try read(
      slot.headFile(digest.0), folder, count: headLength + (isTogether ? Int(slot.bodyLength) : 0), at: 0)
    let block = try decode(bytes[..<headLength], slot, digest)
    if let key, block.key != key { return nil }
    let file = slot.bodyFile(digest.0)
    var inMemory: Data?
    // What is small on the disk may be large in memory.
    if isSmall, block.bodyLength <= Int64(BodyChunk.size) * 16 {
      let stored =
        isTogether
        ? Data(bytes[headLength...])
        : Data(try read(file, folder, count: Int(slot.bodyLength), at: Int64(slot.bodyOffset)))
      inMemory = try open(stored, block.chunks, file, digest)
    }
    return entry(block, slot, digest, folder: folder, inMemory: inMemory)
  }

  /// The entry that a head block describes.
  func entry(
    _ block: HeadBlock, _ slot: DiskSlot, _ digest: (UInt64, UInt64), folder: String, inMemory: Data?
  ) -> StoredEntry {
    let body = DiskBody(
      context: context, folder: folder, file: slot.bodyFile(digest.0), digest: Self.bytes(digest),
      offset: Int64(slot.bodyOffset), chunks: block.chunks, inMemory: inMemory)
    return StoredEntry(
      id: EntryID(number: slot.number, hash: digest.0), key: block.key, head: block.head, details: block.details,
      hits: Int(slot.hits), storedBytes: slot.cost, contents: body)
  }

  /// Takes a head block apart, once it is known to be the one that was written.
  func decode(_ bytes: ArraySlice<UInt8>, _ slot: DiskSlot, _ digest: (UInt64, UInt64)) throws -> HeadBlock {
    let place = Sealing.Context.head(slot.head)
    guard bytes.withUnsafeBytes({ Checksum.of($0, seed: place.seed) }) == slot.headCheck else {
      throw Damage(reason: "its head differs from the one that was stored")
    }
    guard let plain = context.sealing.opened(bytes, place, digest: Self.bytes(digest)),
      let block = HeadBlock(decoding: plain), block.chunks.allSatisfy(context.sealing.canBe),
      block.storedBodyLength == slot.bodyLength
    else { throw Damage(reason: "its head cannot be read") }
    return block
  }

  private func open(_ stored: Data, _ chunks: [BodyChunk], _ file: EntryFile, _ digest: (UInt64, UInt64)) throws -> Data
  {
    var body = Data()
    var offset = stored.startIndex
    for (index, chunk) in chunks.enumerated() {
      let end = offset + Int(chunk.stored)
      let place = Sealing.Context(file: file.number, index: UInt64(index))
      guard end <= stored.endIndex,
        let plain = context.sealing.opened(chunk: stored[offset..<end], chunk, place, digest: Self.bytes(digest))
      else { throw Damage(reason: "its body differs from the one that was stored") }
      if chunks.count == 1 { return plain }
      body.append(plain)
      offset = end
    }
    return body
  }

  /// Bytes of an entry's file. Only what was seen is damage: a file that is surely gone or too short; the rest is the
  /// system's error.
  func read(_ file: EntryFile, _ folder: String, count: Int, at offset: Int64) throws -> [UInt8] {
    do {
      let descriptor = try archive.openForReading(file, folder)
      // What a damaged log asks for may be more than there is memory.
      guard offset + Int64(count) <= (try files.status(of: descriptor).size) else {
        throw Damage(reason: "its file is too short")
      }
      let bytes = try files.read(count, from: descriptor, at: offset)
      guard bytes.count == count else { throw SystemError("read", code: EIO) }
      return bytes
    } catch let error as SystemError where error.isMissing {
      guard try archive.isMissing(file, folder) else { throw error }
      throw Damage(reason: "its file is gone", isMissing: true)
    }
  }

  /// Keeps an entry that was read in memory, unless it has changed meanwhile.
  private func keep(_ entry: StoredEntry, _ slot: DiskSlot) -> Bool {
    state.withLock { state in
      guard let handle = state.find(entry.id) else { return false }
      let now = state.index[handle]
      guard now.head == slot.head, now.bodyLength == slot.bodyLength, now.pending == 0 else { return false }
      state.tier.keep(entry, upTo: options.memory)
      return true
    }
  }

  /// Drops an entry that cannot be read, and says whether that is settled; `false` when it has only changed meanwhile.
  func handle(_ error: any Error, _ slot: DiskSlot, _ low: UInt64) -> Bool {
    guard let damage = error as? Damage else {
      // The system's trouble, not the entry's, which stays.
      options.logger.warning("entry \(slot.number) of the archive in \(directory) could not be read now: \(error)")
      return true
    }
    if damage.isMissing, isGone() { return true }
    // What the writer has removed or replaced since is no damage; the log says so before the files go.
    if log == nil { attempt("read the log") { try $0.refresh() } }
    let isDropped = state.withLock { state in
      guard !state.life.isClosed, let handle = state.find(EntryID(number: slot.number, hash: low)),
        state.index[handle].head == slot.head, state.index[handle].bodyLength == slot.bodyLength
      else { return false }
      state.take(handle, low)
      return true
    }
    guard isDropped else { return false }
    options.logger.warning("entry \(slot.number) of the archive in \(directory) was dropped: \(damage.reason)")
    let event = StoreEvent(
      .damaged, id: EntryID(number: slot.number, hash: low), bytes: slot.cost, reason: damage.reason)
    if log == nil {
      report(event)
    } else {
      enqueue { $0.drop(slot, low, event) }
    }
    return true
  }

  /// Whether the whole directory went away; then there is nothing to be had of it any more.
  func isGone() -> Bool {
    // Not when the system cannot say.
    guard !state.withLock({ $0.life.isLost }) else { return true }
    guard (try? archive.isOurs()) == false, (try? archive.isOurs()) == false else { return false }
    let isNews = state.withLock { state in
      defer {
        state.life.isLost = true
        state.forgetAll()
        state.leftovers.loose = []
        state.kept.items = [:]
      }
      return !state.life.isLost
    }
    if isNews {
      seal(ArchiveError.unusable(directory, SystemError("open", code: ENOENT)))
      leave()
      options.logger.error(
        """
        the directory of the archive in \(directory) is gone or was replaced: nothing is stored or found until the \
        archive is opened again
        """)
    }
    return true
  }

  static func bytes(_ digest: (UInt64, UInt64)) -> [UInt8] {
    var sink = ByteSink()
    sink.put(digest.0)
    sink.put(digest.1)
    return sink.bytes
  }
}

extension DiskStore.State {
  /// The slots of a digest, and what is in memory of them.
  fileprivate func slots(_ digest: (UInt64, UInt64)) -> [(DiskSlot, StoredEntry?)] {
    index.handles(digest.0).compactMap { handle in
      let slot = index[handle]
      guard slot.high == digest.1 else { return nil }
      return (slot, tier.find(EntryID(number: slot.number, hash: digest.0))?.entry)
    }
  }

  /// Notes a hit.
  fileprivate mutating func visit(_ handle: EntryIndex<DiskSlot>.Handle, _ id: EntryID) {
    index.visit(handle)
    index[handle].hits &+= 1
    if let kept = tier.find(id) { tier.visit(kept.handle, hits: index[handle].hits) }
  }

  /// Takes an entry out of the index and out of memory; its files become loose.
  @discardableResult
  mutating func take(_ handle: EntryIndex<DiskSlot>.Handle, _ low: UInt64) -> DiskSlot {
    let slot = index.remove(handle)
    let id = EntryID(number: slot.number, hash: low)
    usage.remove(slot)
    leftovers.leave(slot, low)
    if !growing.lengths.isEmpty { growing.lengths[id] = nil }
    if !kept.items.isEmpty, let items = kept.items.removeValue(forKey: id) {
      work.add { $0.removeSuperseded(items, beside: slot) }
    }
    tier.forget(id)
    return slot
  }
}
