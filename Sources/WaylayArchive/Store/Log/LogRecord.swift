import Foundation

/// One line of the log: 96 bytes, so that a damaged record costs itself and not those behind it.
///
/// A record carries digests, sizes and times; URLs, keys and heads are in the entries' own files.
struct LogRecord: Equatable, Sendable {
  static let size = 96

  enum Kind: UInt8, Sendable {
    /// A file is about to be made, or has lost its entry: unless a later record puts it into use, it can go.
    case loose = 1
    /// An entry is there, or has another head or a longer body now.
    case put = 2
    /// An entry has gone.
    case remove = 3
    /// A partition has a number and a folder.
    case partition = 4
    /// The store was closed: no file is loose.
    case clean = 5
    /// The disk has all entries up to a number.
    case synced = 6
    /// An entry has taken the place of another, which goes once the disk has the new one.
    case replaced = 7
  }

  struct Flags: OptionSet, Hashable, Sendable {
    let rawValue: UInt8
    static let pinned = Flags(rawValue: 1)
    static let visited = Flags(rawValue: 2)
    /// it is on the disk.
    static let safe = Flags(rawValue: 4)
  }

  var kind: Kind
  var flags: Flags = []
  var partition: UInt32 = 0
  /// The digest of the key.
  var low: UInt64 = 0
  var high: UInt64 = 0
  /// The entry's number; of a loose file, the file's; at an orderly end, the last one given.
  var number: UInt64 = 0
  /// The file of the head, and the file of the body, which may be the same.
  var head: UInt64 = 0
  var body: UInt64 = 0
  var headLength: UInt32 = 0
  var hits: UInt32 = 0
  /// Where the body begins in its file, and how many bytes of the file it takes.
  var bodyOffset: UInt32 = 0
  var bodyLength: UInt64 = 0
  var headCheck: UInt64 = 0
  /// Milliseconds since 1970; of a partition, the digest of its name.
  var stored: UInt64 = 0
  /// What the entry is of, and how it is marked.
  var marks = EntryMarks()

  func write(to bytes: UnsafeMutableRawBufferPointer, seed: UInt64) {
    func put<Number: FixedWidthInteger>(_ number: Number, _ offset: Int) {
      bytes.storeBytes(of: number.littleEndian, toByteOffset: offset, as: Number.self)
    }
    bytes.initializeMemory(as: UInt8.self, repeating: 0)
    put(kind.rawValue, 0)
    put(flags.rawValue, 1)
    put(partition, 4)
    put(low, 8)
    put(high, 16)
    put(number, 24)
    put(head, 32)
    put(body, 40)
    put(headLength, 48)
    put(hits, 52)
    put(bodyLength, 56)
    // The upper sixteen bits of a body's length are free, and two bytes behind the flags.
    if kind == .put {
      put(UInt16(truncatingIfNeeded: marks.tags), 2)
      put(UInt16(truncatingIfNeeded: marks.tags >> 16), 62)
      put(marks.place, 84)
    }
    put(headCheck, 64)
    put(stored, 72)
    put(bodyOffset, 80)
    put(Checksum.of(UnsafeRawBufferPointer(rebasing: bytes[0..<Self.size - 8]), seed: seed), Self.size - 8)
  }

  func encoded(seed: UInt64) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.size) { buffer, count in
      write(to: UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[0..<Self.size])), seed: seed)
      count = Self.size
    }
  }

  init(_ kind: Kind) { self.kind = kind }

  /// Reads a record of exactly ``size`` bytes; `nil` when they are not what was written at this place of this log.
  init?(decoding bytes: UnsafeRawBufferPointer, seed: UInt64) {
    func number<Number: FixedWidthInteger>(_ offset: Int) -> Number {
      Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Number.self))
    }
    guard bytes.count == Self.size,
      number(Self.size - 8) == Checksum.of(UnsafeRawBufferPointer(rebasing: bytes[0..<Self.size - 8]), seed: seed),
      let kind = Kind(rawValue: bytes[0])
    else { return nil }
    self.kind = kind
    flags = Flags(rawValue: bytes[1])
    partition = number(4)
    low = number(8)
    high = number(16)
    self.number = number(24)
    head = number(32)
    body = number(40)
    headLength = number(48)
    hits = number(52)
    bodyLength = number(56)
    headCheck = number(64)
    stored = number(72)
    bodyOffset = number(80)
    guard kind == .put else { return }
    // No longer than any file: nothing later has to think of overflow.
    bodyLength &= 1 << 48 - 1
    marks = EntryMarks(
      place: number(84), tags: UInt32(number(2) as UInt16) | UInt32(number(62) as UInt16) << 16)
  }
}

