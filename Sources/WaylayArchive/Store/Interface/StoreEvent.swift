/// Something that a store did on its own.
public struct StoreEvent: Sendable {
  /// What happened. New kinds may be added in any release.
  public let kind: Kind
  /// The entry, if it had already become one.
  public let id: EntryID?
  /// The entry's URL, as far as it may be revealed, if known.
  public let url: String?
  /// The number of bytes concerned.
  public let bytes: Int64
  /// The human-readable reason.
  public let reason: String

  /// Makes an event, for your own store.
  public init(_ kind: Kind, id: EntryID? = nil, url: String? = nil, bytes: Int64 = 0, reason: String) {
    self.kind = kind
    self.id = id
    self.url = url
    self.bytes = bytes
    self.reason = reason
  }

  /// The kinds of events. A struct rather than an enum, so that new ones do not break a `switch`.
  public struct Kind: Hashable, Sendable, CustomStringConvertible {
    /// The kind's name.
    public let description: String

    /// Makes a kind with the given name.
    public init(_ description: String) {
      self.description = description
    }

    /// An entry was removed to make space for another.
    public static let evicted = Kind("evicted")
    /// An entry was not stored: it was too large, pinned entries left no space, or the disk did not accept it.
    public static let refused = Kind("refused")
    /// An entry was removed because the data read differed from what was stored.
    public static let damaged = Kind("damaged")
  }
}
