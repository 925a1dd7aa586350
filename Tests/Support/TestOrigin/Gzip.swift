import Foundation

extension Data {
  /// These bytes in gzip's format (RFC 1952), stored and not made smaller: up to 65535 of them.
  var gzipped: Data {
    precondition(count <= UInt16.max, "one stored block holds 65535 bytes")
    var data = Data([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])
    // One block, the last, stored (RFC 1951, section 3.2.4).
    data.append(1)
    data.append(littleEndian: UInt16(count))
    data.append(littleEndian: ~UInt16(count))
    data.append(self)
    data.append(littleEndian: checksum)
    data.append(littleEndian: UInt32(count))
    return data
  }

  private mutating func append<Number: FixedWidthInteger>(littleEndian number: Number) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }

  /// CRC-32, bit by bit.
  private var checksum: UInt32 {
    ~reduce(UInt32.max) { crc, byte in
      (0..<8).reduce(crc ^ UInt32(byte)) { crc, _ in crc & 1 == 1 ? crc >> 1 ^ 0xedb8_8320 : crc >> 1 }
    }
  }
}
