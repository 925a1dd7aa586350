import DequeModule
import Foundation

/// Where a body goes while it is read, and where a late reader reads it from.
protocol BodySink: Sendable {
  /// Adds bytes at the end.
  func append(_ chunk: Data) async throws
  /// Bytes that were added before, at most so many; never empty where there are any.
  func read(at offset: Int64, upTo count: Int) async throws -> Data
}

/// A body on its way from the network to the store and to every load that waits for it.
///
/// A task of its own pulls the chunks, as fast as the fastest reader takes them and a little ahead. The newest chunks
/// stay in memory; a reader that has fallen behind reads from the sink, so that memory is bounded however far readers
/// are apart. When the sink fails, the slowest reader sets the pace. When the last reader goes, the transfer is
/// cancelled.
final class SharedBody: Sendable {
  /// How a transfer ended.
  enum End: Sendable {
    /// All of it is in the sink.
    case complete(bytes: Int64)
    /// It broke off, or nobody wanted the rest; so many bytes are in the sink.
    case partial(bytes: Int64)
    /// The sink does not have what was received.
    case lost(any Error)
  }

  /// Bytes that are read ahead of the fastest reader, and kept for those just behind it.
  static let window = 256 * 1024
  /// What is left of a body that nobody reads any more, and is fetched all the same.
  static let rest: Int64 = 64 * 1024

  fileprivate struct State {
    /// The newest bytes. The first of them is at ``start``.
    var chunks: Deque<Data> = []
    var start: Int64 = 0
    var received: Int64 = 0
    /// Bytes that the sink has.
    var stored: Int64 = 0
    var sinkFailure: (any Error)?
    var end: Result<Void, any Error>?
    /// How far each reader is.
    var positions: [Int: Int64] = [:]
    var lastReader = 0
    var waiting = Waiters()
    var pump: Task<Void, Never>?
    /// The transfer, where it is ahead of all readers.
    var demanding = Waiters()
    var isAbandoned = false
  }

  let original: MessageBody
  /// The bytes of the whole body, what is stored of it already included; `nil` where they are not known.
  let length: Int64?
  /// The bytes that the body must have.
  private let required: Int64?
  private let sink: any BodySink
  private let state: Locked<State>

  /// - Parameters:
  ///   - original: The body as it comes from the network.
  ///   - sink: Where it is kept.
  ///   - stored: Bytes before it that the sink has already.
  ///   - required: The bytes that the whole body has, where something else than the body itself says so: when it ends
  ///     before them, or goes on behind them, the transfer has failed.
  init(_ original: MessageBody, into sink: any BodySink, after stored: Int64 = 0, required: Int64? = nil) {
    self.original = original
    self.sink = sink
    self.required = required
    // A length is what a server, or an interceptor of the app's, claims: one that no body can have is none.
    length =
      required
      ?? original.length.flatMap { claimed in
        let (sum, isOverflow) = claimed.addingReportingOverflow(stored)
        return claimed < 0 || isOverflow ? nil : sum
      }
    state = Locked(State(start: stored, received: stored, stored: stored))
  }

  /// Starts the transfer. The body owns its task: it ends with the last reader, or with the body.
  ///
  /// - Parameter finish: Called once at the end, before the readers hear of it.
  func start(_ finish: @escaping @Sendable (End) async -> Void) {
    let task = Task { await self.run(finish) }
    let isAbandoned = state.withLock { state in
      state.pump = task
      return state.isAbandoned
    }
    if isAbandoned { task.cancel() }
  }

  /// Another reader; `nil` when the transfer has been given up.
  ///
  /// - Parameter range: The bytes that it wants: all of them when `nil`.
  func reader(of range: Range<Int64>? = nil) -> Reader? {
    let position = range?.lowerBound ?? 0
    return state.withLock { state -> Int? in
      // What the sink does not have, and memory no longer has, cannot be read again.
      guard !state.isAbandoned, state.sinkFailure == nil || state.start <= position else { return nil }
      state.lastReader += 1
      state.positions[state.lastReader] = position
      return state.lastReader
    }.map { Reader(self, number: $0, limit: range?.upperBound) }
  }

