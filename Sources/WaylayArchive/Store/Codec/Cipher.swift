// Encryption uses swift-crypto, which compiles BoringSSL on Linux. Without the trait `Cryptography`, both are left out.
#if Cryptography
  public import Crypto
  import Foundation

  /// The key with which an app encrypts an archive. Requires the trait `Cryptography` of this package.
  public typealias EncryptionKey = SymmetricKey

  extension EncryptionKey {
    /// - Throws: `ArchiveError.invalidKey` for a key that is shorter than the shortest key of AES (FIPS 197).
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
    /// The number of bytes that encryption adds.
    static let overhead = 28

    private let key: SymmetricKey

    init(_ key: EncryptionKey, archive: [UInt8]) {
      self.key = HKDF<SHA256>.deriveKey(
        inputKeyMaterial: key, salt: archive, info: Data("waylay archive entries".utf8), outputByteCount: 32)
    }

    /// Identifies the key without revealing it.
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

  /// The key with which an app encrypts an archive. No key can be made, because the trait `Cryptography` of this
  /// package is not enabled. An enum without cases would make the compiler warn about unreachable code.
  public struct EncryptionKey: Sendable {
    func longEnough() throws(ArchiveError) -> EncryptionKey { self }
  }

  extension ArchiveCache.Storage {
    /// An encrypted archive, which needs the trait `Cryptography`.
    @available(*, unavailable, message: "Enable the trait Cryptography of the package waylay to encrypt an archive.")
    public static func disk<Key>(
      at directory: URL, limits: StoreLimits = StoreLimits(), encryptionKey: @escaping @Sendable () throws -> Key
    ) -> ArchiveCache.Storage { .memory }
  }

  /// Never created, because there is no key.
  struct Cipher: Sendable {
    static let overhead = 0

    init(_ key: EncryptionKey, archive: [UInt8]) {}

    var fingerprint: [UInt8] { [] }
    var digestKey: [UInt8] { [] }

    func sealed(_ bytes: some DataProtocol, authenticating context: [UInt8]) throws -> Data { Data() }
    func opened(_ bytes: some DataProtocol, authenticating context: [UInt8]) -> Data? { nil }
  }
#endif

extension ArchiveStore {
  /// Returns a digest under the store's secret key (HMAC, RFC 2104, with SHA-256), which identifies a value without
  /// storing it.
  package func digest(_ bytes: [UInt8]) -> [UInt8] {
    // HMAC requires a key of at most one block of SHA-256.
    let key = secretBytes + [UInt8](repeating: 0, count: max(0, 64 - secretBytes.count))
    return sha256(key.map { $0 ^ 0x5C } + sha256(key.map { $0 ^ 0x36 } + bytes))
  }

  /// The keyed digest that finds an entry. HMAC, which takes twice the time, is unnecessary: eight of the 32 bytes of
  /// SHA-256 are too few for a length extension attack.
  func mark(_ bytes: some Sequence<UInt8>) -> UInt64 { sha256(secretBytes + bytes).withUnsafeBytes { $0.word(at: 0) } }

  /// The digest of a key and its partition. The byte between them does not occur in UTF-8, so different pairs never
  /// have the same bytes.
  func digest(of key: ArchiveKey) -> UInt64 { mark(key.partition.bytes + [0xFF] + key.bytes) }

  /// The row of `total` that records the last removal of a path, a host or a partition: one of 65 536 rows, chosen by
  /// hash, so that several of them may share one.
  private func slot(_ bytes: some Sequence<UInt8>) -> Int64 { Int64(mark(bytes) & 0xFFFF) + 3 }

  /// The rows of `total` that record removals of an entry.
  func slots(of entry: StoredEntry) -> [Int64] {
    [2, slot(entry.key.path), slot(entry.details.host.utf8), slot(entry.key.partition.bytes)]
  }

  /// The row of `total` that records a removal by a filter; 2 if its entries share neither path, host nor partition.
  func slot(of filter: EntryFilter) -> Int64 { filter.parts.lazy.compactMap(\.subject).first.map { slot($0) } ?? 2 }
}

private func sha256(_ bytes: [UInt8]) -> [UInt8] {
  #if Cryptography
    Array(SHA256.hash(data: bytes))
  #else
    MessageDigest.sha256(bytes: bytes)
  #endif
}
