extension FixedWidthInteger {
  /// The bytes of the number, little-endian.
  var bytes: [UInt8] { withUnsafeBytes(of: littleEndian) { Array($0) } }
}

extension UnsafeRawBufferPointer {
  /// The eight bytes at an offset, little-endian.
  @inline(__always) func word(at offset: Int) -> UInt64 {
    UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}

/// Appends numbers (little-endian) and byte strings with their lengths.
struct ByteSink {
  var bytes: [UInt8] = []

  mutating func put<Number: FixedWidthInteger>(_ number: Number) { bytes += number.bytes }

  mutating func put(_ counted: [UInt8]) {
    put(UInt32(truncatingIfNeeded: counted.count))
    bytes.append(contentsOf: counted)
  }

  mutating func put(_ text: String) { put(Array(text.utf8)) }
}

/// Parses the output of a ``ByteSink``. Damaged bytes never make it trap or read beyond the end.
struct ByteSource {
  private let bytes: ArraySlice<UInt8>
  private var position: Int

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  var remaining: Int { bytes.endIndex - position }

  mutating func number<Number: FixedWidthInteger>(_: Number.Type = Number.self) -> Number? {
    let width = Number.bitWidth / 8
    guard remaining >= width else { return nil }
    defer { position += width }
    return bytes.withUnsafeBytes { raw in
      Number(littleEndian: raw.loadUnaligned(fromByteOffset: position - bytes.startIndex, as: Number.self))
    }
  }

  /// The next `count` bytes, if there are as many.
  mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
    guard count >= 0, count <= remaining else { return nil }
    defer { position += count }
    return bytes[position..<position + count]
  }

  mutating func counted() -> [UInt8]? { number(UInt32.self).flatMap { take(Int($0)) }.map(Array.init) }

  mutating func text() -> String? { counted().map { String(decoding: $0, as: UTF8.self) } }
}