  /// The body for another load; `nil` when the transfer has been given up.
  ///
  /// - Parameter range: The bytes that it wants: all of them when `nil`. One without an end is over when the transfer
  ///   is, and what there is has been stored: the next lookup finds it.
  func body(of range: Range<Int64>? = nil) -> MessageBody? {
    guard let reader = reader(of: range) else { return nil }
    let end = range.flatMap { $0.upperBound < .max ? $0.upperBound : nil } ?? length
    return .relaying(original, length: end.map { max(0, $0 - (range?.lowerBound ?? 0)) }) { try await reader.next() }
  }

  // MARK: The transfer

  private func run(_ finish: @escaping @Sendable (End) async -> Void) async {
    var failure: (any Error)?
    do {
      var chunks = original.makeAsyncIterator()
      while true {
        // Until a reader wants more than there is.
        await state.wait(at: \.demanding) { $0.wantsMore(length) }
        try Task.checkCancellation()
        let chunk = try await chunks.next()
        try checkLength(with: chunk)
        guard let chunk else { break }
        state.change(waking: \.waiting) { state in
          state.chunks.append(chunk)
          state.received += Int64(chunk.count)
        }
        await keep(chunk)
      }
    } catch {
      failure = error
    }
    let (stored, sinkFailure) = state.withLock { state in
      state.isAbandoned = state.isAbandoned || failure != nil
      return (state.stored, state.sinkFailure)
    }
    let end: End =
      sinkFailure.map { .lost($0) } ?? (failure == nil ? .complete(bytes: stored) : .partial(bytes: stored))
    // In a task of its own, because this one may have been cancelled: what there is, is stored all the same.
    await Task { await finish(end) }.value
    let outcome: Result<Void, any Error> = failure.map { .failure($0) } ?? .success(())
    state.change(waking: \.waiting) { ($0.end, $0.pump) = (outcome, nil) }
  }

  /// Fails when the body is over before it has the bytes that it must have, or has more of them.
  private func checkLength(with chunk: Data?) throws {
    guard let required else { return }
    let received = state.withLock { $0.received }
    if chunk == nil, received < required {
      throw TransportError(
        .networkConnectionLost, phase: .receiving, message: "the body ended after \(received) of \(required) bytes.")
    }
    if let chunk, Int64(chunk.count) > required - received {
      throw TransportError(
        .badServerResponse, phase: .receiving, message: "the body is longer than its \(required) bytes.")
    }
  }

  private func keep(_ chunk: Data) async {
    guard state.withLock({ $0.sinkFailure == nil }) else { return }
    do {
      try await sink.append(chunk)
      state.withLock { state in
        state.stored += Int64(chunk.count)
        state.trim()
      }
    } catch {
      state.withLock { $0.sinkFailure = error }
    }
  }

  // MARK: Readers

  /// One load that reads the body.
  final class Reader: Sendable {
    private let shared: SharedBody
    private let number: Int
    private let limit: Int64?

    fileprivate init(_ shared: SharedBody, number: Int, limit: Int64?) {
      self.shared = shared
      self.number = number
      self.limit = limit
    }

    deinit { shared.leave(number) }

    /// The next bytes, or `nil` after the last one.
    func next() async throws -> Data? { try await shared.next(number, upTo: limit) }
  }

  fileprivate enum Step {
    case chunk(Data)
    case stored(offset: Int64, count: Int)
    case end(Result<Void, any Error>)
    case wait
  }

  private func next(_ reader: Int, upTo limit: Int64?) async throws -> Data? {
    while true {
      try Task.checkCancellation()
      let (step, pump) = state.withLock { state in
        let step = state.step(of: reader, upTo: limit)
        return (step, state.wantsMore(length) ? state.demanding.takeAll() : [])
      }
      pump.wake()
      switch step {
      case .chunk(let chunk): return chunk
      case .end(let end):
        try end.get()
        return nil
      case .stored(let offset, let count):
        let chunk = try await sink.read(at: offset, upTo: count)
        guard !chunk.isEmpty else {
          throw ArchiveError(.unreadable, "the stored part of a body is gone: load it again.")
        }
        state.withLock { $0.positions[reader] = offset + Int64(chunk.count) }
        return chunk
      case .wait: await state.wait(at: \.waiting) { $0.positions[reader] ?? 0 < $0.received || $0.end != nil }
      }
    }
  }

