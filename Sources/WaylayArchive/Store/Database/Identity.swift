import Foundation

/// The identity of an archive: the secret of its digests, and whether and with which key it is encrypted.
struct Identity: Sendable {
  private static let mark = Array("WAYLAYA\n".utf8)
  private static let payloadSize = 32 + 1 + 16

  /// The salt of the derived keys; in clear.
  private let salt: [UInt8]
  let isEncrypted: Bool
  /// The fingerprint of the key.
  let fingerprint: [UInt8]

  /// Makes the identity of a new archive.
  init(key: EncryptionKey?) {
    salt = Self.newSecret()
    isEncrypted = key != nil
    fingerprint = Sealing(key: key, archive: salt).fingerprint
  }

  /// The key of the archive's digests. In an encrypted archive it depends on the app's key: the files alone do not tell
  /// whether a guessed URL is stored.
  func secret(_ sealing: Sealing) -> [UInt8] { sealing.digestKey ?? salt }

  /// The seed of the checksums in the archive's own files.
  var seed: UInt64 { Checksum.of(salt, seed: 0) }

  /// 32 random bytes.
  static func newSecret() -> [UInt8] { .random(32) }

  /// Two copies, each with a checksum: one may be damaged.
  var encoded: [UInt8] { [0, 1].flatMap { Self.copy($0, salt + [isEncrypted ? 1 : 0] + fingerprint) } }

  private static func copy(_ index: UInt64, _ payload: [UInt8]) -> [UInt8] {
    var sink = ByteSink()
    sink.bytes = mark + payload
    sink.put(Checksum.of(sink.bytes, seed: index))
    return sink.bytes
  }

  /// Decodes the identity of an index; `nil` if both copies are damaged.
  init?(decoding bytes: [UInt8]) {
    let size = Self.mark.count + Self.payloadSize + 8
    let payloads = [UInt64(0), 1].lazy.compactMap { index -> [UInt8]? in
      let copy = bytes.dropFirst(Int(index) * size).prefix(size)
      let payload = Array(copy.dropFirst(Self.mark.count).dropLast(8))
      return copy.elementsEqual(Self.copy(index, payload)) ? payload : nil
    }
    guard let payload = payloads.first, payload.count == Self.payloadSize else { return nil }
    salt = Array(payload.prefix(32))
    isEncrypted = payload[32] != 0
    fingerprint = Array(payload.suffix(16))
  }

  /// The sealing under a key; `nil` for a wrong key.
  func sealing(_ key: EncryptionKey?) -> Sealing? {
    guard isEncrypted == (key != nil) else { return nil }
    let sealing = Sealing(key: key, archive: salt)
    return sealing.fingerprint == fingerprint ? sealing : nil
  }

  /// The sealing under a key; throws for a wrong key.
  func sealing(_ key: EncryptionKey?, directory: String) throws -> Sealing {
    if let sealing = sealing(key) { return sealing }
    let reason =
      switch (isEncrypted, key != nil) {
      case (true, true): "is encrypted with another key: give the one it was made with"
      case (true, false): "is encrypted: give its encryptionKey (with the package trait Cryptography)"
      default: "is not encrypted, but a key was given: use another directory for an encrypted archive"
      }
    throw ArchiveError(.wrongKey, "the archive in \(directory) \(reason). Nothing was changed.")
  }
}

extension ArchiveError {
  static func unusable(_ directory: String, _ error: any Error) -> ArchiveError {
    ArchiveError(
      .directoryUnusable,
      "the archive's directory \(directory) cannot be used (\(error)): check the path and its permissions.",
      underlying: error)
  }
}
