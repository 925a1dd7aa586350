/// The mark at the beginning of a file: its format, its version and a payload. Version 1 has the mark twice, with the
/// number of the copy in its checksum.
struct FormatMark: Sendable {
  /// The format: eight characters of ASCII.
  let magic: String
  let version: UInt32
  let payloadSize: Int

  enum Failure: Error, Equatable {
    case foreign, version(UInt32)
  }

  /// The length of both copies.
  var size: Int { 2 * (8 + 4 + 4 + payloadSize + 8) }

  func encoded(_ payload: [UInt8]) -> [UInt8] { copy(0, payload) + copy(1, payload) }

  private func copy(_ index: UInt64, _ payload: [UInt8]) -> [UInt8] {
    var sink = ByteSink()
    sink.bytes = Array(magic.utf8)
    sink.put(version)
    sink.put(payload)
    sink.put(Checksum.of(sink.bytes, seed: index))
    return sink.bytes
  }

  /// Reads the mark at the beginning of a file; one of the copies may be damaged.
  func payload(of bytes: [UInt8]) throws(Failure) -> [UInt8] {
    let copies = [bytes.prefix(size / 2), bytes.dropFirst(size / 2).prefix(size / 2)]
    for (index, found) in copies.enumerated() where found.count == size / 2 {
      let payload = Array(found.dropFirst(16).dropLast(8))
      if found.elementsEqual(copy(UInt64(index), payload)) { return payload }
    }
    // Another version may have another layout, so the version is read without its checksum.
    var source = ByteSource(bytes.dropFirst(8))
    guard bytes.starts(with: magic.utf8), let other = source.number(UInt32.self), other != version else {
      throw .foreign
    }
    throw .version(other)
  }
}
