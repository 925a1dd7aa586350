import Foundation

/// A body in a file.
struct DiskBody: StoredBody {
  /// What is the same for all bodies of a store.
  struct Context: Sendable {
    let directory: ArchiveDirectory
    var sealing: Sealing
    var pool: IOPool
    /// The files whose whole contents have been checked, and how they were then.
    let verified = Locked<[EntryFile: FileStatus]>([:])

    var files: FileSystem { directory.files }

    init(directory: ArchiveDirectory, sealing: Sealing, pool: IOPool) {
      self.directory = directory
      self.sealing = sealing
      self.pool = pool
    }
  }

  let context: Context
  /// The folder of the file.
  let folder: String
  let file: EntryFile
  let digest: [UInt8]
  let offset: Int64
  let chunks: [BodyChunk]
  let length: Int64
  var inMemory: Data?
  /// Held open, the body stays readable when its entry goes.
  private var descriptor: FileDescriptor?

  init(
    context: Context, folder: String, file: EntryFile, digest: [UInt8], offset: Int64, chunks: [BodyChunk],
    inMemory: Data?, descriptor: FileDescriptor? = nil
  ) {
    self.context = context
    self.folder = folder
    self.file = file
    self.digest = digest
    self.offset = offset
    self.chunks = chunks
    self.inMemory = inMemory
    self.descriptor = descriptor
    length = chunks.reduce(0) { $0 + Int64($1.plain) }
    storedLength = chunks.reduce(0) { $0 + Int64($1.stored) }
    isPlain = !context.sealing.isEncrypting && !chunks.contains(where: \.isCompressed)
  }

  private let storedLength: Int64
  /// Whether the file has the bytes as they were given.
  private let isPlain: Bool

  var isMapped: Bool { inMemory == nil && isPlain }

  func opened() async throws -> any StoredBody {
    guard inMemory == nil, descriptor == nil else { return self }
    var copy = self
    copy.descriptor = try await context.pool.perform { try open() }
    return copy
  }

  func read(_ range: Range<Int64>) async throws -> Data {
    guard range.lowerBound >= 0, range.upperBound <= length else { throw ArchiveError.beyondTheEnd(range, length) }
    if range.isEmpty { return Data() }
    if let inMemory { return try await MemoryBody(data: inMemory).read(range) }
    return try await context.pool.perform { try readNow(range) }
  }

  /// Reads on the caller's thread.
  func readNow(_ range: Range<Int64>) throws -> Data {
    let descriptor = try descriptor ?? open()
    if isMapped, range.count > StoredChunks.size { return try map(range, descriptor) }
    if isPlain { return try readPlain(range, descriptor) }
    var result = Data()
    result.reserveCapacity(range.count)
    for piece in pieces(range) {
      let bytes: [UInt8]
      do {
        bytes = try context.files.read(Int(piece.chunk.stored), from: descriptor, at: piece.fileOffset)
      } catch {
        throw failed(error)
      }
      guard bytes.count == Int(piece.chunk.stored) else { throw tooShort(descriptor) }
      guard let plain = context.sealing.opened(chunk: Data(bytes), piece.chunk, piece.place, digest: digest) else {
        throw unreadable("its bytes differ from those that were stored")
      }
      result.append(piece.part.count == plain.count ? plain : plain.subdata(in: piece.part))
    }
    return result
  }

  /// Whole chunks in one call, checked where they are.
  private func readPlain(_ range: Range<Int64>, _ descriptor: FileDescriptor) throws -> Data {
    let pieces = pieces(range)
    guard let first = pieces.first, let last = pieces.last else { return Data() }
    let count = Int(last.fileOffset + Int64(last.chunk.stored) - first.fileOffset)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
    do {
      try fill(buffer, with: pieces, from: descriptor, at: first.fileOffset)
    } catch {
      buffer.deallocate()
      throw error
    }
    // Not before everything is in it and checked: of a few bytes, this makes a copy at once and gives the memory back.
    let bytes = Data(
      bytesNoCopy: buffer.baseAddress!, count: count, deallocator: .custom { start, _ in start.deallocate() })
    let skipped = first.part.lowerBound
    return skipped == 0 && range.count == count ? bytes : bytes[skipped..<skipped + range.count]
  }

  private func fill(
    _ buffer: UnsafeMutableRawBufferPointer, with pieces: [Piece], from descriptor: FileDescriptor, at offset: Int64
  ) throws(ArchiveError) {
    let found: Int
    do {
      found = try context.files.read(buffer, from: descriptor, at: offset)
    } catch {
      throw failed(error)
    }
    guard found == buffer.count else { throw tooShort(descriptor) }
    for piece in pieces {
      let start = Int(piece.fileOffset - offset)
      let chunk = UnsafeRawBufferPointer(rebasing: buffer[start..<start + Int(piece.chunk.stored)])
      guard Sealing.isIntact(chunk, piece.chunk, piece.place) else {
        throw unreadable("its bytes differ from those that were stored")
      }
    }
  }

