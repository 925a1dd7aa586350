import Foundation

/// Which archive a directory is: its format, the secret that its digests are made under, and whether and with which key
/// it is encrypted.
struct Identity: Sendable {
  static let magic = "WAYLAYA\n"
  static let version: UInt32 = 1
  static let fileName = "waylay-archive"
  static let payloadSize = 32 + 32 + 1 + 16

  /// What keys are derived with; in clear.
  private let salt: [UInt8]
  /// What the digests' key differs by from the one that is derived from the app's key: nothing, unless it came with an
  /// exported archive. Without an app's key, zeros.
  private let difference: [UInt8]
  let isEncrypted: Bool
  /// What the key adds up to.
  let fingerprint: [UInt8]

  /// Makes a new archive's.
  ///
  /// - Parameter secret: The key of its digests, where it is to be that of another archive.
  init(secret: [UInt8]? = nil, key: EncryptionKey?) {
    salt = key == nil ? secret ?? Self.newSecret() : Self.newSecret()
    isEncrypted = key != nil
    let sealing = Sealing(key: key, archive: salt)
    fingerprint = sealing.fingerprint
    let derived = sealing.digestKey ?? salt
    difference = zip(secret ?? derived, derived).map { $0 ^ $1 }
  }

  /// The key that the archive's digests are made under. Of an encrypted archive it is derived from the app's key: who
  /// has the files alone cannot tell whether a URL that he guesses is among them.
  func secret(_ sealing: Sealing) -> [UInt8] { zip(sealing.digestKey ?? salt, difference).map { $0 ^ $1 } }

  /// What checksums in the archive's own files begin with.
  var seed: UInt64 { Checksum.of(salt, seed: 0) }

  /// 32 bytes that nobody can guess.
  static func newSecret() -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }

  var encoded: [UInt8] { FormatMark(magic: Self.magic, version: Self.version, payload: payload).encoded }

  /// The bytes that say it; an exported file has them, too.
  var payload: [UInt8] { salt + difference + [isEncrypted ? 1 : 0] + fingerprint }

  init(decoding bytes: [UInt8], in directory: String) throws {
    let mark: FormatMark
    do {
      mark = try FormatMark(decoding: bytes[...], magic: Self.magic, version: Self.version, payload: Self.payloadSize)
    } catch .version(let version) {
      throw ArchiveError(
        .foreignFormat,
        "the archive in \(directory) has format \(version), and this version of Waylay reads format \(Self.version): "
          + "update Waylay, or use another directory."
      )
    } catch .foreign {
      throw ArchiveError.foreign(directory)
    }
    self.init(mark.payload)
  }

  /// - Parameter payload: As many bytes as ``payloadSize`` says.
  init(_ payload: [UInt8]) {
    salt = Array(payload.prefix(32))
    difference = Array(payload.dropFirst(32).prefix(32))
    isEncrypted = payload[64] != 0
    fingerprint = Array(payload.suffix(16))
  }

  /// The sealing under a key; `nil` when that is not the right one.
  func sealing(_ key: EncryptionKey?) -> Sealing? {
    guard isEncrypted == (key != nil) else { return nil }
    let sealing = Sealing(key: key, archive: salt)
    return sealing.fingerprint == fingerprint ? sealing : nil
  }

  /// The sealing under a key, once it is known to be the right one.
  func sealing(_ key: EncryptionKey?, directory: String) throws -> Sealing {
    guard isEncrypted == (key != nil) else {
      throw ArchiveError(
        .wrongKey,
        isEncrypted
          ? "the archive in \(directory) is encrypted: give its encryptionKey (with the package trait "
            + "Cryptography). Nothing was changed."
          : "the archive in \(directory) is not encrypted, but a key was given: use another directory for an encrypted "
            + "archive. Nothing was changed.")
    }
    guard let sealing = sealing(key) else {
      throw ArchiveError(
        .wrongKey,
        "the archive in \(directory) is encrypted with another key: give the one it was made with. Nothing was "
          + "changed.")
    }
    return sealing
  }
}

extension ArchiveError {
  static func foreign(_ directory: String) -> ArchiveError {
    ArchiveError(
      .foreignFormat,
      "\(directory) contains something other than an archive, or its file \(Identity.fileName) is missing: use an "
        + "empty directory. Nothing was changed.")
  }

  static func locked(_ directory: String, _ error: any Error) -> ArchiveError {
    ArchiveError(
      .locked,
      "the archive in \(directory) is in use by another process or another store: give each its own "
        + "directory, or open it with readsWhenLocked: true.", underlying: error)
  }

  static func unusable(_ directory: String, _ error: any Error) -> ArchiveError {
    ArchiveError(
      .directoryUnusable,
      "the archive's directory \(directory) cannot be used (\(error)): check the path and its permissions.",
      underlying: error)
  }
}
