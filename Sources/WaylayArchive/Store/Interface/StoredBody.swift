import Foundation

/// The bytes of a stored body, where they are.
///
/// Reading holds on to them: an entry that is evicted while it is read is read to its end.
public protocol StoredBody: Sendable {
  /// How many bytes there are.
  var length: Int64 { get }
  /// All bytes, where they are in memory already.
  var inMemory: Data? { get }
  /// Whether a large range is cheap in one piece, because it is mapped rather than copied.
  var isMapped: Bool { get }
  /// The bytes of `range`, in one piece, checked before the first is given out.
  ///
  /// - Throws: ``ArchiveError/Code/unreadable`` when they are not the bytes that were stored, or `range` exceeds the body.
  func read(_ range: Range<Int64>) async throws -> Data
}
