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
        throw error
      }
      reading = .ended
      return nil
    }
  }

  /// One reading of a stream, whatever its source.
  final class Chunks: Sendable {
    private let pull: @Sendable () async throws -> Data?

    init(pull: @escaping @Sendable () async throws -> Data?) {
      self.pull = pull
    }

    init<Base: AsyncSequence>(_ base: Base) where Base.Element == Data, Base: SendableMetatype {
      let iterator = Iterator(base)
      pull = { try await iterator.next() }
    }

    func next() async throws -> Data? { try await pull() }

    /// Unchecked: used by one reader at a time, like any iterator.
    private final class Iterator<Base: AsyncSequence>: @unchecked Sendable where Base.Element == Data {
      private var base: Base.AsyncIterator

      init(_ sequence: Base) {
        base = sequence.makeAsyncIterator()
      }

      @concurrent func next() async throws -> Data? { try await base.next() }
    }
  }

  /// What a body that is not in memory comes from; shared by all copies of the body.
  final class Source: Sendable {
    let length: Int64?
    let file: URL?
    let isReplayable: Bool
    private let trailersWhenRead: @Sendable () -> HTTPFields
    private let metricsWhenRead: @Sendable () -> LoadMetrics?
    private let make: @Sendable () throws -> Chunks
    private let claim: Locked<String?>?

    /// A file, opened anew by each reader.
    init(file: URL, length: Int64?) {
      self.length = Self.believable(length)
      self.file = file
      isReplayable = true
      trailersWhenRead = { [:] }
      metricsWhenRead = { nil }
      make = { try Chunks(reading: file) }
      claim = nil
    }

    /// A stream that is made anew for each reader.
    init(replayable length: Int64?, _ make: @escaping @Sendable () -> Chunks) {
      self.length = Self.believable(length)
      file = nil
      isReplayable = true
      trailersWhenRead = { [:] }
      metricsWhenRead = { nil }
      self.make = make
      claim = nil
    }

    /// A stream that can be read once; `trailers` and `metrics` are those that are known so far.
    init(
      oneShot length: Int64?, trailers: @escaping @Sendable () -> HTTPFields = { [:] },
      metrics: @escaping @Sendable () -> LoadMetrics? = { nil },
      _ make: @escaping @Sendable () -> Chunks
    ) {
      self.length = Self.believable(length)
      file = nil
      isReplayable = false
      trailersWhenRead = trailers
      metricsWhenRead = metrics
      self.make = make
      claim = Locked(nil)
    }

    /// A length that a body can have: what somebody claims may be any number.
    private static func believable(_ length: Int64?) -> Int64? { length.flatMap { $0 >= 0 ? $0 : nil } }

    /// Who has read a one-shot stream.
    var reader: String? { claim?.withLock { $0 } }

    var trailers: HTTPFields { trailersWhenRead() }
    var metrics: LoadMetrics? { metricsWhenRead() }

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
