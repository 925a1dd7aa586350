/// A part of an archive that shares nothing with other parts: a user, an account, a tenant.
///
/// ```swift
/// try await store.removeAll(.partition("alice"))
/// ```
///
/// Two names denote the same partition if their UTF-8 bytes are equal; Unicode equivalence does not apply.
public struct ArchivePartition: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The bytes of the name.
  public let bytes: [UInt8]

  /// The partition for everybody without a partition of their own.
  public static let shared = ArchivePartition("")

  /// Makes a partition with the given name.
  public init(_ name: String) {
    bytes = Array(name.utf8)
  }

  /// Makes a partition from a literal.
  public init(stringLiteral name: String) {
    self.init(name)
  }

  init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// The name.
  public var description: String { String(decoding: bytes, as: UTF8.self) }
}
