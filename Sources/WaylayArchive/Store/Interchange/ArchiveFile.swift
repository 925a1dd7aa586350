import Foundation

/// An archive in one file: a mark, then frames, each with its length, its kind and its checksum.
enum ArchiveFile {
  static let magic = "WAYLAYX\n"
  static let version: UInt32 = 1
  /// The longest frame: a head and what is listed, or a piece of a body.
  static let longestFrame = 4 << 20
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

  static func mark(_ identity: Identity) -> [UInt8] {
    FormatMark(magic: magic, version: version, payload: identity.payload).encoded
  }

  static let markSize = 2 * FormatMark.copySize(payload: Identity.payloadSize)

  /// Reads the mark: the secret of the archive, and the sealing under a key.
  static func parse(_ bytes: [UInt8], key: EncryptionKey?, file: String) throws -> (secret: [UInt8], sealing: Sealing) {
    let mark: FormatMark
    do {
      mark = try FormatMark(decoding: bytes[...], magic: magic, version: version, payload: Identity.payloadSize)
    } catch .version(let version) {
      throw ArchiveError(
        .foreignFormat,
        "\(file) is an exported archive of format \(version), and this version of Waylay reads format \(self.version): "
          + "update Waylay.")
    } catch .foreign {
      throw ArchiveError(
        .foreignFormat, "\(file) is not an exported archive: give a file that export(_:to:encryptionKey:) wrote.")
    }
    let identity = Identity(mark.payload)
    guard let sealing = identity.sealing(key) else {
      throw ArchiveError(
        .wrongKey, "\(file) was exported with another encryption key, or with none: give the same key.")
    }
    return (identity.secret(sealing), sealing)
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
  /// What it is called until it is whole: a name that nobody else has.
  private let draft: String
  private let file: FileDescriptor
  private let sealing: Sealing
  private let state: Locked<State>

  init(_ path: String, secret: [UInt8], key: EncryptionKey?, _ files: FileSystem) throws {
    self.path = path
    draft = path + ".\(UUID().uuidString).new"
    self.files = files
    let identity = Identity(secret: secret, key: key)
    sealing = try identity.sealing(key, directory: path)
    guard try files.status(of: path, in: nil) == nil else { throw SystemError("create", code: EEXIST) }
    file = try files.create(draft, in: nil)
    let mark = ArchiveFile.mark(identity)
    try files.write(mark, to: file, at: 0)
    state = Locked(State(offset: Int64(mark.count)))
  }

  deinit { try? files.remove(draft, in: nil) }

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
      try files.rename(draft, to: path, in: nil)
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

  /// The same with an error that says what to do.
  init(exported file: URL, key: EncryptionKey?, _ files: FileSystem) throws {
    guard file.isFileURL else { throw ArchiveError.notAFile(file, "an exported file") }
    do {
      try self.init(file.path, key: key, files)
    } catch let error as SystemError {
      throw ArchiveError(.unreadable, "\(file.path) cannot be read (\(error)): check the path.", underlying: error)
    }
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

/// A store whose digests are made under a secret that can go with its entries.
protocol SecretBearing {
  var secretBytes: [UInt8] { get }
  /// What it reads and writes files by.
  var files: FileSystem { get }
}

extension ArchiveStore {
  /// Writes entries to one file, body by body, with checksums throughout; see
  /// ``ArchiveCache/export(_:to:encryptionKey:)``.
  @discardableResult
  package func export(
    _ filter: EntryFilter = .all, to file: URL, encryptionKey key: EncryptionKey? = nil
  ) async throws -> Int {
    guard file.isFileURL else { throw ArchiveError.notAFile(file, "the file of an export") }
    let key: EncryptionKey? = try key?.longEnough()
    let bearer = self as? any SecretBearing
    let secret = bearer?.secretBytes ?? [UInt8](repeating: 0, count: 32)
    // Heads stay where they are until it is their turn: an archive may have more of them than there is memory.
    let wanted = Locked<[(id: EntryID, key: ArchiveKey)]>([])
    try await visit(filter) { entry in
      wanted.withLock { $0.append((entry.id, entry.key)) }
      return true
    }
    do {
      let writer = try ArchiveFileWriter(
        file.path, secret: secret, key: key, bearer?.files ?? FileSystem())
      var count: UInt64 = 0
      for (id, key) in wanted.withLock({ $0 }) {
        guard let entry = try await entries(for: key).first(where: { $0.id == id }),
          let body = try? await entry.contents.opened()
        else {
          continue
        }
        let block = HeadBlock(key: key, details: entry.details, head: entry.head, chunks: [])
        try await writer.write(.entry, block.encoded())
        var written: Int64 = 0
        while written < body.length {
          let end = min(written + Int64(StoredChunks.size), body.length)
          // Bytes that cannot be read end the entry early, which makes it none.
          guard let piece = try? await body.read(written..<end) else { break }
          try await writer.write(.body, Array(piece))
          written = end
        }
        var sink = ByteSink()
        sink.put(body.length)
        try await writer.write(.end, sink.bytes)
        if written == body.length { count += 1 }
      }
      var sink = ByteSink()
      sink.put(count)
      try await writer.write(.last, sink.bytes)
      try await writer.finish()
      return Int(count)
    } catch let error as SystemError {
      throw ArchiveError(
        .notWritten,
        "the archive could not be exported to \(file.path) (\(error)): give a file that does not exist yet, on a "
          + "volume with room for it.", underlying: error)
    }
  }

  /// Adds the entries of an exported file; see ``ArchiveCache/import(from:encryptionKey:)``.
  @discardableResult
  package func importEntries(from file: URL, encryptionKey key: EncryptionKey? = nil) async throws -> Int {
    let files = (self as? any SecretBearing)?.files ?? FileSystem()
    var reader = try ArchiveFileReader(exported: file, key: key, files)
    return try await add(&reader, file.path)
  }

  func add(_ reader: inout ArchiveFileReader, _ file: String) async throws -> Int {
    var count = 0
    var keys: Set<ArchiveKey> = []
    var current: (draft: EntryDraft, writer: (any EntryWriter)?, length: Int64)?
    while true {
      let (kind, payload) = try await reader.next()
      switch kind {
      case .entry:
        guard current == nil, let block = HeadBlock(decoding: payload) else {
          throw ArchiveFile.damaged(file, "an entry is out of place")
        }
        var draft = EntryDraft(key: block.key, head: block.head, details: block.details)
        if keys.insert(block.key).inserted { draft.replacing = try await entries(for: block.key).map(\.id) }
        current = (draft, try makeWriter(for: block.key), 0)
      case .body:
        guard let entry = current else { throw ArchiveFile.damaged(file, "a body is out of place") }
        current?.length += Int64(payload.count)
        do {
          try await entry.writer?.append(Data(payload))
        } catch let error as ArchiveError where error.code == .entryTooLarge || error.code == .storeFull {
          current?.writer = nil
        }
      case .end:
        var source = ByteSource(payload)
        guard let entry = current, let length = source.number(Int64.self) else {
          throw ArchiveFile.damaged(file, "an end is out of place")
        }
        current = nil
        // Shorter: it could not be read when it was exported.
        guard length == entry.length, let writer = entry.writer else { continue }
        do {
          try await writer.commit(entry.draft)
          count += 1
        } catch let error as ArchiveError where error.code == .entryTooLarge || error.code == .storeFull {
          continue
        }
      case .last:
        return count
      }
    }
  }
}

extension DiskStore: SecretBearing {}

extension MemoryStore: SecretBearing {
  var files: FileSystem { FileSystem() }
}

extension ArchiveCache.Storage {
  /// Makes a new store from an exported file, including its digests; see
  /// ``ArchiveCache/restore(from:to:encryptionKey:_:)``.
  package func restored(from file: URL, encryptionKey key: EncryptionKey? = nil) async throws -> any ArchiveStore {
    var reader = try ArchiveFileReader(exported: file, key: key, files)
    // A damaged file leaves nothing behind.
    var first = reader
    while try await first.next().kind != .last {}
    let store = try open(limits, secret: reader.secret)
    // One that has entries would have some of them replaced, and nobody could tell afterwards which.
    guard (store as? any SecretBearing)?.secretBytes == reader.secret, store.usage.count == 0 else {
      await SharedStores.close(store)
      throw ArchiveError(
        .directoryUnusable,
        "\(path) already contains an archive: restore to an empty directory, or import the file there.")
    }
    do {
      _ = try await store.add(&reader, file.path)
    } catch {
      await SharedStores.close(store)
      throw error
    }
    return store
  }
}
