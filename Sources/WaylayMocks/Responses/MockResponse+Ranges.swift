import Foundation
import HTTPTypes

extension MockResponse {
  /// The same response, limited to the part that a `Range` field asks for (RFC 9110, section 14).
  ///
  /// ```swift
  /// Stub(.get, "/video.mp4", .file(video).field("ETag", "\"v1\"").servingRanges())
  /// ```
  ///
  /// For a `GET` whose response has the status 200 and a body of known length, the result is a 206 with
  /// `Content-Range`; a 416 if the range lies beyond the end; or the whole body if `If-Range` names another `ETag`
  /// (compared strongly) or `Last-Modified`. Several ranges at once, other units and malformed fields get the whole
  /// body, as the standard allows. Only the requested part of a file is read.
  public func servingRanges() -> MockResponse {
    with { $0.servesRanges = true }
  }
}

extension InterceptedResponse {
  /// Reduces the response to the range that `request` asks for.
  mutating func serveRange(of request: InterceptedRequest) {
    guard status == .ok, body.isReplayable, let length = body.length else { return }
    fields[.acceptRanges] = fields[.acceptRanges] ?? "bytes"
    guard request.method == .get, let range = request.fields[.range].map(ByteRange.init), range != .other,
      allowsRange(of: request)
    else { return }
    // RFC 9110, section 14.1.2: a suffix range of an empty body is satisfiable, but cannot be written as a
    // Content-Range.
    if length == 0, case .suffix(1...) = range { return }
    guard let bytes = range.bytes(of: length) else {
      status = .rangeNotSatisfiable
      fields[.contentRange] = "bytes */\(length)"
      fields[.contentLength] = nil
      fields[.contentType] = nil
      body = .empty
      return
    }
    status = .partialContent
    fields[.contentRange] = "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(length)"
    fields[.contentLength] = nil
    body = body.slice(bytes)
  }

  /// Whether `If-Range` holds (RFC 9110, section 13.1.5): it must name the same representation, compared strongly.
  private func allowsRange(of request: InterceptedRequest) -> Bool {
    guard let condition = request.fields[.ifRange].map({ $0[...].trimmingBlanks }) else { return true }
    // An entity tag is quoted, a date is not. A weak tag never compares strongly (section 8.8.3.2).
    guard condition.hasSuffix("\"") else {
      return fields[.lastModified].map { $0[...].trimmingBlanks == condition } ?? false
    }
    return !condition.hasPrefix("W/") && fields[.eTag].map { $0[...].trimmingBlanks == condition } ?? false
  }
}

extension MessageBody {
  /// A part of a replayable body.
  func slice(_ range: Range<Int64>) -> MessageBody {
    if let data = inMemory {
      return .data(data.dropFirst(Int(range.lowerBound)).prefix(Int(range.upperBound - range.lowerBound)))
    }
    if let file = fileURL {
      return .stream(length: range.upperBound - range.lowerBound) { FileSlice(file: file, range: range) }
    }
    let whole = self
    return .stream(length: range.upperBound - range.lowerBound) { BodySlice(whole: whole, range: range) }
  }
}

/// A part of a file, read on demand.
private struct FileSlice: AsyncSequence, Sendable {
  typealias Element = Data
  let file: URL
  let range: Range<Int64>

  func makeAsyncIterator() -> Iterator { Iterator(file: file, range: range) }

  struct Iterator: AsyncIteratorProtocol {
    let file: URL
    /// The remaining bytes.
    var range: Range<Int64>
    var handle: FileHandle?

    mutating func next() async throws -> Data? {
      guard !range.isEmpty else {
        try handle?.close()
        handle = nil
        return nil
      }
      let handle = try self.handle ?? open()
      self.handle = handle
      guard let chunk = try handle.read(upToCount: range.prefix(65_536).count), !chunk.isEmpty else {
        throw MockError(
          .unreadableFile, "the file \(file.path) ends before the requested range: it has changed in the meantime.")
      }
      range = range.dropFirst(chunk.count)
      return chunk
    }

    private func open() throws -> FileHandle {
      let handle = try FileHandle(forReadingFrom: file)
      try handle.seek(toOffset: UInt64(range.lowerBound))
      return handle
    }
  }
}

/// A part of a replayable stream.
private struct BodySlice: AsyncSequence, Sendable {
  typealias Element = Data
  let whole: MessageBody
  let range: Range<Int64>

  func makeAsyncIterator() -> Iterator { Iterator(chunks: whole.makeAsyncIterator(), range: range) }

  struct Iterator: AsyncIteratorProtocol {
    var chunks: MessageBody.AsyncIterator
    let range: Range<Int64>
    var position: Int64 = 0

    mutating func next() async throws -> Data? {
      while position < range.upperBound, let chunk = try await chunks.next() {
        let end = position + Int64(chunk.count)
        defer { position = end }
        let part =
          (Swift.max(position, range.lowerBound)..<Swift.max(range.lowerBound, Swift.min(end, range.upperBound)))
        if !part.isEmpty { return chunk.dropFirst(Int(part.lowerBound - position)).prefix(part.count) }
      }
      return nil
    }
  }
}
