/// The usage of a store.
public struct StoreUsage: Hashable, Sendable {
  /// The number of bytes of all entries, including those being written.
  public var bytes: Int64
  /// The number of entries.
  public var count: Int

  /// Makes a usage value.
  public init(bytes: Int64 = 0, count: Int = 0) {
    self.bytes = bytes
    self.count = count
  }
}
