#if CORELIBS_FOUNDATION
  import Foundation

  /// The body of a request. libcurl asks for the next bytes when it has room.
  ///
  /// Unchecked: `position` is used on the loop's thread only; the bytes of a stream are in `stream`, behind its lock.
  final class CurlUpload: @unchecked Sendable {
    private enum Form {
      case none
      case data(Data)
      case file(FileHandle)
      case stream(MessageBody)
    }

    fileprivate struct Stream {
      var chunks: [Data] = []
      /// The number of sent bytes of the first chunk.
      var offset = 0
      /// The number of buffered bytes.
      var count = 0
      var hasEnded = false
      var failure: (any Error)?
      /// Whether libcurl waits for bytes.
      var isWaiting = false
      var pump: Task<Void, Never>?
      /// Starts the pump when libcurl first asks for bytes: a body that is not sent is not read.
      var launch: (@Sendable () -> Void)?
      /// The pump, waiting for room. Cancelling it ends the wait, and then the body.
      var room = Waiters()
    }

    /// The number of bytes of a stream to read ahead.
    private static let readAhead = 128 * 1024

    private let form: Form
    /// The length of the body, if known.
    let length: Int64?
    /// The number of bytes that have not been sent.
    private var remaining: Int64
    /// The number of sent bytes of data in memory; a file has its own offset.
    private var position: Int64 = 0
    private let stream = Locked(Stream())

    /// - Parameter declared: The length that the app has declared for a body of unknown length.
    init(_ body: MessageBody, declared: Int64? = nil) throws {
      length = body.length ?? declared
      remaining = length ?? .max
      if let data = body.inMemory {
        form = data.isEmpty ? .none : .data(data)
      } else if let url = body.fileURL {
        form = .file(try MessageBody.open(url))
      } else {
        form = .stream(body)
      }
    }

    var isEmpty: Bool { if case .none = form { true } else { false } }

    var isStream: Bool { if case .stream = form { true } else { false } }

    /// The error of reading the body.
    var failure: (any Error)? { stream.withLock { $0.failure } }

    /// Whether libcurl waits for more bytes than there are.
    var isWaiting: Bool { stream.withLock { $0.isWaiting } }

    /// Prepares reading a stream; `onProgress` is called when libcurl has waited and can continue.
    func prepare(_ onProgress: @escaping @Sendable () -> Void) {
      guard case .stream(let body) = form else { return }
      // The body is read in the lineage of its request.
      let lineage = Lineage.current
      stream.withLock { stream in
        stream.launch = { [weak self] in
          Lineage.$current.withValue(lineage) { self?.launch(body, onProgress) }
        }
      }
    }

    private func launch(_ body: MessageBody, _ onProgress: @escaping @Sendable () -> Void) {
      let pump = Task { await self.pump(body, onProgress) }
      let isOver = stream.withLock { stream in
        stream.pump = stream.hasEnded ? nil : pump
        return stream.hasEnded
      }
      if isOver { pump.cancel() }
    }

    private func pump(_ body: MessageBody, _ onProgress: @Sendable () -> Void) async {
      var failure: (any Error)?
      do {
        for try await chunk in body {
          let (isOver, wasWaiting) = stream.withLock { stream in
            stream.chunks.append(chunk)
            stream.count += chunk.count
            return (stream.hasEnded, exchange(&stream.isWaiting, with: false))
          }
          if wasWaiting { onProgress() }
          if isOver { return }
          await stream.wait(at: \.room) { $0.count < Self.readAhead || $0.hasEnded }
        }
      } catch {
        failure = error
      }
      stream.withLock { stream in
        stream.hasEnded = true
        stream.failure = stream.failure ?? failure
        stream.isWaiting = false
      }
      onProgress()
    }

    // MARK: On the loop's thread

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
      switch form {
      case .none: return 0
      case .data(let data):
        let count = min(buffer.count, data.count - Int(position))
        let start = data.startIndex + Int(position)
        data.copyBytes(to: buffer, from: start..<start + count)
        position += Int64(count)
        return count
      case .file(let file):
        return readFile(file, into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(clamping: remaining))))
      case .stream:
        return readStream(into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(clamping: remaining))))
      }
    }

    private func readFile(_ file: FileHandle, into buffer: UnsafeMutableRawBufferPointer) -> Int {
      guard !buffer.isEmpty else { return 0 }
      var count: Int
      repeat {
        count = WaylayCore.read(file.fileDescriptor, buffer.baseAddress, buffer.count)
      } while count < 0 && errno == EINTR
      guard count >= 0 else {
        let error = SystemError("read").posixError
        stream.withLock {
          $0.failure = WaylayError(.bodyUnreadable, "the body's file cannot be read to its end.", underlying: error)
        }
        return CurlReturn.abort
      }
      if count == 0, length != nil { return fail("shrank after its length was read") }
      remaining -= Int64(count)
      return count
    }

    /// Fails a body whose length differs from the declared one: the server would take missing bytes from the next
    /// request on the connection, and excess bytes for another request (RFC 9112, section 6.3).
    private func fail(_ what: String) -> Int {
      stream.withLock { stream in
        stream.failure =
          stream.failure
          ?? WaylayError(
            .bodyUnreadable,
            "the request's body \(what): \(length ?? 0) bytes were declared. Declare the actual length, or none.")
      }
      return CurlReturn.abort
    }

    private func readStream(into buffer: UnsafeMutableRawBufferPointer) -> Int {
      guard remaining > 0 else { return 0 }
      let result = readChunks(into: buffer)
      guard length != nil, result <= buffer.count else { return result }
      if result == 0, remaining > 0 { return fail("is shorter than declared") }
      remaining -= Int64(result)
      if remaining == 0, stream.withLock({ $0.count > 0 }) { return fail("is longer than declared") }
      return result
    }

    private func readChunks(into buffer: UnsafeMutableRawBufferPointer) -> Int {
      let (result, room, launch) = stream.withLock {
        stream -> (Int, [CheckedContinuation<Void, Never>], (@Sendable () -> Void)?) in
        if stream.failure != nil { return (CurlReturn.abort, [], nil) }
        guard stream.count > 0 else {
          stream.isWaiting = !stream.hasEnded
          return (stream.hasEnded ? 0 : CurlReturn.pause, [], stream.launch.take())
        }
        let count = stream.take(into: buffer)
        return (count, stream.count < Self.readAhead ? stream.room.takeAll() : [], nil)
      }
      room.wake()
      launch?()
      return result
    }

    /// Whether the body can be sent again.
    var canSeek: Bool { if case .stream = form { false } else { true } }

    /// Returns to an offset, when libcurl sends the body again on another connection.
    func seek(to offset: Int64, origin: Int32) -> Bool {
      guard origin == SEEK_SET else { return false }
      switch form {
      case .none: break
      case .data(let data): guard (0...Int64(data.count)).contains(offset) else { return false }
      case .file(let file): guard lseek(file.fileDescriptor, off_t(offset), SEEK_SET) >= 0 else { return false }
      case .stream: return false
      }
      position = offset
      if let length { remaining = max(0, length - offset) }
      return true
    }

    /// Stops the upload when the exchange ends.
    func end() {
      if case .file(let file) = form { try? file.close() }
      let pump = stream.withLock { stream in
        stream.hasEnded = true
        stream.chunks = []
        stream.count = 0
        stream.launch = nil
        return stream.pump.take()
      }
      pump?.cancel()
    }
  }

  extension CurlUpload.Stream {
    /// Moves buffered bytes into a buffer, as many as fit.
    fileprivate mutating func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
      var taken = 0
      while let first = chunks.first, taken < buffer.count {
        let part = min(first.count - offset, buffer.count - taken)
        let start = first.startIndex + offset
        first.copyBytes(to: UnsafeMutableRawBufferPointer(rebasing: buffer[taken...]), from: start..<start + part)
        taken += part
        offset += part
        if offset == first.count {
          chunks.removeFirst()
          offset = 0
        }
      }
      count -= taken
      return taken
    }
  }
#endif
