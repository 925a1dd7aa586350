/// The key of a stored response: the bytes that identify a resource, and the partition it belongs to.
///
/// ```swift
/// let key = ArchiveKey("GET https://example.com/news", partition: "alice")
/// ```
///
/// Keys are equal if all their bytes are equal: stores use digests to find an entry, never to identify it. The bytes
/// are written to disk, in plaintext unless the store encrypts, so replace secrets in a key with digests
/// (``ArchiveStore/digest(_:)``).
public struct ArchiveKey: Hashable, Sendable {
  /// The bytes of the key.
  public let bytes: [UInt8]
  /// The partition of the response. Entries of different partitions never mix, and a store on disk keeps each partition
  /// in its own folder.
  public let partition: ArchivePartition

  /// Makes a key from bytes.
  public init(bytes: [UInt8], partition: ArchivePartition = .shared) {
    self.bytes = bytes
    self.partition = partition
  }

  /// Makes a key from the UTF-8 bytes of `text`.
  public init(_ text: String, partition: ArchivePartition = .shared) {
    self.init(bytes: Array(text.utf8), partition: partition)
  }
}
