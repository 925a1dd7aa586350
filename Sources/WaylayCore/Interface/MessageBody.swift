import Foundation
import HTTPTypes

/// The body of a request or a response: an asynchronous sequence of chunks.
///
/// ```swift
/// for try await chunk in response.body { hash.update(data: chunk) }
///
/// let text = String(decoding: try await request.body.collect(upTo: 1 << 20), as: UTF8.self)
/// ```
///
/// Data, files and replayable streams can be read any number of times, also concurrently. A one-shot stream can be read
/// once: a second reader gets `WaylayError.bodyConsumed` with the first reader's name.
public struct MessageBody: AsyncSequence, Sendable {

  /// Two cases of at most two words each, because every request and response copies its body.
  enum Storage: Sendable {
    case data(Data)
    case source(Source)
  }

  let storage: Storage

  /// No body.
  public static let empty = MessageBody(storage: .data(Data()))

  /// A body in memory.
  public static func data(_ data: Data) -> MessageBody {
    MessageBody(storage: .data(data))
  }

  /// The UTF-8 bytes of `text`.
  public static func text(_ text: String) -> MessageBody {
    .data(Data(text.utf8))
  }

  /// The contents of a file, read on demand. If the file cannot be read, the reader fails, not this call.
  public static func file(_ url: URL) -> MessageBody {
    let size = (try? FileManager.default.attributesOfItem(atPath: url.path)[.size]) as? NSNumber
    let source = Source(length: size?.int64Value, file: url, isReplayable: true) {
      try MessageBody.Chunks(reading: url)
    }
    return MessageBody(storage: .source(source))
  }

  /// A stream that can be read once.
  ///
  /// - Parameters:
  ///   - chunks: The chunks. The sequence is asked for the next chunk only when the reader wants one.
  ///   - length: The number of bytes, if known; a negative number means unknown.
  public static func stream<Chunks: AsyncSequence & Sendable>(_ chunks: Chunks, length: Int64? = nil) -> MessageBody
  where Chunks.Element == Data {
    let origin = LoadOrigin()
    return MessageBody(storage: .source(Source(length: length) { MessageBody.Chunks(chunks, in: origin) }))
  }

  /// A stream that is created anew for every reader.
  public static func stream<Chunks: AsyncSequence & SendableMetatype>(
    length: Int64? = nil, replaying make: @escaping @Sendable () -> Chunks
  ) -> MessageBody where Chunks.Element == Data {
    let origin = LoadOrigin()
    return MessageBody(
      storage: .source(
        Source(length: length, isReplayable: true) { MessageBody.Chunks(origin.runInline(make), in: origin) }))
  }

  /// The number of bytes, if known before reading.
  public var length: Int64? {
    switch storage {
    case .data(let data): Int64(data.count)
    case .source(let source): source.length
    }
  }

  /// Whether the body can be read again, as retries and redirects require.
  public var isReplayable: Bool {
    if case .source(let source) = storage { source.isReplayable } else { true }
  }

  /// Whether the body is known to be empty.
  public var isEmpty: Bool { length == 0 }

  /// The bytes if they are already in memory; otherwise `nil`.
  public var inMemory: Data? {
    if case .data(let data) = storage { data } else { nil }
  }

  /// The file, if the body is one.
  public var fileURL: URL? {
    if case .source(let source) = storage { source.file } else { nil }
  }

  /// The name of the interceptor or other code that read a one-shot body, or `nil` while it can still be read.
  var consumedBy: String? { claim?.reader }

  /// The right to read a one-shot body; `nil` for a replayable one.
  var claim: Claim? {
    if case .source(let source) = storage { source.claim } else { nil }
  }

  /// The trailer fields that came after the body.
  var trailers: HTTPFields {
    if case .source(let source) = storage { source.trailers() } else { [:] }
  }

  /// The transport's measurements of the body, once it has been read.
  var metrics: LoadMetrics? {
    if case .source(let source) = storage { source.metrics() } else { nil }
  }

  /// Reads the whole body into memory.
  ///
  /// - Parameter limit: The maximum number of bytes. There is no default, because a server may send without end.
  /// - Throws: `WaylayError.bodyTooLarge` at the first byte beyond the limit.
  public func collect(upTo limit: Int) async throws -> Data {
    if let data = inMemory {
      guard data.count <= limit else { throw Self.tooLarge(limit, length: Int64(data.count)) }
      return data
    }
    if let length, length > Int64(limit) { throw Self.tooLarge(limit, length: length) }
    var collected = Data()
    // The length is only declared by the server: reserve a bounded amount of memory.
    if let length { collected.reserveCapacity(Int(Swift.min(length, Self.mostReserved))) }
    for try await chunk in self {
      guard chunk.count <= limit - collected.count else { throw Self.tooLarge(limit, length: nil) }
      collected.append(chunk)
    }
    return collected
  }

  /// Discards a body that has no reader: a short body is read to its end, so that its connection can be reused, for at
  /// most a second; the transfer of any other ends, also if a copy of the body is kept.
  ///
  /// Call it before you wait for something else, for example for another attempt. A further call of `next` discards the
  /// response of the one before by itself.
  public func discard() async {
    await claim?.discard(on: Lineage.current?.load?.registry.clock ?? .system)
  }

  /// The maximum number of bytes to allocate for a body before they arrive.
  private static let mostReserved: Int64 = 256 * 1024

