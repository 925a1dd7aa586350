import Foundation

/// The bytes of a stored body, wherever they are.
///
/// If an entry is evicted before its body has been opened or read, the body is unreadable; once opened, it can be read
/// to its end.
public protocol StoredBody: Sendable {
  /// The number of bytes.
  var length: Int64 { get }
  /// All bytes, if they are already in memory.
  var inMemory: Data? { get }
  /// Whether reading a large range at once is cheap, because it is mapped rather than copied.
  var isMapped: Bool { get }
  /// Returns the bytes of `range` at once, verified before the first is returned.
  ///
  /// - Throws: ``ArchiveError/Code/unreadable`` if they differ from what was stored, or `range` exceeds the body.
  func read(_ range: Range<Int64>) async throws -> Data
  /// Returns the same body, retained: it stays readable when its entry is removed.
  func opened() async throws -> any StoredBody
}

extension StoredBody {
  /// Returns the body itself.
  public func opened() async throws -> any StoredBody { self }
}
