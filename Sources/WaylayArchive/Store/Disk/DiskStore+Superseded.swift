import Foundation

/// An entry as it was before: kept until the disk has what took its place, if it is on the disk.
struct Superseded: Sendable {
  var slot: DiskSlot
  /// The digest of its key.
  var low: UInt64
  /// Whether it is an entry of its own, which another one replaced, rather than the older head of the same entry.
  var isEntry: Bool

  /// The records that say which of these another entry has taken the place of.
  static func records(of items: [Superseded], replacedBy id: EntryID) -> [LogRecord] {
    items.filter(\.isEntry).map { .replaced($0.slot.number, $0.low, by: id) }
  }
}

// What is there as it was before, until the disk has what took its place.
extension DiskStore {
  /// Removes what is left of older entries and of older heads.
  ///
  /// - Parameters:
  ///   - slot: The entry that they were kept beside, where that has been taken out.
  ///   - rest: What else is still kept.
  func removeSuperseded(_ items: [Superseded], beside slot: DiskSlot? = nil, rest: [Superseded] = []) {
    for item in items {
      guard !item.isEntry else {
        drop(item.slot, item.low, nil)
        continue
      }
      // Heads share the file of their body.
      let number = item.slot.number
      var others = (items.filter(\.isEntry) + rest).map(\.slot).filter { $0.number == number }
      if let slot, slot.number == number { others.append(slot) }
      if let now = state.withLock({ state in state.find(EntryID(number: number, hash: item.low)).map { state.index[$0] }
      }) {
        others.append(now)
      }
      let kept = Set(others.flatMap { $0.files(item.low) })
      discard(item.slot.files(item.low).filter { !kept.contains($0) })
    }
  }

  /// Takes back what the disk never got, where it has what was there before; while the store is made, when nothing
  /// else goes on.
  func restore(_ id: EntryID, _ items: [Superseded]) {
    guard let slot = state.withLock({ state in state.find(id).map { state.index[$0] } }) else { return }
    do {
      try verify(slot, id.hash)
    } catch {
      guard error is Damage || (error as? ArchiveError)?.code == .unreadable else {
        // Not to be told now: both stay.
        return state.withLock { $0.superseded[id] = items }
      }
      if let old = items.last(where: { !$0.isEntry && $0.slot.number == id.number }) {
        return restore(old, in: slot, of: id)
      }
      options.logger.warning(
        """
        entry \(id.number) of the archive in \(directory) was lost before it reached the disk: the entry it \
        replaced is back
        """)
      let heads = state.withLock { state -> [EntryID: [Superseded]] in
        guard let handle = state.find(id) else { return [:] }
        state.take(handle, id.hash)
        state.putBack(items)
        state.jobs.append { $0.drop(slot, id.hash, nil) }
        var heads: [EntryID: [Superseded]] = [:]
        for item in items where item.isEntry {
          let id = EntryID(number: item.slot.number, hash: item.low)
          heads[id] = state.superseded.removeValue(forKey: id)
        }
        return heads
      }
      for (id, items) in heads { restore(id, items) }
      return
    }
    state.withLock { $0.superseded[id] = items }
  }

  /// Takes an older head for that of an entry.
  private func restore(_ old: Superseded, in slot: DiskSlot, of id: EntryID) {
    options.logger.warning(
      "entry \(id.number) of the archive in \(directory) is as it was when last flushed: a newer head was lost")
    state.withLock { state in
      guard let handle = state.find(id) else { return }
      var safe = old.slot
      safe.isSafe = true
      state.usage.replace(state.index[handle], by: safe)
      state.index[handle] = safe
      state.index.setPinned(safe.isPinned, handle)
      let kept = [safe.headFile(old.low), safe.bodyFile(old.low)]
      state.loose.formUnion([slot.headFile(old.low), slot.bodyFile(old.low)])
      state.loose.subtract(kept)
    }
    attempt("note an older head") {
      try $0.log?.append(old.slot.record(low: old.low, isVisited: true, isSafe: true))
    }
  }
}

extension DiskStore.State {
  /// Whether the disk has an entry.
  func isSafe(_ slot: DiskSlot) -> Bool { slot.isDurable && (slot.isSafe || slot.head <= safe) }

