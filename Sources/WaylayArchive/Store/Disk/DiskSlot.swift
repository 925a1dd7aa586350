/// What the index keeps in memory of an entry on disk: where it is and what it adds up to. Its key and its head are in
/// its file.
struct DiskSlot: Sendable {
  /// What an entry takes beside its files: its records in the journal.
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
  /// Whether the journal has it.
  var isDurable = true
  var isPinned = false
  /// Whether the medium has it, although its number is not among those of which that is known.
  var isSafe = false

  func headFile(_ low: UInt64) -> EntryFile { EntryFile(partition: partition, low: low, number: head) }
  func bodyFile(_ low: UInt64) -> EntryFile { EntryFile(partition: partition, low: low, number: body) }

  /// The one or two files.
  func files(_ low: UInt64) -> [EntryFile] { head == body ? [headFile(low)] : [headFile(low), bodyFile(low)] }

  /// The bytes of the files.
  static func cost(headLength: Int64, bodyOffset: Int64, bodyLength: Int64, isInline: Bool) -> Int64 {
    bookkeeping + headLength + bodyLength + (isInline ? 0 : bodyOffset)
  }

  init(_ record: JournalRecord) {
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
    cost = Self.cost(
      headLength: Int64(headLength), bodyOffset: Int64(bodyOffset), bodyLength: bodyLength,
      isInline: record.head == record.body)
  }

  func record(low: UInt64, isVisited: Bool, isSafe: Bool = false) -> JournalRecord {
    var record = JournalRecord(.put)
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
    return record
  }
}
