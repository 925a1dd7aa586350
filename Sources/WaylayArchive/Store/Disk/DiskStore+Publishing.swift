import Foundation

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
  /// Makes an entry of a written body; on the thread of the journal.
  func publish(_ publication: Publication) throws -> StoredEntry {
    let (draft, digest) = (publication.draft, publication.digest)
    let folderName = folderName(of: draft.key.partition)
    let (old, number, partition) = try state.withLock { state in
      try check(state, head: draft.head.count, bytes: 0)
      let old = publication.known.flatMap { state.find($0) }.map { state.index[$0] }
      if publication.known != nil, old == nil { throw ArchiveError.writerOvertaken }
      return (old, state.number(), self.partition(draft.key.partition, folderName, in: &state))
    }
    var record = JournalRecord(.put)
    record.flags = draft.details.isPinned ? .pinned : []
    record.partition = publication.file?.partition ?? partition
    (record.low, record.high) = digest
    record.number = old?.number ?? number
    record.head = number
    record.body = publication.file?.number ?? number
    record.stored = Self.milliseconds(draft.details.stored)
    record.hits = old?.hits ?? 0
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
      let (cost, bytes) = (slot.cost, slot.cost - (old?.cost ?? 0) - publication.reserved)
      let limit = limits.entryBytes
      guard cost <= limit else { throw ArchiveError.entryTooLarge(cost, limit) }
      let hasRoom = state.withLock { makeRoom(for: max(bytes, 0), count: old == nil ? 1 : 0, in: &$0) }
      guard hasRoom else { throw ArchiveError.storeFull }
      try journal?.append(slot.record(low: digest.0, isVisited: old != nil))
    } catch {
      discard([slot.headFile(digest.0)])
      guard let error = error as? SystemError else { throw error }
      if error.isMissing { _ = isGone() }
      options.logger.warning("the archive in \(directory) could not write an entry: \(error)")
      throw ArchiveError(
        .notWritten, "the entry could not be written (\(error)): free some space, or check the directory.",
        underlying: error)
    }
    let folder = state.withLock { $0.folders[slot.partition] } ?? ""
    let entry = entry(block, slot, digest, folder: folder, inMemory: nil)
    var replaced: [JournalRecord] = []
    var gone: Set<EntryFile> = []
    let isThere = state.withLock { state in
      if let known = publication.known {
        guard let handle = state.find(known) else { return false }
        // A head that was given to it as it was, and waits to be written, is not that of what it is now.
        if state.heads.removeValue(forKey: known) != nil { state.index[handle].pending &-= 1 }
        slot.pending = state.index[handle].pending
        state.usage.bytes += slot.cost - state.index[handle].cost - publication.reserved
        state.index[handle] = slot
        state.grown[known] = block.bodyLength
        state.index.setPinned(slot.isPinned || !publication.isLast, handle)
      } else {
        state.index.insert(slot, hash: digest.0, isPinned: slot.isPinned || !publication.isLast)
        if !publication.isLast { state.resumed.insert(entry.id) }
        state.usage.bytes += slot.cost - publication.reserved
        state.usage.count += 1
      }
      state.loose.remove(slot.headFile(digest.0))
      state.loose.remove(slot.bodyFile(digest.0))
      state.drafts.remove(slot.bodyFile(digest.0))
      if slot.pending == 0 {
        state.forget(entry.id)
        state.keep(entry, upTo: options.memory)
      }
      let (dropped, retired) = state.replace(draft.replacing.filter { $0 != entry.id })
      dropLater(dropped, in: &state)
      if !retired.isEmpty { state.retired[entry.id, default: []] += retired }
      replaced = Retired.records(of: retired, replacedBy: entry.id)
      if let old { gone = state.retire(old, of: entry.id) }
      return true
    }
    // Removed while the head was written: its files go with the job that notes that, but for the new head.
    guard isThere else {
      // Once the journal says that it has gone; that job is in the queue already.
      let file = slot.headFile(digest.0)
      enqueue { $0.discard([file]) }
      throw ArchiveError.writerOvertaken
    }
    if !replaced.isEmpty { attempt("note what was replaced") { try $0.journal?.append(replaced) } }
    discard(gone)
    return entry
  }

  /// Gives up what a writer wrote after its last checkpoint, or all of it; on the thread of the journal.
  func abandon(_ file: DiskWriter.File, of known: EntryID?) {
    guard !isSealed else { return }
    guard let known else { return discard([file.file]) }
    // Of one that was replaced, its body stays as long as it is kept.
    let slot = state.withLock { state in state.find(known).map { state.index[$0] } ?? state.kept(known) }
    if let slot, slot.bodyFile(known.hash) == file.file {
      // What comes behind is nobody's; readers of the checkpoint do not read so far.
      attempt("cut a body") { try $0.files.truncate(file.descriptor, to: Int64(slot.bodyOffset) + slot.bodyLength) }
    } else {
      // Where the entry has been removed, first the journal has to say so, and that job is in the queue already.
      enqueue { $0.discard([file.file]) }
    }
    release(known)
  }
}

extension ArchiveError {
  static let writerOvertaken = ArchiveError(
    .notWritten, "the entry was removed while its body was still being written: start over.")
}
