import Foundation

extension MessageBody {
  /// The body byte by byte.
  public var bytes: Bytes { Bytes(body: self) }

  /// The body line by line, without the line endings, which may be LF, CR LF or CR.
  ///
  /// ```swift
  /// for try await line in response.body.lines where line.hasPrefix("data: ") { print(line.dropFirst(6)) }
  /// ```
  public var lines: Lines { Lines(body: self) }

  /// A body as a sequence of bytes.
  public struct Bytes: AsyncSequence, Sendable {
    /// A byte.
    public typealias Element = UInt8
    let body: MessageBody

    /// The same body line by line.
    public var lines: Lines { body.lines }

    /// Starts reading.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(chunks: body.makeAsyncIterator()) }

    /// Reads a body byte by byte.
    public struct AsyncIterator: AsyncIteratorProtocol {
      var chunks: MessageBody.AsyncIterator
      private var chunk = Data()
      private var position = 0

      init(chunks: MessageBody.AsyncIterator) {
        self.chunks = chunks
      }

      /// The next byte, or `nil` after the last one.
      public mutating func next() async throws -> UInt8? {
        if position == chunk.endIndex {
          guard let more = try await chunks.next() else { return nil }
          chunk = more
          position = more.startIndex
        }
        defer { position += 1 }
        return chunk[position]
      }
    }
  }

  /// A body as a sequence of lines.
  public struct Lines: AsyncSequence, Sendable {
    /// A line; invalid UTF-8 is repaired.
    public typealias Element = String
    let body: MessageBody

    /// Starts reading.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(bytes: body.bytes.makeAsyncIterator()) }

    /// Reads a body line by line.
    public struct AsyncIterator: AsyncIteratorProtocol {
      var bytes: Bytes.AsyncIterator
      private var lastWasReturn = false

      init(bytes: Bytes.AsyncIterator) {
        self.bytes = bytes
      }

      /// The next line, or `nil` after the last one.
      public mutating func next() async throws -> String? {
        var line: [UInt8] = []
        while let byte = try await bytes.next() {
          let followsReturn = lastWasReturn
          lastWasReturn = byte == UInt8(ascii: "\r")
          if lastWasReturn { return String(decoding: line, as: UTF8.self) }
          if byte == UInt8(ascii: "\n") {
            if followsReturn { continue }
            return String(decoding: line, as: UTF8.self)
          }
          line.append(byte)
        }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
      }
    }
  }
}
