/// The identifier of an entry in one store. Numbers are never reused, so an outdated identifier finds nothing rather
/// than another entry.
public struct EntryID: Hashable, Sendable, CustomStringConvertible {
  /// The number of the entry in its store.
  public let number: UInt64
  /// Where the store's index has it: the digest of its key.
  let hash: UInt64

  /// Makes an identifier, for your own store.
  public init(number: UInt64) {
    self.init(number: number, hash: 0)
  }

  init(number: UInt64, hash: UInt64) {
    self.number = number
    self.hash = hash
  }

  /// The number.
  public var description: String { "\(number)" }
}
