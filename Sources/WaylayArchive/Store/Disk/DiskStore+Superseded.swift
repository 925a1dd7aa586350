import Foundation

/// An entry as it was before: kept until the disk has what took its place, if it is on the disk.
struct Superseded: Sendable {
  var slot: DiskSlot
  /// The digest of its key.
  var low: UInt64
  /// Whether it is an entry of its own, which another one replaced, rather than the older head of the same entry.
  var isEntry: Bool

  /// Those of some entries that the disk has.
  static func entries(_ slots: [(DiskSlot, UInt64)]) -> [Superseded] {
    slots.filter(\.0.isDurable).map { Superseded(slot: $0.0, low: $0.1, isEntry: true) }
  }

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
      if let now = state.withLock({ state in state.slot(EntryID(number: number, hash: item.low))
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
    guard let slot = state.withLock({ state in state.slot(id) }) else { return }
    do {
      try verify(slot, id.hash)
    } catch {
      guard error is Damage || (error as? ArchiveError)?.code == .unreadable else {
        // Not to be told now: both stay.
        return state.withLock { $0.kept.items[id] = items }
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
        state.work.add { $0.drop(slot, id.hash, nil) }
        var heads: [EntryID: [Superseded]] = [:]
        for item in items where item.isEntry {
          let id = EntryID(number: item.slot.number, hash: item.low)
          heads[id] = state.kept.items.removeValue(forKey: id)
        }
        return heads
      }
      for (id, items) in heads { restore(id, items) }
      return
    }
    state.withLock { $0.kept.items[id] = items }
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
      state.leftovers.leave(slot, old.low)
      state.leftovers.use(safe, old.low)
    }
    attempt("note an older head") {
      try $0.log?.append(old.slot.record(low: old.low, isVisited: true, isSafe: true))
    }
  }
}

extension DiskStore {
  /// What is there as it was before, and what the disk is known to have.
  struct Kept: Sendable {
    /// What was there, by the entries that the disk has to get first.
    var items: [EntryID: [Superseded]] = [:]
    /// The number up to which the disk has all entries.
    var safe: UInt64
    /// How many flushes are under way, and up to which number what they bring to the disk is kept meanwhile.
    var syncing: (count: Int, last: UInt64) = (0, 0)
    /// How many seconds to wait before the disk is asked again for what it refused, when nobody flushes, and from
    /// when on that is.
    var retry: (seconds: Int, end: ContinuousClock.Instant) = (0, .now)

    init(safe: UInt64) { self.safe = safe }

    /// Whether the disk has an entry.
    func isSafe(_ slot: DiskSlot) -> Bool { slot.isDurable && (slot.isSafe || slot.head <= safe) }

    /// Whether an entry is kept when something takes its place: it is on the disk, or is to have it by a flush that is
    /// under way.
    func isKept(_ slot: DiskSlot) -> Bool { isSafe(slot) || slot.isDurable && slot.head <= syncing.last }

    /// The entry in whose place one was, as it was with a head.
    func holder(of number: UInt64, _ head: UInt64) -> EntryID? {
      items.first { $0.value.contains { $0.slot.number == number && $0.slot.head == head } }?.key
    }

    /// Notes that the disk has what an entry was, and says where that is kept.
    mutating func mark(_ slot: DiskSlot, of id: EntryID) -> EntryID? {
      guard let holder = holder(of: id.number, slot.head), var known = items[holder] else { return nil }
      for index in known.indices where known[index].slot.number == id.number && known[index].slot.head == slot.head {
        known[index].slot.isSafe = true
      }
      items[holder] = known
      return holder
    }

    /// The records of what is kept beside an entry.
    func records(of holder: EntryID) -> [LogRecord] {
      (items[holder] ?? []).map {
        $0.slot.record(low: $0.low, isVisited: false, isSafe: !$0.isEntry || isSafe($0.slot))
      }
    }

    /// The entry that was replaced and is kept, as it was then.
    func slot(_ id: EntryID) -> DiskSlot? {
      items.values.joined().first { $0.isEntry && $0.slot.number == id.number }?.slot
    }

    /// The files that an older state of an entry has for itself.
    fileprivate func unused(_ old: DiskSlot, _ id: EntryID, beside now: DiskSlot?) -> Set<EntryFile> {
      var files = Set(old.files(id.hash))
      if let now { files.subtract(now.files(id.hash)) }
      for item in items[id] ?? [] where item.slot.number == id.number && item.slot.head != old.head {
        files.subtract(item.slot.files(id.hash))
      }
      return files
    }
  }
}

extension DiskStore.State {
  /// The records of an entry, and before them those of what is kept beside it.
  func records(with holder: EntryID) -> [LogRecord] {
    var records = kept.records(of: holder)
    // One that waits to be written says by itself what it replaces.
    guard let handle = find(holder), index[handle].isDurable else { return records }
    let slot = index[handle]
    records.append(slot.record(low: holder.hash, isVisited: index.isVisited(handle), isSafe: kept.isSafe(slot)))
    return records + Superseded.records(of: kept.items[holder] ?? [], replacedBy: holder)
  }

  /// Removes what an entry was before, once that is no loss; together with the change of the entry, because
  /// the code that removes it afterwards knows nothing of the files that it had.
  ///
  /// - Returns: The files that may go at once.
  mutating func supersede(_ old: DiskSlot, of id: EntryID) -> Set<EntryFile> {
    let unused = kept.unused(old, id, beside: slot(id))
    leftovers.loose.formUnion(unused)
    guard kept.isKept(old) else { return unused }
    kept.items[id, default: []].append(Superseded(slot: old, low: id.hash, isEntry: false))
    return []
  }

  /// Restores what a new entry was to replace.
  mutating func putBack(_ items: [Superseded]) {
    for item in items where item.isEntry {
      let slot = item.slot
      index.insert(slot, hash: item.low, isPinned: slot.isPinned)
      usage.add(slot)
      leftovers.use(slot, item.low)
      let heads = items.filter { !$0.isEntry && $0.slot.number == slot.number }
      if !heads.isEmpty { kept.items[EntryID(number: slot.number, hash: item.low)] = heads }
    }
  }

  /// Takes out what a new entry replaces: what may go at once, and what has to stay until the disk has the new one.
  mutating func replace(_ ids: [EntryID]) -> (gone: [(DiskSlot, UInt64)], superseded: [Superseded]) {
    var gone: [(DiskSlot, UInt64)] = []
    var superseded: [Superseded] = []
    for id in ids {
      guard let handle = find(id) else { continue }
      let slot = index[handle]
      let inherited = kept.items.isEmpty ? [] : kept.items.removeValue(forKey: id) ?? []
      take(handle, id.hash)
      superseded += inherited
      if slot.isDurable, kept.isKept(slot) || inherited.contains(where: { !$0.isEntry }) {
        superseded.append(Superseded(slot: slot, low: id.hash, isEntry: true))
      } else {
        gone.append((slot, id.hash))
      }
    }
    return (gone, superseded)
  }
}
