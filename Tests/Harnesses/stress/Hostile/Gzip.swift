import Foundation

/// Bytes in gzip's format (RFC 1952), made without a library: what is wrong with them can be chosen.
enum Gzip {
  private static let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]

  /// The bytes, stored and not made smaller.
  static func stored(_ data: Data) -> Data {
    var result = Data(header)
    var rest = data
    repeat {
      let block = rest.prefix(65_535)
      rest = rest.dropFirst(block.count)
      result.append(rest.isEmpty ? 1 : 0)
      result.append(littleEndian: UInt16(block.count))
      result.append(littleEndian: ~UInt16(block.count))
      result.append(block)
    } while !rest.isEmpty
    result.append(littleEndian: checksum(data))
    result.append(littleEndian: UInt32(data.count))
    return result
  }

  /// A quarter of a megabyte of zeros in a hundredth of that: one literal, then that byte again and again (RFC 1951,
  /// section 3.2.6).
  static let bomb: (coded: Data, plain: Data) = {
    let repeats = 1_016
    let plain = Data(count: 1 + 258 * repeats)
    var bits = Bits(bytes: header)
    bits.put(0b011, count: 3)
    bits.putReversed(0b0011_0000, count: 8)
    for _ in 0..<repeats {
      bits.putReversed(0b1100_0101, count: 8)
      bits.putReversed(0, count: 5)
    }
    bits.putReversed(0, count: 7)
    var coded = Data(bits.bytes)
    coded.append(littleEndian: checksum(plain))
    coded.append(littleEndian: UInt32(plain.count))
    return (coded, plain)
  }()

  private struct Bits {
    var bytes: [UInt8]
    private var used = 8

    init(bytes: [UInt8]) {
      self.bytes = bytes
    }

    mutating func put(_ value: Int, count: Int) {
      for shift in 0..<count {
        if used == 8 {
          bytes.append(0)
          used = 0
        }
        bytes[bytes.count - 1] |= UInt8(value >> shift & 1) << UInt8(used)
        used += 1
      }
    }

    /// Huffman codes have their first bit in front.
    mutating func putReversed(_ code: Int, count: Int) {
      put((0..<count).reduce(0) { $0 << 1 | code >> $1 & 1 }, count: count)
    }
  }

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { crc, _ in crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
  }

  private static func checksum(_ data: Data) -> UInt32 {
    var crc = UInt32.max
    for byte in data { crc = crc >> 8 ^ table[Int(UInt8(truncatingIfNeeded: crc) ^ byte)] }
    return ~crc
  }
}

extension Data {
  fileprivate mutating func append<Number: FixedWidthInteger>(littleEndian number: Number) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }
}
