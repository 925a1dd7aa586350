import Foundation

/// An archive in one file: a mark, then frames, each with its length, its kind and its checksum.
enum ArchiveFile {
  static let mark = FormatMark(magic: "WAYLAYX\n", version: 1, payloadSize: Identity.payloadSize)
  /// The maximum length of a frame: a head, or a piece of a body.
  static let longestFrame = 4 << 20

  enum Frame: UInt8 {
    // The frames of an entry are its head block, the pieces of its body, and the body's length; the last frame of a
    // file has the number of entries.
    case entry = 1, body, end, last
  }
}

/// Writes frames.
struct ArchiveFileWriter: ~Copyable {
  private var output: AtomicFile.Writer
  private let sealing: Sealing
  private var index: UInt64 = 0

  init(_ path: String, secret: [UInt8], key: EncryptionKey?) throws {
    let identity = Identity(secret: secret, key: key)
    let sealing = try identity.sealing(key, directory: path)
    var output = try AtomicFile.Writer(path, replaces: false)
    try output.write(Data(ArchiveFile.mark.encoded(identity.payload)))
    self.sealing = sealing
    self.output = output
  }

  mutating func write(_ kind: ArchiveFile.Frame, _ payload: [UInt8]) throws {
    var sink = ByteSink()
    sink.put(try sealing.sealed([kind.rawValue] + payload, Sealing.Context(file: 0, index: index), digest: []))
    sink.put(Checksum.of(sink.bytes, seed: index))
    try output.write(Data(sink.bytes))
    index += 1
  }

  consuming func finish() throws { try output.commit() }
}

/// Reads frames.
struct ArchiveFileReader {
  private let files: FileSystem
  private let path: String
  private let file: FileDescriptor
  private let sealing: Sealing
  private var offset = Int64(ArchiveFile.mark.size)
  private var index: UInt64 = 0
  /// The key of the archive's digests.
  let secret: [UInt8]

  init(_ url: URL, key: EncryptionKey?, _ files: FileSystem = FileSystem()) throws {
    guard url.isFileURL else { throw ArchiveError.notAFile(url, "an exported file") }
    (path, self.files) = (url.path, files)
    let identity: Identity
    do {
      file = try files.open(path, for: .reading)
      identity = Identity(try ArchiveFile.mark.payload(of: files.read(ArchiveFile.mark.size, from: file, at: 0)))
    } catch FormatMark.Failure.version(let version) {
      throw ArchiveError(
        .foreignFormat,
        "\(path) is an exported archive of format \(version), and this version of Waylay reads format "
          + "\(ArchiveFile.mark.version): update Waylay.")
    } catch FormatMark.Failure.foreign {
      throw ArchiveError(
        .foreignFormat, "\(path) is not an exported archive: give a file that export(_:to:encryptionKey:) wrote.")
    } catch {
      throw ArchiveError(.unreadable, "\(path) cannot be read (\(error)): check the path.", underlying: error)
    }
    guard let sealing = identity.sealing(key) else {
      throw ArchiveError(
        .wrongKey, "\(path) was exported with another encryption key, or with none: give the same key.")
    }
    (self.sealing, secret) = (sealing, identity.secret(sealing))
  }

  mutating func next() throws -> (kind: ArchiveFile.Frame, payload: ArraySlice<UInt8>) {
    var start = ByteSource(try files.read(4, from: file, at: offset)[...])
    guard let length = start.number(UInt32.self), length <= UInt32(ArchiveFile.longestFrame) else {
      throw damaged("a length is wrong")
    }
    let bytes = try files.read(4 + Int(length) + 8, from: file, at: offset)
    guard bytes.count == 4 + Int(length) + 8 else { throw damaged("it ends too early") }
    var check = ByteSource(bytes.suffix(8))
    let place = Sealing.Context(file: 0, index: index)
    guard check.number(UInt64.self) == Checksum.of(Array(bytes.dropLast(8)), seed: index),
      let plain = sealing.opened(bytes.dropFirst(4).dropLast(8), place, digest: []),
      let kind = plain.first.flatMap(ArchiveFile.Frame.init)
    else { throw damaged("a checksum is wrong") }
    offset += Int64(bytes.count)
    index += 1
    return (kind, plain.dropFirst())
  }

  func damaged(_ reason: String) -> ArchiveError {
    ArchiveError(.unreadable, "\(path) is damaged (\(reason)): earlier entries were imported. Export it again.")
  }
}

