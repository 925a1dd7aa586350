/// XXH64 (Collet): detects damage at the speed of memory. It is no protection against forgery; encryption is.
///
/// Measured against the keyed digest of the module (HMAC-SHA256 by swift-crypto, release): 3.2 µs against 37 µs for 64
/// KiB of a body.
enum Checksum {
  private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
  private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
  private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
  private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
  private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

  /// The checksum of bytes. The seed depends on their kind and their place, so that valid bytes in the wrong place are
  /// detected.
  static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
    let count = bytes.count
    var position = 0
    var hash = seed &+ prime5
    if count >= 32 {
      var (a, b, c, d) = (seed &+ prime1 &+ prime2, seed &+ prime2, seed, seed &- prime1)
      while count - position >= 32 {
        a = round(a, bytes.word(at: position))
        b = round(b, bytes.word(at: position + 8))
        c = round(c, bytes.word(at: position + 16))
        d = round(d, bytes.word(at: position + 24))
        position += 32
      }
      hash = rotated(a, 1) &+ rotated(b, 7) &+ rotated(c, 12) &+ rotated(d, 18)
      for lane in [a, b, c, d] { hash = (hash ^ round(0, lane)) &* prime1 &+ prime4 }
    }
    hash = hash &+ UInt64(count)
    while count - position >= 8 {
      hash = rotated(hash ^ round(0, bytes.word(at: position)), 27) &* prime1 &+ prime4
      position += 8
    }
    if count - position >= 4 {
      let half = UInt64(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self)))
      hash = rotated(hash ^ (half &* prime1), 23) &* prime2 &+ prime3
      position += 4
    }
    for byte in bytes[position...] { hash = rotated(hash ^ (UInt64(byte) &* prime5), 11) &* prime1 }
    hash = (hash ^ (hash >> 33)) &* prime2
    hash = (hash ^ (hash >> 29)) &* prime3
    return hash ^ (hash >> 32)
  }

  /// The checksum of an array.
  static func of(_ bytes: [UInt8], seed: UInt64) -> UInt64 { bytes.withUnsafeBytes { of($0, seed: seed) } }

  /// A seed from two numbers.
  static func seed(_ first: UInt64, _ second: UInt64) -> UInt64 {
    (first &* prime1) ^ rotated(second &* prime2, 31)
  }

  @inline(__always) private static func rotated(_ word: UInt64, _ count: UInt64) -> UInt64 {
    word << count | word >> (64 - count)
  }

  @inline(__always) private static func round(_ state: UInt64, _ word: UInt64) -> UInt64 {
    rotated(state &+ (word &* prime2), 31) &* prime1
  }
}