extension LogRecord {
  /// The record of an entry that `id` has taken the place of.
  static func replaced(_ number: UInt64, _ low: UInt64, by id: EntryID) -> LogRecord {
    var record = LogRecord(.replaced)
    (record.number, record.low) = (number, low)
    (record.head, record.high) = (id.number, id.hash)
    return record
  }

  /// The entry that has taken the place.
  var successor: EntryID { EntryID(number: head, hash: high) }

  /// The record of a partition: its folder's name, at most 48 bytes of UTF-8, is in the place of an entry's digests and
  /// numbers.
  static func partition(_ number: UInt32, digest: UInt64, folder: String) -> LogRecord {
    var record = LogRecord(.partition)
    record.partition = number
    record.stored = digest
    let bytes = Array(folder.utf8.prefix(PartitionFolder.longestName))
    func word(_ index: Int) -> UInt64 {
      (0..<8).reduce(0) { $0 | (index * 8 + $1 < bytes.count ? UInt64(bytes[index * 8 + $1]) << (8 * UInt64($1)) : 0) }
    }
    (record.low, record.high, record.number) = (word(0), word(1), word(2))
    (record.head, record.body, record.headCheck) = (word(3), word(4), word(5))
    return record
  }

  /// The folder that a record of a partition names.
  var folder: String {
    var bytes: [UInt8] = []
    for word in [low, high, number, head, body, headCheck] {
      for shift in 0..<8 {
        let byte = UInt8(truncatingIfNeeded: word >> (8 * UInt64(shift)))
        if byte == 0 { return String(decoding: bytes, as: UTF8.self) }
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// What the index keeps in memory of an entry on disk: where it is and what it adds up to. Its key and its head are in
/// its file.
struct DiskSlot: Sendable {
  /// What an entry takes beside its files: its records in the log.
  static let bookkeeping: Int64 = 256

  var high: UInt64
  var number: UInt64
  var head: UInt64
  var body: UInt64
  var headCheck: UInt64
  var bodyLength: Int64
  var stored: UInt64
  var cost: Int64
  var partition: UInt32
  var headLength: UInt32
  var bodyOffset: UInt32
  var hits: UInt32
  /// How many writes of this entry are still to come.
  var pending: UInt16 = 0
  /// Whether the log has it.
  var isDurable = true
  var isPinned = false
  /// Whether it is on the disk, although its number is not among those of which that is known.
  var isSafe = false
  var marks: EntryMarks

  func headFile(_ low: UInt64) -> EntryFile { EntryFile(partition: partition, low: low, number: head) }
  func bodyFile(_ low: UInt64) -> EntryFile { EntryFile(partition: partition, low: low, number: body) }

  /// The one or two files.
  func files(_ low: UInt64) -> [EntryFile] { head == body ? [headFile(low)] : [headFile(low), bodyFile(low)] }

  /// The bytes of the files.
  static func cost(headLength: Int64, bodyOffset: Int64, bodyLength: Int64, isInline: Bool) -> Int64 {
    bookkeeping + headLength + bodyLength + (isInline ? 0 : bodyOffset)
  }

  /// What the files take of the disk, which gives out whole blocks.
  var blocks: Int64 { Self.blocks(cost, isInline: head == body) }

  static func blocks(_ cost: Int64, isInline: Bool) -> Int64 {
    let block: Int64 = 4096
    return (cost + block - 1) / block * block + (isInline ? 0 : block)
  }

  init(_ record: LogRecord) {
    high = record.high
    number = record.number
    head = record.head
    body = record.body
    headCheck = record.headCheck
    bodyLength = Int64(clamping: record.bodyLength)
    stored = record.stored
    partition = record.partition
    headLength = record.headLength
    bodyOffset = record.bodyOffset
    hits = record.hits
    isPinned = record.flags.contains(.pinned)
    isSafe = record.flags.contains(.safe)
    marks = record.marks
    cost = Self.cost(
      headLength: Int64(headLength), bodyOffset: Int64(bodyOffset), bodyLength: bodyLength,
      isInline: record.head == record.body)
  }

  func record(low: UInt64, isVisited: Bool, isSafe: Bool = false) -> LogRecord {
    var record = LogRecord(.put)
    record.flags = [isPinned ? .pinned : [], isVisited ? .visited : [], isSafe ? .safe : []]
    record.partition = partition
    record.low = low
    record.high = high
    record.number = number
    record.head = head
    record.body = body
    record.headLength = headLength
    record.hits = hits
    record.bodyOffset = bodyOffset
    record.bodyLength = UInt64(clamping: bodyLength)
    record.headCheck = headCheck
    record.stored = stored
    record.marks = marks
    return record
  }
}

extension StoreUsage {
  mutating func add(_ slot: DiskSlot) {
    bytes &+= slot.cost
    blocks &+= slot.blocks
    count += 1
  }

  mutating func remove(_ slot: DiskSlot) {
    bytes &-= slot.cost
    blocks &-= slot.blocks
    count -= 1
  }

  mutating func replace(_ old: DiskSlot, by new: DiskSlot) {
    bytes &+= new.cost - old.cost
    blocks &+= new.blocks - old.blocks
  }

  /// Counts what is on its way, or gives it back.
  mutating func reserve(_ bytes: Int64) {
    self.bytes += bytes
    blocks += bytes
  }
}

/// What the index knows of an entry beside its key, so that a filter need not read every head: a few bits of keyed
/// digests of what it is of, of its host and of its tags. They rule entries out; what is left is looked at.
struct EntryMarks: Equatable, Sendable {
  /// Twenty bits of the resource, twelve of the host; zero where an earlier version stored the entry.
  var place: UInt32 = 0
  /// Three bits for each tag.
  var tags: UInt32 = 0

  private static let resourceMask: UInt32 = 1 << 20 - 1

  init(place: UInt32 = 0, tags: UInt32 = 0) {
    self.place = place
    self.tags = tags
  }

  init(_ key: ArchiveKey, _ details: EntryDetails, _ hash: SipHash) {
    place = Self.resource(key.resource, hash) | Self.host(details.host, hash)
    for tag in details.tags { tags |= Self.tag(tag, hash) }
  }

  // Never zero, which says that nothing is known.
  private static func resource(_ bytes: ArraySlice<UInt8>, _ hash: SipHash) -> UInt32 {
    UInt32(truncatingIfNeeded: hash.digest(Array(bytes)).0) & resourceMask | 1
  }

  private static func host(_ host: String, _ hash: SipHash) -> UInt32 {
    UInt32(truncatingIfNeeded: hash.digest(Array(host.utf8)).0) & ~resourceMask
  }

  private static func tag(_ tag: String, _ hash: SipHash) -> UInt32 {
    // Tags are compared like texts: those that look the same are the same.
    let digest = hash.digest(Array(tag.precomposedStringWithCanonicalMapping.utf8)).0
    return (0..<3).reduce(0) { $0 | 1 << UInt32(digest >> (5 * UInt64($1)) & 31) }
  }

  /// Which entries a filter may be about, by their marks; `nil` where marks say nothing of it.
  static func sieve(_ filter: EntryFilter, _ hash: SipHash) -> (@Sendable (EntryMarks) -> Bool)? {
    let tests = filter.parts.compactMap { part -> (@Sendable (EntryMarks) -> Bool)? in
      switch part {
      case .resource(let asked):
        let wanted = [asked.text, asked.path].compactMap { $0.map { resource($0[...], hash) } }
        return { wanted.contains($0.place & resourceMask) }
      case .host(let name):
        let wanted = host(name, hash)
        return { $0.place & ~resourceMask == wanted }
      case .tags(let names):
        let wanted = names.map { tag($0, hash) }
        return { marks in wanted.contains { marks.tags & $0 == $0 } }
      case .partition, .key, .url, .matching: return nil
      }
    }
    guard !tests.isEmpty else { return nil }
    return { marks in marks.place == 0 || tests.allSatisfy { $0(marks) } }
  }
}

/// A file of an entry. Its name is made of a keyed digest and a number that is never used again: nothing of the URL is
/// in it.
struct EntryFile: Hashable, Sendable {
  var partition: UInt32
  /// The digest of the key.
  var low: UInt64
  var number: UInt64

  var name: String {
    let digits = String(low, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits + "-" + String(number, radix: 16)
  }

  /// The record that says that the file may go unless it is put into use.
  var looseRecord: LogRecord {
    var record = LogRecord(.loose)
    record.partition = partition
    record.low = low
    record.number = number
    return record
  }
}

/// The name of a partition's folder.
enum PartitionFolder {
  static let longestName = 48

  /// Whether a name can be a folder's: plain, short, and leading nowhere else.
  static func isUsable(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= longestName && name.utf8.first != UInt8(ascii: ".")
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
          true
        default: false
        }
      }
  }

  /// The folder that a digest names.
  static func named(_ digest: UInt64) -> String {
    let digits = String(digest, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

/// The beginning of a file of ours: what it is, in which version, and a few bytes of its own. Written twice, so that
/// one damaged byte does not turn an archive into a foreign thing.
struct FormatMark: Equatable, Sendable {
  /// What the file is: eight bytes.
  var magic: [UInt8]
  var version: UInt32
  var payload: [UInt8]

  enum Failure: Error, Equatable {
    case foreign
    case version(UInt32)
  }

  /// Both copies: as long as twice ``copySize(payload:)``.
  var encoded: [UInt8] { copy(0) + copy(1) }

  static func copySize(payload: Int) -> Int { 8 + 4 + 4 + payload + 8 }

  private func copy(_ index: UInt64) -> [UInt8] {
    var sink = ByteSink()
    sink.bytes = magic
    sink.put(version)
    sink.put(UInt32(truncatingIfNeeded: payload.count))
    sink.bytes += payload
    sink.put(Checksum.of(sink.bytes, seed: index))
    return sink.bytes
  }

  init(magic: String, version: UInt32, payload: [UInt8]) {
    self.magic = Array(magic.utf8)
    self.version = version
    self.payload = payload
  }

  /// Reads the mark of a file, where it is ours and of our version.
  init(decoding bytes: ArraySlice<UInt8>, magic: String, version: UInt32, payload: Int) throws(Failure) {
    let magic = Array(magic.utf8)
    let size = Self.copySize(payload: payload)
    var other: UInt32?
    for index in 0..<2 {
      let start = bytes.startIndex + index * size
      guard start <= bytes.endIndex else { break }
      let copy = bytes[start..<min(start + size, bytes.endIndex)]
      var source = ByteSource(copy.dropFirst(8))
      guard copy.starts(with: magic), let found = source.number(UInt32.self), let count = source.number(UInt32.self)
      else { continue }
      if found == version, Int(count) == payload, copy.count == size {
        var end = ByteSource(copy.suffix(8))
        guard end.number(UInt64.self) == Checksum.of(Array(copy.dropLast(8)), seed: UInt64(index)) else { continue }
        self.magic = magic
        self.version = version
        self.payload = Array(copy.dropFirst(16).dropLast(8))
        return
      }
      // Another version may have another layout: its checksum cannot be asked.
      if found != version { other = other ?? found }
    }
    if let other { throw .version(other) }
    throw .foreign
  }
}
