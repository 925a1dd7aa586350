/// A new entry for a store: everything except its body.
public struct EntryDraft: Sendable {
  /// The key of the entry.
  public var key: ArchiveKey
  /// The data its owner needs to serve it. The store keeps these bytes and does not interpret them.
  public var head: [UInt8]
  /// The listed properties of the entry.
  public var details: EntryDetails
  /// The entries that it replaces. They are removed when it is stored.
  public var replacing: [EntryID]

  /// Makes a draft.
  public init(key: ArchiveKey, head: [UInt8], details: EntryDetails, replacing: [EntryID] = []) {
    self.key = key
    self.head = head
    self.details = details
    self.replacing = replacing
  }
}
