/// Something that a store did of its own accord.
public struct StoreEvent: Sendable {
  /// What happened. New kinds may be added in any release.
  public let kind: Kind
  /// The entry, where it had become one.
  public let id: EntryID?
  /// Its URL as far as it may be read, where it is known.
  public let url: String?
  /// How many bytes it was about.
  public let bytes: Int64
  /// Why, for a person.
  public let reason: String

  /// Makes an event, for a store of your own.
  public init(_ kind: Kind, id: EntryID? = nil, url: String? = nil, bytes: Int64 = 0, reason: String) {
    self.kind = kind
    self.id = id
    self.url = url
    self.bytes = bytes
    self.reason = reason
  }

  /// The kinds of event. A struct rather than an enum, so that new ones do not break a `switch`.
  public struct Kind: Hashable, Sendable, CustomStringConvertible {
    /// The kind's name.
    public let description: String

    /// Makes a kind of that name.
    public init(_ description: String) {
      self.description = description
    }

    /// An entry made room for another.
    public static let evicted = Kind("evicted")
    /// An entry was not stored: too large, no room beside what is pinned, or the disk would not have it.
    public static let refused = Kind("refused")
    /// An entry was dropped because what was read was not what was stored.
    public static let damaged = Kind("damaged")
  }
}
