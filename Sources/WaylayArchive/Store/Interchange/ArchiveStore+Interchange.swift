import Foundation

/// A store whose digests are made under a secret that can go with its entries.
protocol SecretBearing {
  var secretBytes: [UInt8] { get }
  /// What it reads and writes files by.
  var files: FileSystem { get }
}

extension ArchiveStore {
  /// Writes entries to one file, body by body, with checksums throughout.
  ///
  /// ```swift
  /// try await store.export(.host("example.com"), to: URL(fileURLWithPath: "fixtures.waylay"))
  /// ```
  ///
  /// The file also contains the key for the archive's digests, because heads may contain such digests; it is as
  /// confidential as the archive. Entries that are no longer readable are skipped.
  ///
  /// - Parameters:
  ///   - filter: The entries to write.
  ///   - file: A file that does not exist yet.
  /// - Returns: The number of entries written.
  /// - Throws: ``ArchiveError/Code/notWritten`` if the file exists or cannot be written.
  @discardableResult
  public func export(_ filter: EntryFilter = .all, to file: URL) async throws -> Int {
    try await exported(filter, to: file, key: nil)
  }

  func exported(_ filter: EntryFilter, to file: URL, key: EncryptionKey?) async throws -> Int {
    guard file.isFileURL else { throw ArchiveError.notAFile(file, "the file of an export") }
    let key = try key?.longEnough()
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
        file.path, secret: secret, Sealing(key: key, archive: secret), bearer?.files ?? FileSystem())
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
          + "volume with room for it.",
        underlying: error)
    }
  }

  /// Adds the entries of an exported file. They replace existing entries under the same keys.
  ///
  /// Heads with digests of another archive (responses that vary by request fields, responses to authorized requests)
  /// are not found in this one: if that matters, restore the file to its own directory
  /// (``DiskStore/restore(from:to:options:)``).
  ///
  /// - Returns: The number of entries added; entries that exceed the limits are skipped.
  /// - Throws: ``ArchiveError/Code/foreignFormat``, ``ArchiveError/Code/wrongKey``, or ``ArchiveError/Code/unreadable``
  ///   at the first damage: everything before it has been added.
  @discardableResult
  public func importEntries(from file: URL) async throws -> Int {
    try await imported(from: file, key: nil)
  }

  func imported(from file: URL, key: EncryptionKey?) async throws -> Int {
    guard file.isFileURL else { throw ArchiveError.notAFile(file, "an exported file") }
    var reader: ArchiveFileReader
    do {
      reader = try ArchiveFileReader(file.path, key: key, (self as? any SecretBearing)?.files ?? FileSystem())
    } catch let error as SystemError {
      throw ArchiveError(.unreadable, "\(file.path) cannot be read (\(error)): check the path.", underlying: error)
    }
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

extension DiskStore: SecretBearing {
  var secretBytes: [UInt8] { identity.secret }

  /// Makes a new archive from an exported file, including its digests.
  ///
  /// - Parameters:
  ///   - file: A file written by ``ArchiveStore/export(_:to:)``.
  ///   - directory: A directory without an archive.
  ///   - options: The options of the new store.
  /// - Throws: As the store's initializer, and as ``ArchiveStore/importEntries(from:)``.
  public static func restore(from file: URL, to directory: URL, options: Options = Options()) async throws -> DiskStore
  {
    try await restored(from: file, to: directory, options, key: nil)
  }

  static func restored(
    from file: URL, to directory: URL, _ options: Options, key: EncryptionKey?
  ) async throws -> DiskStore {
    guard file.isFileURL else { throw ArchiveError.notAFile(file, "an exported file") }
    var reader: ArchiveFileReader
    do {
      reader = try ArchiveFileReader(file.path, key: key, FileSystem(options.system))
    } catch let error as SystemError {
      throw ArchiveError(.unreadable, "\(file.path) cannot be read (\(error)): check the path.", underlying: error)
    }
    let store = try DiskStore(at: directory, options: options, secret: reader.secret)
    guard store.identity.secret == reader.secret else {
      await store.close()
      throw ArchiveError(
        .directoryUnusable,
        "\(directory.path) already contains an archive: restore to an empty directory, or import the file there.")
    }
    _ = try await store.add(&reader, file.path)
    return store
  }
}

extension MemoryStore: SecretBearing {
  var files: FileSystem { FileSystem() }
}
