import Foundation

extension MessageBody {
  /// Bytes that are read from a file or a stream at once.
  static let chunkSize = 64 * 1024

  /// The bytes of an `InputStream`, as a body that can be read once.
  ///
  /// A separate queue reads the stream, because a stream may block. Do not use the stream elsewhere after this call.
  public static func stream(reading stream: InputStream, length: Int64? = nil) -> MessageBody {
    let reader = InputStreamReader(stream)
    return MessageBody(storage: .source(Source(oneShot: length) { Chunks { try await reader.next() } }))
  }

  /// The bytes of `original` as its reader passes them on, with its trailers and metrics. The body can be read once.
  ///
  /// - Parameters:
  ///   - original: The body to read.
  ///   - length: The number of bytes, if known.
  ///   - next: Returns the next bytes; `nil` at the end. One reader at a time calls it.
  public static func relaying(
    _ original: MessageBody, length: Int64?, _ next: @escaping @Sendable () async throws -> Data?
  ) -> MessageBody {
    MessageBody(
      storage: .source(
        Source(oneShot: length, trailers: { original.trailers }, metrics: { original.metrics }) { Chunks(pull: next) }))
  }

  /// A body that somebody pushes into a pipe.
  package static func pipe(_ reader: BodyPipe.Reader, length: Int64? = nil) -> MessageBody {
    MessageBody(
      storage: .source(
        Source(oneShot: length, trailers: { reader.trailers }, metrics: { reader.metrics }) {
          Chunks { try await reader.next() }
        }))
  }
}

extension MessageBody.Chunks {
  /// Reads a file. Opening fails at once, so that the error names the file rather than the wire.
  convenience init(reading url: URL) throws {
    let file: FileReader
    do {
      file = try FileReader(url)
    } catch {
      throw WaylayError(
        .bodyUnreadable, "the body's file \(url.path) cannot be opened: check the path and its permissions.",
        interceptor: Lineage.currentReader, underlying: error)
    }
    self.init {
      // An ordinary file answers at once; no hop is worth its price here.
      let chunk = try file.handle.read(upToCount: MessageBody.chunkSize)
      if chunk?.isEmpty ?? true { try? file.handle.close() }
      return chunk?.isEmpty ?? true ? nil : chunk
    }
  }
}

/// An open file.
///
/// Unchecked: chunks are pulled one at a time. Nothing says that Apple's `FileHandle` is `Sendable`.
private struct FileReader: @unchecked Sendable {
  let handle: FileHandle

  init(_ url: URL) throws {
    handle = try FileHandle(forReadingFrom: url)
  }
}

/// Reads an `InputStream` off the caller's thread.
private final class InputStreamReader: @unchecked Sendable {
  // Unchecked: `stream` and `isOpen` are only touched on `queue`.
  private let stream: InputStream
  private var isOpen = false
  private let queue = DispatchQueue(label: "waylay.input-stream")

  init(_ stream: InputStream) {
    self.stream = stream
  }

  func next() async throws -> Data? {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try self.read() }) }
    }
  }

  private func read() throws -> Data? {
    if !isOpen {
      isOpen = true
      stream.open()
    }
    var buffer = [UInt8](repeating: 0, count: MessageBody.chunkSize)
    let count = stream.read(&buffer, maxLength: buffer.count)
    if count > 0 { return Data(buffer[..<count]) }
    defer { stream.close() }
    guard count == 0 else {
      throw WaylayError(
        .bodyUnreadable, "the request's body stream failed while it was read: see the underlying error.",
        underlying: stream.streamError)
    }
    return nil
  }
}
