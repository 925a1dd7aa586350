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
    /// The lineage of the reader, which does not retain its load beyond the load's end.
    private let lineage = Lineage.current
    private var load: Load? { lineage?.load }

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

    /// A reading of a body, whose sources have their lineages.
    convenience init(_ body: MessageBody) {
      let iterator = Iterator(body)
      self.init { try await iterator.next() }
    }

    /// - Parameter origin: The lineage of the code that made `base`, in which each reading of it runs.
    init<Base: AsyncSequence>(
      _ base: Base, in origin: LoadOrigin
    ) where Base.Element == Data, Base: SendableMetatype {
      let iterator = origin.runInline { Iterator(base) }
      pull = { try await origin.run { try await iterator.next() } }
    }

    package func next() async throws -> Data? { try await pull() }

    /// Reads a short stream to its end within a second, so that its connection can be reused; otherwise ends the
    /// transfer.
    fileprivate func discard(_ length: Int64?, on clock: TimerClock) async {
      let most = MessageBody.shortLength
      let end = Promise<Void>()
      let reading = Task {
        defer { end.settle(.success(())) }
        var count = 0
        while let chunk = try await next(), !Task.isCancelled {
          count += chunk.count
          // Reading in a cancelled task ends the transfer.
          if count > most { withUnsafeCurrentTask { $0?.cancel() } }
        }
      }
      if length.map({ $0 > Int64(most) }) ?? true { reading.cancel() }
      // A stream may ignore its cancellation, so the wait has a time limit.
      clock.after(seconds: 1) {
        reading.cancel()
        end.settle(.success(()))
      }
      try? await end.valueUnlessCancelled(onCancel: reading.cancel)
    }

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
    /// Makes a reading of a replayable stream; `nil` for a one-shot stream, whose reading is in ``claim``.
    private let make: (@Sendable () throws -> Chunks)?
    let claim: Claim?

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
      (self.make, claim) = isReplayable ? (make, nil) : (nil, Claim(make, length: length))
    }

    deinit { claim?.release() }

    /// Starts a reading; claims a one-shot stream.
    func open() throws -> Chunks {
      if let claim { return try claim.open() }
      guard let make else { preconditionFailure("a stream has neither readings nor a claim") }
      return try make()
    }
  }

  /// The right to the one reading of a one-shot stream. Retaining it does not retain the stream.
  final class Claim: Sendable {
    private enum State {
      case unread(@Sendable () throws -> Chunks)
      case read(by: String)
      /// An interceptor has called `next` again, and so gave the stream back.
      case givenBack(by: String)
      /// The last copy of the body was released.
      case released
    }

    private let state: Locked<State>
    private let length: Int64?

    init(_ make: @escaping @Sendable () throws -> Chunks, length: Int64?) {
      state = Locked(.unread(make))
      self.length = length
    }

    /// The name of the reader, or of the interceptor that gave the stream back.
    var reader: String? {
      state.withLock { state in
        switch state {
        case .read(let name), .givenBack(let name): name
        case .unread, .released: nil
        }
      }
    }

    /// Takes the reading.
    func open() throws -> Chunks {
      let reader = Self.currentReader
      if let make = take(.read(by: reader)) { return try make() }
      try check()
      throw MessageBody.consumed(by: self.reader ?? reader, wantedBy: reader)
    }

    /// Throws if an interceptor gave the stream back.
    func check() throws {
      guard case .givenBack(let name) = state.withLock({ $0 }) else { return }
      throw WaylayError(
        .bodyConsumed,
        "\(name) called next again, and so gave back the unread body of its earlier response: to keep that response, "
          + "let \(name) collect the body first, and pass on .data(…).",
        interceptor: name)
    }

    /// Discards the stream for an interceptor that calls `next` again.
    func giveBack(by interceptor: String, on clock: TimerClock) async {
      await discard(.givenBack(by: interceptor), on: clock)
    }

    /// Discards the stream for its reader.
    func discard(on clock: TimerClock) async { await discard(.read(by: Self.currentReader), on: clock) }

    private func discard(_ new: State, on clock: TimerClock) async {
      guard let make = take(new), let chunks = try? make() else { return }
      await chunks.discard(length, on: clock)
    }

    private static var currentReader: String { Lineage.currentReader ?? "a reader outside any chain" }

    /// Ends an unread stream.
    func release() { _ = take(.released) }

    private func take(_ new: State) -> (@Sendable () throws -> Chunks)? {
      state.withLock { state in
        guard case .unread(let make) = state else { return nil }
        state = new
        return make
      }
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
