#if Cryptography
  import Crypto

  /// HMAC (RFC 2104) with SHA-256 under one key, whose blocks are hashed once and not for each digest.
  struct KeyedDigest: Sendable {
    private let prepared: HMAC<SHA256>

    init(key: [UInt8]) {
      prepared = HMAC(key: SymmetricKey(data: key))
    }

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
