/// One line of the journal: 96 bytes, so that a damaged record costs itself and not those behind it.
///
/// A record carries digests, sizes and times; URLs, keys and heads are in the entries' own files.
struct JournalRecord: Equatable, Sendable {
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
    /// The medium has all entries up to a number.
    case synced = 6
    /// An entry has taken the place of another, which goes once the medium has the new one.
    case replaced = 7
  }

  struct Flags: OptionSet, Hashable, Sendable {
    let rawValue: UInt8
    static let pinned = Flags(rawValue: 1)
    static let visited = Flags(rawValue: 2)
    /// The medium has it.
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

  init(_ kind: Kind) {
    self.kind = kind
  }

  /// Reads a record of exactly ``size`` bytes; `nil` when they are not what was written at this place of this journal.
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
    // Sizes that no file has: nothing later has to think of overflow.
    if kind == .put, bodyLength > 1 << 48 { return nil }
  }
}

extension JournalRecord {
  /// The record of an entry that `id` has taken the place of.
  static func replaced(_ number: UInt64, _ low: UInt64, by id: EntryID) -> JournalRecord {
    var record = JournalRecord(.replaced)
    (record.number, record.low) = (number, low)
    (record.head, record.high) = (id.number, id.hash)
    return record
  }

  /// The entry that has taken the place.
  var successor: EntryID { EntryID(number: head, hash: high) }

  /// The record of a partition: its folder's name, at most 48 bytes of UTF-8, is in the place of an entry's digests and
  /// numbers.
  static func partition(_ number: UInt32, digest: UInt64, folder: String) -> JournalRecord {
    var record = JournalRecord(.partition)
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
