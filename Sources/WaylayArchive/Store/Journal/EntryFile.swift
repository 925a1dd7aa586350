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
  var looseRecord: JournalRecord {
    var record = JournalRecord(.loose)
    record.partition = partition
    record.low = low
    record.number = number
    return record
  }
}
