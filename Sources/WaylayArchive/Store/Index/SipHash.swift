/// SipHash-2-4 with 128 bits (Aumasson and Bernstein 2012): the digest that entries are found and files are named by.
///
/// Measured against the keyed digest of the module (HMAC-SHA256 by swift-crypto, release, two cores): 50 ns against 620
/// ns for a URL, which each lookup pays; a hit in memory takes some 7 µs.
///
/// Keyed, so that neither a file name nor the journal tells which URLs are stored to someone who has a list of them.
struct SipHash {
  private let k0: UInt64
  private let k1: UInt64

  /// A hash under a key of 16 bytes; a shorter one is filled up with zeros.
  init(key: [UInt8]) {
    func word(_ start: Int) -> UInt64 {
      (0..<8).reduce(0) { $0 | (start + $1 < key.count ? UInt64(key[start + $1]) << (8 * UInt64($1)) : 0) }
    }
    k0 = word(0)
    k1 = word(8)
  }

  /// The digest of a key and its partition.
  func digest(_ key: ArchiveKey) -> (UInt64, UInt64) {
    var state = State(k0: k0, k1: k1)
    state.add(key.partition.bytes)
    // Not a byte of UTF-8: no partition and key can be read as another pair.
    state.add(0xFF)
    state.add(key.bytes)
    return state.finish()
  }

  /// The digest of bytes.
  func digest(_ bytes: [UInt8]) -> (UInt64, UInt64) {
    var state = State(k0: k0, k1: k1)
    state.add(bytes)
    return state.finish()
  }

  private struct State {
    var v0: UInt64
    var v1: UInt64
    var v2: UInt64
    var v3: UInt64
    var word: UInt64 = 0
    var count: UInt64 = 0

    init(k0: UInt64, k1: UInt64) {
      v0 = k0 ^ 0x736f_6d65_7073_6575
      v1 = k1 ^ 0x646f_7261_6e64_6f6d ^ 0xee
      v2 = k0 ^ 0x6c79_6765_6e65_7261
      v3 = k1 ^ 0x7465_6462_7974_6573
    }

    mutating func add(_ byte: UInt8) {
      word |= UInt64(byte) << (8 * (count & 7))
      count &+= 1
      if count & 7 == 0 { compress() }
    }

    mutating func add(_ bytes: [UInt8]) {
      bytes.withUnsafeBytes { bytes in
        var position = 0
        while position < bytes.count, count & 7 != 0 {
          add(bytes[position])
          position += 1
        }
        while bytes.count - position >= 8 {
          word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
          count &+= 8
          position += 8
          compress()
        }
        while position < bytes.count {
          add(bytes[position])
          position += 1
        }
      }
    }

    private mutating func compress() {
      v3 ^= word
      round()
      round()
      v0 ^= word
      word = 0
    }

    mutating func finish() -> (UInt64, UInt64) {
      word |= count << 56
      compress()
      v2 ^= 0xee
      for _ in 0..<4 { round() }
      let low = v0 ^ v1 ^ v2 ^ v3
      v1 ^= 0xdd
      for _ in 0..<4 { round() }
      return (low, v0 ^ v1 ^ v2 ^ v3)
    }

    private mutating func round() {
      v0 = v0 &+ v1
      v1 = (v1 << 13 | v1 >> 51) ^ v0
      v0 = v0 << 32 | v0 >> 32
      v2 = v2 &+ v3
      v3 = (v3 << 16 | v3 >> 48) ^ v2
      v0 = v0 &+ v3
      v3 = (v3 << 21 | v3 >> 43) ^ v0
      v2 = v2 &+ v1
      v1 = (v1 << 17 | v1 >> 47) ^ v2
      v2 = v2 << 32 | v2 >> 32
    }
  }
}
