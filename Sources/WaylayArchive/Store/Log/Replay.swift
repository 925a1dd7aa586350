/// What a log says is there, record by record. Records may be missing, repeated or damaged; nothing here trusts
/// them.
struct Replay {
  var index: EntryIndex<DiskSlot>
  var usage = StoreUsage()
  /// The partitions' numbers by the digest of their names, and their folders by number.
  var partitions: [UInt64: UInt32] = [:]
  var folders: [UInt32: String] = [:]
  /// Files that no entry uses, as far as is known; whether they still exist is not.
  private(set) var loose: Set<EntryFile> = []
  /// Those that were named last: most are put into use at once, and never get into the set.
  private var recent: [EntryFile] = []
  var lastNumber: UInt64 = 0
  /// The number up to which the disk has all entries.
  var safe: UInt64 = 0
  /// What entries were before, and what they took the place of, as long as the disk is not known to have what is
  /// there now.
  private(set) var superseded: [EntryID: [Superseded]] = [:]
  /// The entries that took the place of others, by the numbers of those.
  private var successors: [UInt64: EntryID] = [:]
  var isClean = true
  var damaged = 0
  /// How many records there are behind the last one that can be read.
  private(set) var damagedAtTheEnd = 0

  init(minimumCapacity: Int = 0) { index = EntryIndex(minimumCapacity: minimumCapacity) }