extension ArchiveStore {
  /// Writes entries to one file, body by body, with checksums throughout; see
  /// ``ArchiveCache/export(_:to:encryptionKey:)``.
  @discardableResult @concurrent
  package func export(
    _ filter: EntryFilter = .all, to file: URL, encryptionKey key: EncryptionKey? = nil
  ) async throws -> Int {
    guard file.isFileURL else { throw ArchiveError.notAFile(file, "the file of an export") }
    let key: EncryptionKey? = try key?.longEnough()
    // Read the heads one by one: all together may exceed the memory.
    let wanted = Locked<[(id: EntryID, key: ArchiveKey)]>([])
    try await visit(filter) { entry in
      wanted.withLock { $0.append((entry.id, entry.key)) }
      return true
    }
    do {
      var writer = try ArchiveFileWriter(file.path, secret: secretBytes, key: key)
      var count: UInt64 = 0
      for (id, key) in wanted.withLock({ $0 }) {
        guard let entry = try await entries(for: key).first(where: { $0.id == id }),
          let body = try? await entry.contents.opened()
        else { continue }
        try writer.write(
          .entry, HeadBlock(key: key, details: entry.details, head: entry.head, chunks: []).encoded())
        var written: Int64 = 0
        for start in stride(from: 0, to: body.length, by: StoredChunks.size) {
          let end = min(start + Int64(StoredChunks.size), body.length)
          // A shorter body marks the entry as unreadable.
          guard let piece = try? await body.read(start..<end) else { break }
          try writer.write(.body, Array(piece))
          written += Int64(piece.count)
        }
        try writer.write(.end, UInt64(body.length).bytes)
        if written == body.length { count += 1 }
      }
      try writer.write(.last, count.bytes)
      try writer.finish()
      return Int(count)
    } catch let error as SystemError {
      throw ArchiveError(
        .notWritten,
        "the archive could not be exported to \(file.path) (\(error)): give a file that does not exist yet, on a "
          + "volume with room for it.", underlying: error)
    }
  }

  /// Adds the entries of an exported file; see ``ArchiveCache/import(from:encryptionKey:)``.
  @discardableResult @concurrent
  package func importEntries(from file: URL, encryptionKey key: EncryptionKey? = nil) async throws -> Int {
    var reader = try ArchiveFileReader(file, key: key)
    return try await add(&reader)
  }

  fileprivate func add(_ reader: inout ArchiveFileReader) async throws -> Int {
    let decided = moment
    var count = 0
    var keys: Set<ArchiveKey> = []
    while true {
      var frame = try reader.next()
      if frame.kind == .last { return count }
      guard frame.kind == .entry, let block = HeadBlock(decoding: frame.payload) else {
        throw reader.damaged("an entry is out of place")
      }
      var draft = EntryDraft(key: block.key, head: block.head, details: block.details)
      if keys.insert(block.key).inserted { draft.replacing = try await entries(for: block.key).map(\.id) }
      let writer = try makeWriter(for: block.key, length: nil, since: decided)
      var (length, isRefused): (Int64, Bool) = (0, false)
      frame = try reader.next()
      while frame.kind == .body {
        let chunk = Data(frame.payload)
        length += Int64(chunk.count)
        if !isRefused { isRefused = try await self.isRefused { try await writer.append(chunk) } }
        frame = try reader.next()
      }
      var source = ByteSource(frame.payload)
      guard frame.kind == .end, let whole = source.number(Int64.self) else {
        throw reader.damaged("an end is out of place")
      }
      // An entry with a shorter body was unreadable when it was exported.
      guard length == whole, !isRefused else { continue }
      if try await !self.isRefused({ [draft] in try await writer.commit(draft) }) { count += 1 }
    }
  }

  /// Runs a closure that stores something; returns whether the limits leave no room for it.
  private func isRefused(_ store: () async throws -> Void) async throws -> Bool {
    do { try await store() } catch let error as ArchiveError
      where error.code == .entryTooLarge || error.code == .storeFull
    { return true }
    return false
  }
}

extension ArchiveCache.Storage {
  /// Makes a new store from an exported file, including its digests; see
  /// ``ArchiveCache/restore(from:to:encryptionKey:_:)``.
  @concurrent
  package func restored(from file: URL, encryptionKey key: EncryptionKey? = nil) async throws -> any ArchiveStore {
    var reader = try ArchiveFileReader(file, key: key)
    // Read to the end first, so that a damaged file creates no archive.
    var first = reader
    while try first.next().kind != .last {}
    let store = try open(limits, secret: reader.secret)
    do {
      // An import into an archive with entries would replace some of them.
      guard store.secretBytes == reader.secret, store.usage.count == 0 else {
        throw ArchiveError(
          .directoryUnusable,
          "\(path) already contains an archive: restore to an empty directory, or import the file there.")
      }
      _ = try await store.add(&reader)
      return store
    } catch {
      await SharedStores.close(store)
      throw error
    }
  }
}