  /// Whether an entry is kept when something takes its place: it is on the disk, or is to have it by a flush that is
  /// under way.
  func isKept(_ slot: DiskSlot) -> Bool { isSafe(slot) || slot.isDurable && slot.head <= syncing.last }

  /// The entry in whose place one was, as it was with a head.
  func holder(of number: UInt64, _ head: UInt64) -> EntryID? {
    superseded.first { $0.value.contains { $0.slot.number == number && $0.slot.head == head } }?.key
  }

  /// Notes that the disk has what an entry was, and says where that is kept.
  mutating func markSuperseded(_ slot: DiskSlot, of id: EntryID) -> EntryID? {
    guard let holder = holder(of: id.number, slot.head), var items = superseded[holder] else { return nil }
    for index in items.indices where items[index].slot.number == id.number && items[index].slot.head == slot.head {
      items[index].slot.isSafe = true
    }
    superseded[holder] = items
    return holder
  }

  /// The records of an entry, and before them those of what is kept beside it.
  func records(with holder: EntryID) -> [LogRecord] {
    let items = superseded[holder] ?? []
    var records = items.map { $0.slot.record(low: $0.low, isVisited: false, isSafe: !$0.isEntry || isSafe($0.slot)) }
    // One that waits to be written says by itself what it replaces.
    guard let handle = find(holder), index[handle].isDurable else { return records }
    let slot = index[handle]
    records.append(slot.record(low: holder.hash, isVisited: index.isVisited(handle), isSafe: isSafe(slot)))
    return records + Superseded.records(of: items, replacedBy: holder)
  }

  /// The entry that was replaced and is kept, as it was then.
  func kept(_ id: EntryID) -> DiskSlot? {
    superseded.values.joined().first { $0.isEntry && $0.slot.number == id.number }?.slot
  }

  /// Removes what an entry was before, once that is no loss; together with the change of the entry, because
  /// the code that removes it afterwards knows nothing of the files that it had.
  ///
  /// - Returns: The files that may go at once.
  mutating func supersede(_ old: DiskSlot, of id: EntryID) -> Set<EntryFile> {
    let unused = unused(old, id)
    loose.formUnion(unused)
    guard isKept(old) else { return unused }
    superseded[id, default: []].append(Superseded(slot: old, low: id.hash, isEntry: false))
    return []
  }

  /// The files that an older state of an entry has for itself.
  private func unused(_ old: DiskSlot, _ id: EntryID) -> Set<EntryFile> {
    var files: Set = [old.headFile(id.hash), old.bodyFile(id.hash)]
    if let now = find(id).map({ index[$0] }) { files.subtract([now.headFile(id.hash), now.bodyFile(id.hash)]) }
    for item in superseded[id] ?? [] where item.slot.number == id.number && item.slot.head != old.head {
      files.subtract([item.slot.headFile(id.hash), item.slot.bodyFile(id.hash)])
    }
    return files
  }

  /// Restores what a new entry was to replace.
  mutating func putBack(_ items: [Superseded]) {
    for item in items where item.isEntry {
      let slot = item.slot
      index.insert(slot, hash: item.low, isPinned: slot.isPinned)
      usage.add(slot)
      loose.remove(slot.headFile(item.low))
      loose.remove(slot.bodyFile(item.low))
      let heads = items.filter { !$0.isEntry && $0.slot.number == slot.number }
      if !heads.isEmpty { superseded[EntryID(number: slot.number, hash: item.low)] = heads }
    }
  }

  /// Takes out what a new entry replaces: what may go at once, and what has to stay until the disk has the new one.
  mutating func replace(_ ids: [EntryID]) -> (gone: [(DiskSlot, UInt64)], superseded: [Superseded]) {
    var gone: [(DiskSlot, UInt64)] = []
    var kept: [Superseded] = []
    for id in ids {
      guard let handle = find(id) else { continue }
      let slot = index[handle]
      let inherited = superseded.isEmpty ? [] : superseded.removeValue(forKey: id) ?? []
      take(handle, id.hash)
      kept += inherited
      if slot.isDurable, isKept(slot) || inherited.contains(where: { !$0.isEntry }) {
        kept.append(Superseded(slot: slot, low: id.hash, isEntry: true))
      } else {
        gone.append((slot, id.hash))
      }
    }
    return (gone, kept)
  }
}
