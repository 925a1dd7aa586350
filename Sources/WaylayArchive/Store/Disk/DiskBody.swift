import Foundation

/// A body in a file.
struct DiskBody: StoredBody {
  /// What is the same for all bodies of a store.
  struct Context: Sendable {
    let directory: ArchiveDirectory
    var sealing: Sealing
    var pool: IOPool

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
    var end: (plain: Int64, stored: Int64) = (0, offset)
    starts = chunks.map { chunk in
      defer { end = (end.plain + Int64(chunk.plain), end.stored + Int64(chunk.stored)) }
      return end
    }
    isPlain = !context.sealing.isEncrypting && !chunks.contains(where: \.isCompressed)
  }

  private let storedLength: Int64
  /// Where each chunk begins, in the body and in the file: of a large body, one is found without a look at all before.
  private let starts: [(plain: Int64, stored: Int64)]
  /// Whether the file has the bytes as they were given.
  private let isPlain: Bool

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

  /// The first chunk that begins at an offset or behind it.
  private func first(from offset: Int64) -> Int {
    var (low, high) = (0, starts.count)
    while low < high {
      let middle = (low + high) / 2
      if starts[middle].plain < offset { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The chunks that a range touches; one of no bytes touches none.
  private func pieces(_ range: Range<Int64>) -> [Piece] {
    var pieces: [Piece] = []
    for index in first(from: range.lowerBound + 1) - 1..<first(from: range.upperBound) {
      let (start, chunk) = (starts[index].plain, chunks[index])
      let end = start + Int64(chunk.plain)
      let part = Int(max(range.lowerBound - start, 0))..<Int(min(range.upperBound, end) - start)
      pieces.append(
        Piece(
          chunk: chunk, place: Sealing.Context(file: file.number, index: UInt64(index)),
          fileOffset: starts[index].stored, part: part))
    }
    return pieces
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