  private func leave(_ reader: Int) {
    let (pump, waiters) = state.withLock { state -> (Task<Void, Never>?, [CheckedContinuation<Void, Never>]) in
      state.positions[reader] = nil
      state.trim()
      guard state.positions.isEmpty, state.end == nil else {
        return (nil, state.wantsMore(length) ? state.demanding.takeAll() : [])
      }
      if let length, length - state.received <= Self.rest, state.sinkFailure == nil {
        return (nil, state.demanding.takeAll())
      }
      state.isAbandoned = true
      return (state.pump, [])
    }
    pump?.cancel()
    waiters.wake()
  }
}

extension SharedBody.State {
  /// Whether the transfer is to go on.
  fileprivate func wantsMore(_ length: Int64?) -> Bool {
    guard end == nil else { return false }
    // The last word, and what little is left when nobody reads any more, costs nobody anything.
    if let length, received >= length { return true }
    guard !positions.isEmpty else { return length.map { $0 - received <= SharedBody.rest } ?? false }
    let pace = sinkFailure == nil ? positions.values.max() : positions.values.min()
    return received - (pace ?? 0) < SharedBody.window / 2
  }

  /// Forgets chunks that the sink has, and nobody waits for or too many follow.
  fileprivate mutating func trim() {
    let slowest = positions.values.min() ?? received
    while let first = chunks.first, start + Int64(first.count) <= (sinkFailure == nil ? stored : slowest) {
      let isRead = start + Int64(first.count) <= slowest
      guard isRead || received - start > SharedBody.window else { return }
      chunks.removeFirst()
      start += Int64(first.count)
    }
  }

  fileprivate mutating func step(of reader: Int, upTo limit: Int64?) -> SharedBody.Step {
    let position = positions[reader] ?? 0
    let limit = limit ?? .max
    guard position < limit else { return .end(.success(())) }
    if position < start {
      return .stored(offset: position, count: Int(min(min(start, limit) - position, Int64(SharedBody.window))))
    }
    guard position < received else { return end.map { .end($0) } ?? .wait }
    var offset = start
    for chunk in chunks {
      let next = offset + Int64(chunk.count)
      if position < next {
        positions[reader] = next
        defer { trim() }
        guard position > offset || next > limit else { return .chunk(chunk) }
        return .chunk(Data(chunk.dropFirst(Int(position - offset)).prefix(Int(min(limit, next) - position))))
      }
      offset = next
    }
    return .wait
  }
}

/// The way of one body into the store, with a checkpoint now and then: what a process that is killed had of a large
/// body is completed by the next one.
final class StoreSink: BodySink {
  /// Bytes between two checkpoints.
  static let stride: Int64 = 4 << 20

  let writer: any EntryWriter
  /// What to store when the body ends after so many bytes; `nil` where it could not be resumed.
  private let draft: @Sendable (Int64) -> EntryDraft?
  private let next: Locked<Int64>
  private let stored = Locked<[EntryID]>([])

  /// The entry that checkpoints have made, if any, which an aborted writer leaves.
  var checkpointed: [EntryID] { stored.withLock { $0 } }

  init(_ writer: any EntryWriter, checkpoint draft: @escaping @Sendable (Int64) -> EntryDraft?) {
    self.writer = writer
    self.draft = draft
    next = Locked(writer.length.saturating(adding: Self.stride))
  }

  func append(_ chunk: Data) async throws {
    try await writer.append(chunk)
    let length = writer.length
    let isDue = next.withLock { next in
      guard length >= next else { return false }
      next = length.saturating(adding: Self.stride)
      return true
    }
    // A checkpoint that fails costs a restarted process some bytes; the entry itself may still come out whole.
    if isDue, let draft = draft(length), let entry = try? await writer.checkpoint(draft) {
      stored.withLock { $0 = [entry.id] }
    }
  }

  func read(at offset: Int64, upTo count: Int) async throws -> Data {
    try await writer.read(at: offset, upTo: count)
  }
}
