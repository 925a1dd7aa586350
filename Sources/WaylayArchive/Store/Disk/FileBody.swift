import Foundation

/// A body in a file, whose chunks are verified and decrypted when they are read.
struct FileBody: StoredBody {
  /// The common part of all bodies of a store.
  struct Context: Sendable {
    let directory: StoreDirectory
    let sealing: Sealing
    let pool = IOPool()
  }

  let context: Context
  let number: UInt64
  let digest: UInt64
  let chunks: [BodyChunk]
  let length: Int64
  var inMemory: Data? { nil }
  /// An open descriptor keeps the body readable after its entry is removed.
  private var descriptor: FileDescriptor?

  init(
    _ context: Context, number: UInt64, digest: UInt64, chunks: [BodyChunk], descriptor: FileDescriptor? = nil
  ) {
    (self.context, self.number, self.digest, self.chunks) = (context, number, digest, chunks)
    self.descriptor = descriptor
    length = chunks.reduce(0) { $0 + Int64($1.plain) }
  }

  func opened() async throws -> any StoredBody {
    guard descriptor == nil else { return self }
    var copy = self
    copy.descriptor = try await context.pool.perform { try open() }
    return copy
  }

  func read(_ range: Range<Int64>) async throws -> Data {
    guard range.lowerBound >= 0, range.upperBound <= length else { throw ArchiveError.beyondTheEnd(range, length) }
    return try await context.pool.perform { try readNow(range) }
  }

  /// Reads on the caller's thread.
  func readNow(_ range: Range<Int64>) throws -> Data {
    if range.isEmpty { return Data() }
    let descriptor = try descriptor ?? open()
    // The chunks that contain the range, and their offsets in the body and in the file.
    var (first, plainStart, storedStart, stored): (Int, Int64, Int64, Int) = (0, 0, 0, 0)
    while plainStart + Int64(chunks[first].plain) <= range.lowerBound {
      (plainStart, storedStart) = (plainStart + Int64(chunks[first].plain), storedStart + Int64(chunks[first].stored))
      first += 1
    }
    var (last, end) = (first, plainStart)
    while end < range.upperBound {
      (end, stored) = (end + Int64(chunks[last].plain), stored + Int(chunks[last].stored))
      last += 1
    }
    var bytes = try bytes(stored, from: descriptor, at: storedStart)
    var plain = Data()
    for index in first..<last {
      let piece = bytes.prefix(Int(chunks[index].stored))
      bytes = bytes.dropFirst(piece.count)
      let place = Sealing.Context(file: number, index: UInt64(index))
      guard let opened = context.sealing.opened(chunk: piece, chunks[index], place, digest: digest.bytes) else {
        throw unreadable("its bytes differ from those that were stored")
      }
      if last == first + 1 { plain = opened } else { plain.append(opened) }
    }
    let start = plain.startIndex + Int(range.lowerBound - plainStart)
    return plain[start..<start + range.count]
  }

  private func bytes(_ count: Int, from descriptor: FileDescriptor, at offset: Int64) throws -> Data {
    var bytes = Data(count: count)
    do {
      let read = try bytes.withUnsafeMutableBytes { try context.directory.files.read($0, from: descriptor, at: offset) }
      guard read == count else { throw unreadable("its file is too short") }
    } catch let error as SystemError { throw ArchiveError.readFailed("a stored body", error) }
    return bytes
  }

  private func open() throws(ArchiveError) -> FileDescriptor {
    do { return try context.directory.openBody(number) } catch {
      throw error.code == ENOENT ? unreadable("its file is gone") : .readFailed("a stored body", error)
    }
  }

  private func unreadable(_ reason: String) -> ArchiveError {
    ArchiveError(.unreadable, "a stored body cannot be read: \(reason). Load it again.")
  }
}
