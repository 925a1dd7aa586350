import Foundation
import HTTPTypes

extension MessageBody {
  /// Starts reading. The first call of the iterator's `next()` consumes a one-shot body; this call does not.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(storage)
  }

  /// Reads a body chunk by chunk.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private enum Reading {
      case data(Data)
      case unopened(Source)
      case chunks(Chunks)
      case ended
    }

    private var reading: Reading
    private let load = Lineage.current?.load

    init(_ storage: Storage) {
      switch storage {
      case .data(let data): reading = .data(data)
      case .source(let source): reading = .unopened(source)
      }
    }

    /// The next chunk, or `nil` after the last one.
    public mutating func next() async throws -> Data? {
      switch reading {
      case .ended:
        return nil
      case .data(let data):
        reading = .ended
        return data.isEmpty ? nil : data
      case .unopened(let source):
        let chunks = try source.open()
        reading = .chunks(chunks)
        return try await advance(chunks)
      case .chunks(let chunks):
        return try await advance(chunks)
      }
    }

    private mutating func advance(_ chunks: Chunks) async throws -> Data? {
      do {
        while let chunk = try await chunks.next() {
          load?.touch()
          if !chunk.isEmpty { return chunk }
        }
      } catch {
        reading = .ended
        load?.noteBodyFailure(error)
        throw error
      }
      reading = .ended
      return nil
    }
  }

  /// One reading of a stream, whatever its source.
  package final class Chunks: Sendable {
    private let pull: @Sendable () async throws -> Data?

    init(pull: @escaping @Sendable () async throws -> Data?) {
      self.pull = pull
    }

    init<Base: AsyncSequence>(_ base: Base) where Base.Element == Data, Base: SendableMetatype {
      let iterator = Iterator(base)
      pull = { try await iterator.next() }
    }

    package func next() async throws -> Data? { try await pull() }

    /// Unchecked: used by one reader at a time, like any iterator.
    private final class Iterator<Base: AsyncSequence>: @unchecked Sendable where Base.Element == Data {
      private var base: Base.AsyncIterator

      init(_ sequence: Base) {
        base = sequence.makeAsyncIterator()
      }

      @concurrent func next() async throws -> Data? { try await base.next() }
    }
  }

  /// The source of a body that is not in memory; all copies of the body share it.
  final class Source: Sendable {
    let length: Int64?
    let file: URL?
    let isReplayable: Bool
    /// The trailer fields received so far.
    let trailers: @Sendable () -> HTTPFields
    let metrics: @Sendable () -> LoadMetrics?
    private let make: @Sendable () throws -> Chunks
    private let claim: Locked<String?>?

    /// - Parameter isReplayable: Whether each reader gets a new stream; if not, there can be only one reader.
    init(
      length: Int64?, file: URL? = nil, isReplayable: Bool = false,
      trailers: @escaping @Sendable () -> HTTPFields = { [:] },
      metrics: @escaping @Sendable () -> LoadMetrics? = { nil },
      _ make: @escaping @Sendable () throws -> Chunks
    ) {
      // The sender declares the length: ignore a negative one.
      self.length = length.flatMap { $0 >= 0 ? $0 : nil }
      self.file = file
      self.isReplayable = isReplayable
      self.trailers = trailers
      self.metrics = metrics
      self.make = make
      claim = isReplayable ? nil : Locked(nil)
    }

    /// The name of the reader of a one-shot stream.
    var reader: String? { claim?.withLock { $0 } }

    /// Starts a reading; claims a one-shot stream.
    func open() throws -> Chunks {
      if let claim {
        let reader = Lineage.currentReader ?? "a reader outside any chain"
        let first = claim.withLock { taken -> String? in
          defer { taken = taken ?? reader }
          return taken
        }
        if let first { throw MessageBody.consumed(by: first, wantedBy: reader) }
      }
      return try make()
    }
  }

  static func consumed(by first: String, wantedBy second: String) -> WaylayError {
    WaylayError(
      .bodyConsumed,
      "\(second) cannot read a one-time body that \(first) has read already: let \(first) collect it and pass on "
        + ".data(…), or make the body replayable.",
      interceptor: first)
  }
}

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
    let body: MessageBody

    /// The same body line by line.
    public var lines: Lines { body.lines }

    /// Starts reading.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(chunks: body.makeAsyncIterator()) }

    /// Reads a body byte by byte.
    public struct AsyncIterator: AsyncIteratorProtocol {
      var chunks: MessageBody.AsyncIterator
      fileprivate var chunk = Data()
      fileprivate var position = 0

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
    let body: MessageBody

    /// Starts reading.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(bytes: body.bytes.makeAsyncIterator()) }

    /// Reads a body line by line.
    public struct AsyncIterator: AsyncIteratorProtocol {
      var bytes: Bytes.AsyncIterator
      fileprivate var lastWasReturn = false

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
