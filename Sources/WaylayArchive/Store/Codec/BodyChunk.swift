/// A piece of a stored body: how long it is, how much of the file it takes, and what it adds up to.
struct BodyChunk: Hashable, Sendable {
  /// The bytes of a full chunk, before compression and encryption.
  static let size = 64 * 1024

  /// Its bytes in the file.
  var stored: UInt32
  /// Its bytes as they were given.
  var plain: UInt32
  /// The checksum of its bytes in the file.
  var check: UInt64
  var isCompressed: Bool
}