  private func open() throws(ArchiveError) -> FileDescriptor {
    do {
      return try context.directory.openForReading(file, folder)
    } catch {
      // What has gone has gone, if that is so; everything else says nothing of the body.
      guard error.isMissing, (try? context.directory.isMissing(file, folder)) == true else { throw failed(error) }
      throw unreadable("\(error)", error)
    }
  }

  private func unreadable(_ reason: String, _ error: (any Error)? = nil) -> ArchiveError {
    ArchiveError(.unreadable, "a stored body cannot be read: \(reason). Load it again.", underlying: error)
  }

  private func failed(_ error: any Error) -> ArchiveError { .readFailed("a stored body", error) }

  /// Less was read than there should be: whether there is less, or the system did not give it.
  private func tooShort(_ descriptor: FileDescriptor) -> ArchiveError {
    do {
      guard try context.files.status(of: descriptor).size < offset + storedLength else {
        return failed(SystemError("read", code: EIO))
      }
      return unreadable("its file is too short")
    } catch {
      return failed(error)
    }
  }

  private struct Piece {
    var chunk: BodyChunk
    var place: Sealing.Context
    var fileOffset: Int64
    /// The part of the chunk's bytes that is wanted.
    var part: Range<Int>
  }

  /// The chunks that a range touches.
  private func pieces(_ range: Range<Int64>) -> [Piece] {
    var pieces: [Piece] = []
    var start: Int64 = 0
    var fileOffset = offset
    for (index, chunk) in chunks.enumerated() {
      if start >= range.upperBound { break }
      let end = start + Int64(chunk.plain)
      if end > range.lowerBound {
        let part = Int(max(range.lowerBound - start, 0))..<Int(min(range.upperBound, end) - start)
        pieces.append(
          Piece(
            chunk: chunk, place: Sealing.Context(file: file.number, index: UInt64(index)), fileOffset: fileOffset,
            part: part))
      }
      start = end
      fileOffset += Int64(chunk.stored)
    }
    return pieces
  }

  /// The file as memory, once it has been checked; a file that has not been written to since need not be checked again.
  private func map(_ range: Range<Int64>, _ descriptor: FileDescriptor) throws -> Data {
    let length = Int(offset + storedLength)
    let status: FileStatus
    let start: UnsafeRawPointer
    do {
      status = try context.files.status(of: descriptor)
      // A mapping beyond the end of a file would be a signal, not an error.
      guard status.size >= Int64(length) else { throw unreadable("its file is too short") }
      start = try context.files.map(descriptor, length: length)
    } catch let error as SystemError {
      throw failed(error)
    }
    let mapping = Mapping(start: start, length: length, context.files)
    let isVerified = context.verified.withLock { $0[file].map { $0.hasSameContents(as: status) } ?? false }
    if !isVerified {
      for piece in pieces(range) {
        let bytes = UnsafeRawBufferPointer(start: start + Int(piece.fileOffset), count: Int(piece.chunk.stored))
        guard Sealing.isIntact(bytes, piece.chunk, piece.place) else {
          throw unreadable("its bytes differ from those that were stored")
        }
      }
      if range.count == Int(self.length) {
        context.verified.withLock { verified in
          // Enough for any working set of large bodies; a body that is checked twice is no harm.
          if verified.count >= 4096 { verified = [:] }
          verified[file] = status
        }
      }
    }
    return mapping.data(Int(offset + range.lowerBound)..<Int(offset + range.upperBound))
  }
}

/// A mapped file, given back when nobody holds its bytes any more.
private final class Mapping: @unchecked Sendable {
  // Unchecked: the bytes are only read.
  private let start: UnsafeRawPointer
  private let length: Int
  private let files: FileSystem

  init(start: UnsafeRawPointer, length: Int, _ files: FileSystem) {
    self.start = start
    self.length = length
    self.files = files
  }

  deinit { files.unmap(start, length: length) }

  func data(_ range: Range<Int>) -> Data {
    Data(
      bytesNoCopy: UnsafeMutableRawPointer(mutating: start + range.lowerBound), count: range.count,
      deallocator: .custom { _, _ in withExtendedLifetime(self) {} })
  }
}

/// A few threads for work that waits for a disk, so that callers' executors do not.
final class IOPool: Sendable {
  private let lanes: [DispatchQueue]
  private let loads: Locked<[Int]>

  init(lanes count: Int = 4) {
    lanes = (0..<count).map { DispatchQueue(label: "waylay.archive.io-\($0)") }
    loads = Locked([Int](repeating: 0, count: count))
  }

  /// Runs work on the lane that has least to do.
  func run(_ work: @escaping @Sendable () -> Void) {
    let lane = loads.withLock { loads in
      let lane = loads.indices.min { loads[$0] < loads[$1] } ?? 0
      loads[lane] += 1
      return lane
    }
    lanes[lane].async {
      work()
      self.loads.withLock { $0[lane] -= 1 }
    }
  }

  /// Waits until everything that runs by now has come to its end.
  func settle() async {
    for lane in lanes { await withCheckedContinuation { continuation in lane.async { continuation.resume() } } }
  }

  /// Runs work and waits for what it gives.
  func perform<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    let promise = Promise<Value>()
    return try await promise.value { run { promise.settle(Result { try work() }) } }
  }
}
