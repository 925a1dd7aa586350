import Foundation

/// An archive in one file: a mark, then frames, each with its length, its kind and its checksum.
enum ArchiveFile {
  static let magic = "WAYLAYX\n"
  static let version: UInt32 = 1
  /// The longest frame: a head and what is listed, or a piece of a body.
  static let longestFrame = 4 << 20
  private static let payload = 32 + 1 + 16

  enum Frame: UInt8 {
    /// An entry begins: its head block.
    case entry = 1
    /// Bytes of its body.
    case body = 2
    /// It has ended: the length of its body.
    case end = 3
    /// The file has ended: how many entries it has.
    case last = 4
  }

  static func mark(secret: [UInt8], _ sealing: Sealing) -> [UInt8] {
    FormatMark(magic: magic, version: version, payload: secret + [sealing.isEncrypting ? 1 : 0] + sealing.fingerprint)
      .encoded
  }

  static let markSize = 2 * FormatMark.copySize(payload: payload)

  /// Reads the mark: the secret of the archive, and the sealing under a key.
  static func parse(_ bytes: [UInt8], key: EncryptionKey?, file: String) throws -> (secret: [UInt8], sealing: Sealing) {
    let mark: FormatMark
    do {
      mark = try FormatMark(decoding: bytes[...], magic: magic, version: version, payload: payload)
    } catch .version(let version) {
      throw ArchiveError(
        .foreignFormat,
        "\(file) is an exported archive of format \(version), and this version of Waylay reads format \(self.version): "
          + "update Waylay."
      )
    } catch .foreign {
      throw ArchiveError(
        .foreignFormat, "\(file) is not an exported archive: give a file that export(_:to:encryptionKey:) wrote.")
    }
    let secret = Array(mark.payload.prefix(32))
    let sealing = Sealing(key: key, archive: secret)
    guard (mark.payload[32] != 0) == (key != nil), sealing.fingerprint == Array(mark.payload.suffix(16)) else {
      throw ArchiveError(
        .wrongKey, "\(file) was exported with another encryption key, or with none: give the same key.")
    }
    return (secret, sealing)
  }

  static func damaged(_ file: String, _ reason: String) -> ArchiveError {
    ArchiveError(.unreadable, "\(file) is damaged (\(reason)): earlier entries were imported. Export it again.")
  }
}

/// Writes frames.
final class ArchiveFileWriter: Sendable {
  private struct State {
    var offset: Int64
    var index: UInt64 = 0
  }

  private let files: FileSystem
  private let pool = IOPool(lanes: 1)
  private let path: String
  private let file: FileDescriptor
  private let sealing: Sealing
  private let state: Locked<State>

  init(_ path: String, secret: [UInt8], _ sealing: Sealing, _ files: FileSystem) throws {
    self.path = path
    self.sealing = sealing
    self.files = files
    guard try files.status(of: path, in: nil) == nil else { throw SystemError("create", code: EEXIST) }
    try files.remove(path + ".new", in: nil)
    file = try files.create(path + ".new", in: nil)
    let mark = ArchiveFile.mark(secret: secret, sealing)
    try files.write(mark, to: file, at: 0)
    state = Locked(State(offset: Int64(mark.count)))
  }

  deinit {
    try? files.remove(path + ".new", in: nil)
  }

  func write(_ kind: ArchiveFile.Frame, _ payload: [UInt8]) async throws {
    let index = state.withLock { $0.index }
    try await pool.perform { [self] in
      let sealed = try sealing.sealed([kind.rawValue] + payload, Sealing.Context(file: 0, index: index), digest: [])
      var sink = ByteSink()
      sink.put(sealed)
      sink.put(Checksum.of(sink.bytes, seed: index))
      let offset = state.withLock { $0.offset }
      try files.write(sink.bytes, to: file, at: offset)
      state.withLock { state in
        state.offset += Int64(sink.bytes.count)
        state.index += 1
      }
    }
  }

  func finish() async throws {
    try await pool.perform { [self] in
      try files.synchronize(file)
      try files.rename(path + ".new", to: path, in: nil)
    }
  }
}

/// Reads frames.
struct ArchiveFileReader {
  private let files: FileSystem
  private let pool = IOPool(lanes: 1)
  private let path: String
  private let file: FileDescriptor
  private let sealing: Sealing
  private var offset: Int64
  private var index: UInt64 = 0
  let secret: [UInt8]

  init(_ path: String, key: EncryptionKey?, _ files: FileSystem) throws {
    self.path = path
    self.files = files
    file = try files.openForReading(path, in: nil)
    (secret, sealing) = try ArchiveFile.parse(files.read(ArchiveFile.markSize, from: file, at: 0), key: key, file: path)
    offset = Int64(ArchiveFile.markSize)
  }

  mutating func next() async throws -> (kind: ArchiveFile.Frame, payload: ArraySlice<UInt8>) {
    let (files, file, offset, path) = (files, file, offset, path)
    let bytes = try await pool.perform { () -> [UInt8] in
      var source = ByteSource(try files.read(4, from: file, at: offset)[...])
      guard let length = source.number(UInt32.self), length <= UInt32(ArchiveFile.longestFrame) else {
        throw ArchiveFile.damaged(path, "a length is wrong")
      }
      let bytes = try files.read(4 + Int(length) + 8, from: file, at: offset)
      guard bytes.count == 4 + Int(length) + 8 else { throw ArchiveFile.damaged(path, "it ends too early") }
      return bytes
    }
    var check = ByteSource(bytes.suffix(8))
    let place = Sealing.Context(file: 0, index: index)
    guard check.number(UInt64.self) == Checksum.of(Array(bytes.dropLast(8)), seed: index),
      let plain = sealing.opened(bytes.dropFirst(4).dropLast(8), place, digest: []),
      let kind = plain.first.flatMap(ArchiveFile.Frame.init)
    else { throw ArchiveFile.damaged(path, "a checksum is wrong") }
    self.offset += Int64(bytes.count)
    index += 1
    return (kind, plain.dropFirst())
  }
}
