import Crypto

/// HMAC (RFC 2104) with SHA-256 under one key, whose blocks are hashed once and not for each digest.
struct KeyedDigest: Sendable {
  private let prepared: HMAC<SHA256>

  init(_ key: SymmetricKey) {
    prepared = HMAC(key: key)
  }

  func of(_ bytes: [UInt8]) -> [UInt8] {
    var digest = prepared
    digest.update(data: bytes)
    return digest.finalize().withUnsafeBytes { Array($0) }
  }
}
