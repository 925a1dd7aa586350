/// An entry on its way into a store: everything but its body.
public struct EntryDraft: Sendable {
  /// What it is stored under.
  public var key: ArchiveKey
  /// What its owner needs to serve it. The store keeps the bytes and does not look inside.
  public var head: [UInt8]
  /// What can be listed of it.
  public var details: EntryDetails
  /// The entries that it takes the place of. They go when it is there.
  public var replacing: [EntryID]

  /// Makes a draft.
  public init(key: ArchiveKey, head: [UInt8], details: EntryDetails, replacing: [EntryID] = []) {
    self.key = key
    self.head = head
    self.details = details
    self.replacing = replacing
  }
}