  /// Takes in the records of a stretch of log whose first one has number `position`.
  mutating func add(_ bytes: UnsafeRawBufferPointer, from position: UInt64, seed: UInt64) {
    var offset = 0
    var position = position
    while bytes.count - offset >= LogRecord.size {
      let slice = UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + LogRecord.size])
      if let record = LogRecord(decoding: slice, seed: Checksum.seed(seed, position)) {
        add(record)
        damagedAtTheEnd = 0
      } else {
        damaged += 1
        damagedAtTheEnd += 1
      }
      offset += LogRecord.size
      position += 1
    }
  }

  mutating func add(_ record: LogRecord) {
    isClean = record.kind == .clean
    switch record.kind {
    case .clean:
      lastNumber = max(lastNumber, record.number)
      loose = []
      recent = []
    case .partition:
      let name = record.folder
      guard PartitionFolder.isUsable(name) else { return damaged += 1 }
      partitions[record.stored] = record.partition
      folders[record.partition] = name
    case .synced:
      safe = max(safe, record.number)
      for id in superseded.keys where find(id).map({ index[$0].head <= safe }) ?? true { settle(id) }
    case .loose:
      lastNumber = max(lastNumber, record.number)
      add(EntryFile(partition: record.partition, low: record.low, number: record.number))
    case .remove:
      lastNumber = max(lastNumber, record.number)
      remove(EntryID(number: record.number, hash: record.low))
    case .replaced:
      replace(EntryID(number: record.number, hash: record.low), by: record.successor)
    case .put:
      lastNumber = max(lastNumber, record.number, record.head, record.body)
      let slot = DiskSlot(record)
      // More than there can be: sums of what is stored do not overflow.
      guard slot.cost >= 0, usage.bytes <= (1 << 62) - min(slot.cost, 1 << 62) else { return damaged += 1 }
      let id = EntryID(number: record.number, hash: record.low)
      if let handle = find(id) {
        let old = index[handle]
        if slot.isSafe {
          settle(id)
        } else if old.head != slot.head, old.isSafe || old.head <= safe {
          superseded[id] = [Superseded(slot: old, low: record.low, isEntry: false)]
        }
        usage.replace(old, by: slot)
        if old.head != slot.head, old.head != slot.body { add(old.headFile(record.low)) }
        // A body grows in its file, or out of that of a head.
        if old.body != old.head, old.body != slot.head, old.body != slot.body { add(old.bodyFile(record.low)) }
        index[handle] = slot
        index.setPinned(record.flags.contains(.pinned), handle)
      } else {
        _ = takeSuperseded(record.number)
        let handle = index.insert(slot, hash: record.low, isPinned: record.flags.contains(.pinned))
        if record.flags.contains(.visited) { index.visit(handle) }
        usage.add(slot)
      }
      use(slot.headFile(record.low))
      if slot.body != slot.head { use(slot.bodyFile(record.low)) }
    }
  }

  /// Ends the replay: everything loose is in the set.
  mutating func finish() {
    loose.formUnion(recent)
    recent = []
    // No log of ours says so; but what an entry uses is not removed, whatever one says.
    loose = loose.filter { file in
      index.first(file.low) { slot in
        slot.partition == file.partition && (slot.head == file.number || slot.body == file.number)
      } == nil
    }
  }

  private func find(_ id: EntryID) -> EntryIndex<DiskSlot>.Handle? { index.first(id.hash) { $0.number == id.number } }

  /// Forgets what an entry was, and what it replaced: it is on the disk.
  private mutating func settle(_ id: EntryID) {
    guard !superseded.isEmpty else { return }
    for item in superseded.removeValue(forKey: id) ?? [] where item.isEntry { successors[item.slot.number] = nil }
  }

  /// Takes out what is kept of an entry that another has taken the place of.
  private mutating func takeSuperseded(_ number: UInt64) -> [Superseded] {
    // Almost always there is none: an opening asks for each entry.
    guard !successors.isEmpty, let holder = successors.removeValue(forKey: number), let items = superseded[holder]
    else {
      return []
    }
    let rest = items.filter { $0.slot.number != number }
    superseded[holder] = rest.isEmpty ? nil : rest
    return items.filter { $0.slot.number == number }
  }

  private mutating func replace(_ old: EntryID, by new: EntryID) {
    // The record of the new one may be lost: then the old one is what there is.
    guard old != new, let now = find(new).map({ index[$0] }) else { return }
    var items: [Superseded] = []
    if let handle = find(old) {
      items = superseded.removeValue(forKey: old) ?? []
      items.append(Superseded(slot: index[handle], low: old.hash, isEntry: true))
      drop(handle, hash: old.hash)
    } else {
      items = takeSuperseded(old.number)
    }
    guard !items.isEmpty, !now.isSafe, now.head > safe else { return }
    for item in items where item.isEntry { successors[item.slot.number] = new }
    superseded[new, default: []] += items
  }

  private mutating func remove(_ id: EntryID) {
    guard let handle = find(id) else {
      _ = takeSuperseded(id.number)
      return
    }
    let items = superseded.isEmpty ? [] : superseded.removeValue(forKey: id) ?? []
    drop(handle, hash: id.hash)
    // What was given up before the disk had it has not taken the place of anything; what is removed takes along what
    // it replaced.
    for item in items where item.isEntry {
      let slot = item.slot
      successors[slot.number] = nil
      index.insert(slot, hash: item.low, isPinned: slot.isPinned)
      usage.add(slot)
      use(slot.headFile(item.low))
      if slot.body != slot.head { use(slot.bodyFile(item.low)) }
      let heads = items.filter { !$0.isEntry && $0.slot.number == slot.number }
      if !heads.isEmpty { superseded[EntryID(number: slot.number, hash: item.low)] = heads }
    }
  }

  private mutating func add(_ file: EntryFile) {
    if recent.count == 8 { loose.insert(recent.removeFirst()) }
    recent.append(file)
  }

  private mutating func use(_ file: EntryFile) {
    if let index = recent.lastIndex(of: file) {
      recent.remove(at: index)
    } else if !loose.isEmpty {
      loose.remove(file)
    }
  }

  private mutating func drop(_ handle: EntryIndex<DiskSlot>.Handle, hash: UInt64) {
    let slot = index.remove(handle)
    usage.remove(slot)
    add(slot.headFile(hash))
    if slot.body != slot.head { add(slot.bodyFile(hash)) }
  }
}
