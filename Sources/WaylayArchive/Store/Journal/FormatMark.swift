/// The beginning of a file of ours: what it is, in which version, and a few bytes of its own. Written twice, so that
/// one damaged byte does not turn an archive into a foreign thing.
struct FormatMark: Equatable, Sendable {
  /// What the file is: eight bytes.
  var magic: [UInt8]
  var version: UInt32
  var payload: [UInt8]

  enum Failure: Error, Equatable {
    case foreign
    case version(UInt32)
  }

  /// Both copies: as long as twice ``copySize(payload:)``.
  var encoded: [UInt8] { copy(0) + copy(1) }

  static func copySize(payload: Int) -> Int { 8 + 4 + 4 + payload + 8 }

  private func copy(_ index: UInt64) -> [UInt8] {
    var sink = ByteSink()
    sink.bytes = magic
    sink.put(version)
    sink.put(UInt32(truncatingIfNeeded: payload.count))
    sink.bytes += payload
    sink.put(Checksum.of(sink.bytes, seed: index))
    return sink.bytes
  }

  init(magic: String, version: UInt32, payload: [UInt8]) {
    self.magic = Array(magic.utf8)
    self.version = version
    self.payload = payload
  }

  /// Reads the mark of a file, where it is ours and of our version.
  init(decoding bytes: ArraySlice<UInt8>, magic: String, version: UInt32, payload: Int) throws(Failure) {
    let magic = Array(magic.utf8)
    let size = Self.copySize(payload: payload)
    var other: UInt32?
    for index in 0..<2 {
      let start = bytes.startIndex + index * size
      guard start <= bytes.endIndex else { break }
      let copy = bytes[start..<min(start + size, bytes.endIndex)]
      var source = ByteSource(copy.dropFirst(8))
      guard copy.starts(with: magic), let found = source.number(UInt32.self), let count = source.number(UInt32.self)
      else { continue }
      if found == version, Int(count) == payload, copy.count == size {
        var end = ByteSource(copy.suffix(8))
        guard end.number(UInt64.self) == Checksum.of(Array(copy.dropLast(8)), seed: UInt64(index)) else { continue }
        self.magic = magic
        self.version = version
        self.payload = Array(copy.dropFirst(16).dropLast(8))
        return
      }
      // Another version may have another layout: its checksum cannot be asked.
      if found != version { other = other ?? found }
    }
    if let other { throw .version(other) }
    throw .foreign
  }
}
