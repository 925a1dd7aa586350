import Foundation

/// The bytes of a stored body, where they are.
///
/// An entry that is evicted before its body has been opened or read is unreadable; one that has been opened is read to
/// its end.
public protocol StoredBody: Sendable {
  /// How many bytes there are.
  var length: Int64 { get }
  /// All bytes, where they are in memory already.
  var inMemory: Data? { get }
  /// Whether a large range is cheap in one piece, because it is mapped rather than copied.
  var isMapped: Bool { get }
  /// The bytes of `range`, in one piece, checked before the first is given out.
  ///
  /// - Throws: ``ArchiveError/Code/unreadable`` when they are not the bytes that were stored, or `range` exceeds the
  ///   body.
  func read(_ range: Range<Int64>) async throws -> Data
  /// The same body, held on to: it stays readable when its entry goes.
  func opened() async throws -> any StoredBody
}

extension StoredBody {
  /// The body itself.
  public func opened() async throws -> any StoredBody { self }
}
