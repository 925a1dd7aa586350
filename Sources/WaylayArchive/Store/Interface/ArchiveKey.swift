/// What an answer is stored under: the bytes that tell one resource from another, and the partition they belong to.
///
/// ```swift
/// let key = ArchiveKey("GET https://example.com/news", partition: "alice")
/// ```
///
/// Keys are equal when all their bytes are: stores use digests to find an entry, never to recognise it. The bytes are
/// written to disk, in clear unless the store encrypts, so whoever makes a key puts digests
/// (``ArchiveStore/digest(_:)``) in the place of secrets.
public struct ArchiveKey: Hashable, Sendable {
  /// The bytes of the key.
  public let bytes: [UInt8]
  /// Whose answers these are. Entries of two partitions never meet, and a store on disk keeps each in a folder of its
  /// own.
  public let partition: ArchivePartition

  /// Makes a key from bytes.
  public init(bytes: [UInt8], partition: ArchivePartition = .shared) {
    self.bytes = bytes
    self.partition = partition
  }

  /// Makes a key from the UTF-8 form of `text`.
  public init(_ text: String, partition: ArchivePartition = .shared) {
    self.init(bytes: Array(text.utf8), partition: partition)
  }
}
