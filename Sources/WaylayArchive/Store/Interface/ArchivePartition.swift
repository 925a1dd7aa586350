/// A part of an archive that shares nothing with the others: a user, an account, a tenant.
///
/// ```swift
/// try await store.removeAll(.partition("alice"))
/// ```
///
/// Two names are the same partition when their UTF-8 forms are the same bytes; no Unicode equivalence applies.
public struct ArchivePartition: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The bytes of the name.
  public let bytes: [UInt8]

  /// The partition of everybody who has none of their own.
  public static let shared = ArchivePartition("")

  /// The partition of that name.
  public init(_ name: String) {
    bytes = Array(name.utf8)
  }

  /// The partition that a literal names.
  public init(stringLiteral name: String) {
    self.init(name)
  }

  init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// The name.
  public var description: String { String(decoding: bytes, as: UTF8.self) }
}