  private static func tooLarge(_ limit: Int, length: Int64?) -> WaylayError {
    let reader = Lineage.currentReader
    let size = length.map { "has \($0) bytes, more" } ?? "has more bytes"
    return WaylayError(
      .bodyTooLarge,
      "the body \(size) than the \(limit) that \(reader ?? "its reader") asked to collect: raise the limit of "
        + "collect(upTo:), or read the body as a stream.",
      interceptor: reader)
  }
}

extension MessageBody {
  /// Bytes that are read from a file or a stream at once.
  static let chunkSize = 64 * 1024

  /// The maximum number of bytes of a body that is read ahead, or to its end without a reader.
  static let shortLength = 64 * 1024

  /// The bytes of an `InputStream`, as a body that can be read once.
  ///
  /// A separate queue reads the stream, because a stream may block. Do not use the stream elsewhere after this call.
  public static func stream(reading stream: InputStream, length: Int64? = nil) -> MessageBody {
    let reader = InputStreamReader(stream)
    return MessageBody(storage: .source(Source(length: length) { Chunks { try await reader.next() } }))
  }

  /// The bytes of an `InputStream`: as data if the stream can be read to its end at once and within a limit, otherwise
  /// as a body that can be read once.
  static func stream(reading stream: InputStream, collectingUpTo limit: Int) async throws -> MessageBody {
    let reader = InputStreamReader(stream)
    if let data = try await reader.readAll(upTo: limit) { return .data(data) }
    return MessageBody(storage: .source(Source(length: nil) { Chunks { try await reader.next() } }))
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
    let origin = LoadOrigin()
    return .wrapping(original, length: length) { try await origin.run(next) }
  }

  /// The same, in the lineage of the reader.
  static func wrapping(
    _ original: MessageBody, length: Int64?, _ next: @escaping @Sendable () async throws -> Data?
  ) -> MessageBody {
    MessageBody(
      storage: .source(
        Source(length: length, trailers: { original.trailers }, metrics: { original.metrics }) { Chunks(pull: next) }))
  }

  /// The body as `next` passes its chunks on. It can be read once.
  package func relayed(_ next: @escaping @Sendable (Chunks) async throws -> Data?) -> MessageBody {
    let chunks = Chunks(self)
    return .relaying(self, length: length) { try await next(chunks) }
  }

  /// A body whose bytes are written to a pipe.
  static func pipe(_ reader: BodyPipe.Reader, length: Int64? = nil) -> MessageBody {
    MessageBody(
      storage: .source(
        Source(length: length, trailers: { reader.trailers }, metrics: { reader.metrics }) {
          Chunks { try await reader.next() }
        }))
  }
}

extension MessageBody {
  /// Opens the file of a body. This fails at once, so that the error names the file rather than the wire.
  static func open(_ url: URL) throws(WaylayError) -> FileHandle {
    do { return try FileHandle(forReadingFrom: url) } catch {
      throw WaylayError(
        .bodyUnreadable, "the body's file \(url.path) cannot be opened: check the path and its permissions.",
        interceptor: Lineage.currentReader, underlying: error)
    }
  }
}

extension MessageBody.Chunks {
  /// Reads a file.
  convenience init(reading url: URL) throws {
    let file = FileReader(handle: try MessageBody.open(url))
    self.init {
      // Read on the calling thread: regular files are fast, and a thread hop would cost more.
      let chunk = try file.handle.read(upToCount: MessageBody.chunkSize)
      if chunk?.isEmpty ?? true { try? file.handle.close() }
      return chunk?.isEmpty ?? true ? nil : chunk
    }
  }
}

/// An open file.
///
/// Unchecked: chunks are pulled one at a time. Apple does not document whether `FileHandle` is `Sendable`.
private struct FileReader: @unchecked Sendable {
  let handle: FileHandle
}

/// Reads an `InputStream` off the caller's thread.
private final class InputStreamReader: @unchecked Sendable {
  // Unchecked: `stream`, `isOpen` and `ahead` are only touched on `queue`.
  private let stream: InputStream
  private var isOpen = false
  /// The bytes that were read and that `next` has not returned.
  private var ahead: Data?
  private let queue = DispatchQueue(label: "waylay.input-stream")

  init(_ stream: InputStream) {
    self.stream = stream
  }

  func next() async throws -> Data? {
    try await onQueue { try self.ahead.take() ?? self.read() }
  }

  /// All bytes, if they are available and at most `limit`; `nil` if they are not.
  func readAll(upTo limit: Int) async throws -> Data? {
    try await onQueue {
      var bytes = Data()
      while bytes.count <= limit {
        guard let chunk = try self.read(ifAvailable: true) else { return bytes }
        guard !chunk.isEmpty else { break }
        bytes.append(chunk)
      }
      self.ahead = bytes.isEmpty ? nil : bytes
      return nil
    }
  }

  private func onQueue(_ work: @escaping @Sendable () throws -> Data?) async throws -> Data? {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result(catching: work)) }
    }
  }

  /// - Parameter ifAvailable: Whether to return no bytes if none are available, instead of waiting for them.
  /// - Returns: `nil` at the end.
  private func read(ifAvailable: Bool = false) throws -> Data? {
    if !isOpen {
      isOpen = true
      stream.open()
    }
    if ifAvailable, !stream.hasBytesAvailable, stream.streamStatus != .atEnd { return Data() }
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
