import Foundation

/// Which archive a directory is: its format, the secret that its digests are made under, and whether and with which key
/// it is encrypted.
struct Identity: Sendable {
  static let magic = "WAYLAYA\n"
  static let version: UInt32 = 1
  static let fileName = "waylay-archive"
  private static let payload = 32 + 1 + 16

  var secret: [UInt8]
  var isEncrypted: Bool
  /// What the key adds up to.
  var fingerprint: [UInt8]

  /// Makes a new archive's.
  init(secret: [UInt8]? = nil, key: EncryptionKey?) {
    self.secret = secret ?? Self.newSecret()
    isEncrypted = key != nil
    fingerprint = Sealing(key: key, archive: self.secret).fingerprint
  }

  /// 32 bytes that nobody can guess.
  static func newSecret() -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }

  var encoded: [UInt8] {
    FormatMark(magic: Self.magic, version: Self.version, payload: secret + [isEncrypted ? 1 : 0] + fingerprint).encoded
  }

  init(decoding bytes: [UInt8], in directory: String) throws {
    let mark: FormatMark
    do {
      mark = try FormatMark(decoding: bytes[...], magic: Self.magic, version: Self.version, payload: Self.payload)
    } catch .version(let version) {
      throw ArchiveError(
        .foreignFormat,
        "the archive in \(directory) has format \(version), and this version of Waylay reads format \(Self.version): "
          + "update Waylay, or use another directory."
      )
    } catch .foreign {
      throw ArchiveError.foreign(directory)
    }
    secret = Array(mark.payload.prefix(32))
    isEncrypted = mark.payload[32] != 0
    fingerprint = Array(mark.payload.suffix(16))
  }

  /// The sealing under a key, once it is known to be the right one.
  func sealing(_ key: EncryptionKey?, directory: String) throws -> Sealing {
    guard isEncrypted == (key != nil) else {
      throw ArchiveError(
        .wrongKey,
        isEncrypted
          ? "the archive in \(directory) is encrypted: give DiskStore.Options.encryptionKey (with the package trait "
            + "Cryptography). Nothing was changed."
          : "the archive in \(directory) is not encrypted, but a key was given: use another directory for an encrypted "
            + "archive. Nothing was changed."
      )
    }
    let sealing = Sealing(key: key, archive: secret)
    guard sealing.fingerprint == fingerprint else {
      throw ArchiveError(
        .wrongKey,
        "the archive in \(directory) is encrypted with another key: give the one it was made with. Nothing was "
          + "changed."
      )
    }
    return sealing
  }
}

extension ArchiveError {
  static func foreign(_ directory: String) -> ArchiveError {
    ArchiveError(
      .foreignFormat,
      "\(directory) contains something other than an archive, or its file \(Identity.fileName) is missing: use an "
        + "empty directory. Nothing was changed."
    )
  }

  static func locked(_ directory: String, _ error: any Error, isBeingMade: Bool) -> ArchiveError {
    ArchiveError(
      .locked,
      isBeingMade
        ? "the archive in \(directory) is being created by another process or another store: try again."
        : "the archive in \(directory) is in use by another process or another store: give each its own "
          + "directory, or open it with whenLocked: .readOnly.",
      underlying: error)
  }

  static func unusable(_ directory: String, _ error: any Error) -> ArchiveError {
    ArchiveError(
      .directoryUnusable,
      "the archive's directory \(directory) cannot be used (\(error)): check the path and its permissions.",
      underlying: error)
  }
}
