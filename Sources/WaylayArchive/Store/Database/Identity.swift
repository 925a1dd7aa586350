import Foundation

/// The identity of an archive: the secret of its digests, and whether and with which key it is encrypted.
struct Identity: Sendable {
  static let payloadSize = 32 + 32 + 1 + 16
  private static let mark = FormatMark(magic: "WAYLAYA\n", version: 1, payloadSize: payloadSize)

  /// The salt of the derived keys; in clear.
  private let salt: [UInt8]
  /// The XOR of the digest key and the key derived from the app's key: zero, unless the archive was restored from an
  /// export, or has no key.
  private let difference: [UInt8]
  let isEncrypted: Bool
  /// The fingerprint of the key.
  let fingerprint: [UInt8]

  /// Makes the identity of a new archive.
  ///
  /// - Parameter secret: The digest key of another archive, whose entries will be imported.
  init(secret: [UInt8]? = nil, key: EncryptionKey?) {
    salt = key == nil ? secret ?? Self.newSecret() : Self.newSecret()
    isEncrypted = key != nil
    let sealing = Sealing(key: key, archive: salt)
    fingerprint = sealing.fingerprint
    let derived = sealing.digestKey ?? salt
    difference = zip(secret ?? derived, derived).map { $0 ^ $1 }
  }

  /// The key of the archive's digests. In an encrypted archive it depends on the app's key: the files alone do not tell
  /// whether a guessed URL is stored.
  func secret(_ sealing: Sealing) -> [UInt8] { zip(sealing.digestKey ?? salt, difference).map { $0 ^ $1 } }

  /// The seed of the checksums in the archive's own files.
  var seed: UInt64 { Checksum.of(salt, seed: 0) }

  /// 32 random bytes.
  static func newSecret() -> [UInt8] { .random(32) }

  var encoded: [UInt8] { Self.mark.encoded(payload) }

  /// The encoded identity, as in the index and in exported files.
  var payload: [UInt8] { salt + difference + [isEncrypted ? 1 : 0] + fingerprint }

  /// Decodes the identity of an index; `nil` if it is invalid.
  init?(decoding bytes: [UInt8]) {
    guard let payload = try? Self.mark.payload(of: bytes) else { return nil }
    self.init(payload)
  }

  /// - Parameter payload: ``payloadSize`` bytes.
  init(_ payload: [UInt8]) {
    salt = Array(payload.prefix(32))
    difference = Array(payload.dropFirst(32).prefix(32))
    isEncrypted = payload[64] != 0
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
