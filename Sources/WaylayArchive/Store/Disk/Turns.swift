import Foundation

/// What waits to be written, by its turn in the queue.
///
/// An entry that replaces one that still waits takes its turn. Otherwise a key that is stored again and again, faster
/// than the queue moves, would never be written at all: whenever its turn comes, there is a newer one at the end of the
/// queue.
struct Turns: Sendable {
  struct Write: Sendable {
    var id: EntryID
    var draft: EntryDraft
    var digest: (UInt64, UInt64)
    var partition: UInt32
    var body: Data
  }

  /// A turn has the number of the entry that it was first for.
  private var writes: [UInt64: Write] = [:]
  /// The turns of the entries that have another one's.
  private var inherited: [UInt64: UInt64] = [:]

  /// What waits in the place of an entry, if it still does.
  func write(of number: UInt64) -> Write? {
    guard let write = writes[inherited[number] ?? number], write.id.number == number else { return nil }
    return write
  }

  /// Gives an entry a turn of its own.
  mutating func add(_ write: Write) { writes[write.id.number] = write }

  /// Gives an entry the turn of one that waits.
  mutating func replace(_ old: EntryID, by write: Write) {
    let turn = inherited.removeValue(forKey: old.number) ?? old.number
    inherited[write.id.number] = turn
    writes[turn] = write
  }

  /// What is to be written at a turn that has come.
  mutating func take(_ turn: UInt64) -> Write? {
    guard let write = writes.removeValue(forKey: turn) else { return nil }
    inherited[write.id.number] = nil
    return write
  }
}
