/// What a journal says is there, record by record. Records may be missing, repeated or damaged; nothing here trusts them.
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
  var isClean = true
  var damaged = 0
  /// How many records there are behind the last one that can be read.
  private(set) var damagedAtTheEnd = 0

  init(minimumCapacity: Int = 0) {
    index = EntryIndex(minimumCapacity: minimumCapacity)
  }

  /// Takes in the records of a stretch of journal whose first one has number `position`.
  mutating func add(_ bytes: UnsafeRawBufferPointer, from position: UInt64, seed: UInt64) {
    var offset = 0
    var position = position
    while bytes.count - offset >= JournalRecord.size {
      let slice = UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + JournalRecord.size])
      if let record = JournalRecord(decoding: slice, seed: Checksum.seed(seed, position)) {
        add(record)
        damagedAtTheEnd = 0
      } else {
        damaged += 1
        damagedAtTheEnd += 1
      }
      offset += JournalRecord.size
      position += 1
    }
  }

  mutating func add(_ record: JournalRecord) {
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
    case .loose:
      lastNumber = max(lastNumber, record.number)
      add(EntryFile(partition: record.partition, low: record.low, number: record.number))
    case .remove:
      lastNumber = max(lastNumber, record.number)
      guard let handle = index.first(record.low, where: { $0.number == record.number }) else { return }
      drop(handle, hash: record.low)
    case .put:
      lastNumber = max(lastNumber, record.number, record.head, record.body)
      let slot = DiskSlot(record)
      // More than there can be: sums of what is stored do not overflow.
      guard slot.cost >= 0, usage.bytes <= (1 << 62) - min(slot.cost, 1 << 62) else { return damaged += 1 }
      if let handle = index.first(record.low, where: { $0.number == record.number }) {
        let old = index[handle]
        usage.bytes &+= slot.cost - old.cost
        if old.head != slot.head, old.head != slot.body { add(old.headFile(record.low)) }
        index[handle] = slot
        index.setPinned(record.flags.contains(.pinned), handle)
      } else {
        let handle = index.insert(slot, hash: record.low, isPinned: record.flags.contains(.pinned))
        if record.flags.contains(.visited) { index.visit(handle) }
        usage.bytes &+= slot.cost
        usage.count += 1
      }
      use(slot.headFile(record.low))
      if slot.body != slot.head { use(slot.bodyFile(record.low)) }
    }
  }

  /// Ends the replay: everything loose is in the set.
  mutating func finish() {
    loose.formUnion(recent)
    recent = []
    // No journal of ours says so; but what an entry uses is not removed, whatever one says.
    loose = loose.filter { file in
      index.first(file.low) { slot in
        slot.partition == file.partition && (slot.head == file.number || slot.body == file.number)
      } == nil
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
    usage.bytes &-= slot.cost
    usage.count -= 1
    add(slot.headFile(hash))
    if slot.body != slot.head { add(slot.bodyFile(hash)) }
  }
}
