/// What a store holds.
public struct StoreUsage: Hashable, Sendable {
  /// The bytes of all entries, those being written included.
  public var bytes: Int64
  /// The entries.
  public var count: Int

  /// Makes a statement.
  public init(bytes: Int64 = 0, count: Int = 0) {
    self.bytes = bytes
    self.count = count
  }
}
