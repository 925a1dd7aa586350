// Encryption is swift-crypto's, which on Linux compiles BoringSSL: a package that turns the trait `Cryptography` off
// has neither. Then nobody can have a key.
#if Cryptography
  public import Crypto
  import Foundation

  /// What an app encrypts an archive with. Requires the trait `Cryptography` of this package.
  public typealias EncryptionKey = SymmetricKey

  extension EncryptionKey {
    /// - Throws: `ArchiveError.invalidKey` for a key that could be guessed: one that is shorter than the
    ///   shortest of AES (FIPS 197).
    func longEnough() throws(ArchiveError) -> EncryptionKey {
      guard bitCount >= 128 else {
        throw ArchiveError(
          .invalidKey,
          "the encryption key has \(bitCount / 8) bytes, and at least 16 are needed: use SymmetricKey(size: .bits256), "
            + "kept in the keychain or its equivalent.")
      }
      return self
    }
  }

  /// AES-GCM (NIST SP 800-38D) under a key of the archive, made of the app's key and the archive's own secret.
  struct Cipher: Sendable {
    /// The bytes that encryption adds to a piece.
    static let overhead = 28

    private let key: SymmetricKey

    init(_ key: EncryptionKey, archive: [UInt8]) {
      self.key = HKDF<SHA256>.deriveKey(
        inputKeyMaterial: key, salt: archive, info: Data("waylay archive entries".utf8), outputByteCount: 32)
    }

    /// What tells this key from another without giving it away.
    var fingerprint: [UInt8] {
      Array(HMAC<SHA256>.authenticationCode(for: Data("waylay archive key".utf8), using: key).prefix(16))
    }

    /// The key of an archive's digests.
    var digestKey: [UInt8] {
      Array(HMAC<SHA256>.authenticationCode(for: Data("waylay archive digests".utf8), using: key))
    }

    func sealed(_ bytes: some DataProtocol, authenticating context: [UInt8]) throws -> Data {
      try AES.GCM.seal(bytes, using: key, authenticating: context).combined ?? Data()
    }

    func opened(_ bytes: some DataProtocol, authenticating context: [UInt8]) -> Data? {
      guard let box = try? AES.GCM.SealedBox(combined: bytes) else { return nil }
      return try? AES.GCM.open(box, using: key, authenticating: context)
    }
  }
#else
  import Foundation

  /// What an app encrypts an archive with: nothing, because the trait `Cryptography` of this package is not enabled, and
  /// nobody can make one.
  public struct EncryptionKey: Sendable {
    private init() {}

    func longEnough() throws(ArchiveError) -> EncryptionKey { self }
  }

  extension ArchiveCache.Storage {
    /// An encrypted archive, which needs the trait `Cryptography`.
    @available(*, unavailable, message: "Enable the trait Cryptography of the package waylay to encrypt an archive.")
    public static func disk<Key>(
      at directory: URL, limits: StoreLimits = StoreLimits(), encryptionKey: @escaping @Sendable () throws -> Key
    ) -> ArchiveCache.Storage { .memory }
  }

  /// What cannot be made without a key, and keeps nothing in clear even so.
  struct Cipher: Sendable {
    static let overhead = 0

    init(_ key: EncryptionKey, archive: [UInt8]) {}

    var fingerprint: [UInt8] { [] }
    var digestKey: [UInt8] { [] }

    func sealed(_ bytes: some DataProtocol, authenticating context: [UInt8]) throws -> Data {
      throw ArchiveError(
        .invalidKey, "this build has no encryption: enable the trait Cryptography of the package waylay.")
    }

    func opened(_ bytes: some DataProtocol, authenticating context: [UInt8]) -> Data? { nil }
  }
#endif

#if Cryptography
  /// HMAC (RFC 2104) with SHA-256 under one key, whose blocks are hashed once and not for each digest.
  struct KeyedDigest: Sendable {
    private let prepared: HMAC<SHA256>

    init(key: [UInt8]) { prepared = HMAC(key: SymmetricKey(data: key)) }

    func of(_ bytes: [UInt8]) -> [UInt8] {
      var digest = prepared
      digest.update(data: bytes)
      return digest.finalize().withUnsafeBytes { Array($0) }
    }
  }
#else
  /// HMAC (RFC 2104) with SHA-256 under one key, without swift-crypto: the same digests, so that an archive can be read
  /// by either build.
  struct KeyedDigest: Sendable {
    private let inner: [UInt8]
    private let outer: [UInt8]

    /// - Parameter key: At most 64 bytes, a block of SHA-256.
    init(key: [UInt8]) {
      let padded = key + [UInt8](repeating: 0, count: max(0, 64 - key.count))
      (inner, outer) = (padded.map { $0 ^ 0x36 }, padded.map { $0 ^ 0x5C })
    }

    func of(_ bytes: [UInt8]) -> [UInt8] {
      MessageDigest.sha256(bytes: outer + MessageDigest.sha256(bytes: inner + bytes))
    }
  }
#endif
