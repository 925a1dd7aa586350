import DequeModule
import Foundation

/// The destination of a body while it is received, and the source for late readers.
protocol BodySink: Sendable {
  func append(_ chunk: Data) async throws
  /// Bytes appended earlier, at most `count`; never empty if there are any.
  func read(at offset: Int64, upTo count: Int) async throws -> Data
}

/// A body received from the network, sent to the store and to every load that waits for it.
///
/// A separate task pulls the chunks at the pace of the fastest reader, with a little read-ahead. The newest chunks stay
/// in memory; a slow reader reads from the sink, so that memory is bounded however far readers are apart. If the sink
/// fails, the slowest reader sets the pace. When the last reader is released, the transfer is cancelled, unless a small rest comes within a second.
final class SharedBody: Sendable {
  /// How a transfer ended.
  enum End: Sendable {
    /// The whole body is in the sink.
    case complete(bytes: Int64)
    /// The transfer broke off, or the last reader left; the sink has a part.
    case partial(bytes: Int64)
    /// The sink failed: the received bytes are not stored.
    case lost(any Error)
  }

  /// The read-ahead for the fastest reader, and the memory kept for slower ones.
  static let window = 256 * 1024
  /// The maximum remainder that is still fetched after the last reader has left.
  static let rest: Int64 = 64 * 1024

  fileprivate struct State {
    /// The newest bytes; the first one is at offset ``start``.
    var chunks: Deque<Data> = []
    var start: Int64 = 0
    var received: Int64 = 0
    /// The number of bytes in the sink.
    var stored: Int64 = 0
    var sinkFailure: (any Error)?
    var end: Result<Void, any Error>?
    /// The offset of each reader.
    var positions: [Int: Int64] = [:]
    var lastReader = 0
    var waiting = Waiters()
    var pump: Task<Void, Never>?
    /// The transfer, waiting for readers to catch up.
    var demanding = Waiters()
    var isAbandoned = false
  }

  let original: MessageBody
  /// The length of the whole body, including a part stored earlier; `nil` if unknown.
  let length: Int64?
  /// The length that the body must have.
  private let required: Int64?
  private let sink: any BodySink
  private let clock: TimerClock
  private let state: Locked<State>

  /// - Parameters:
  ///   - original: The body from the network.
  ///   - sink: The destination.
  ///   - stored: The number of bytes that the sink already has.
  ///   - required: The length of the whole body, if another source than the body states it: a shorter or longer
  ///     transfer then fails.
  init(
    _ original: MessageBody, into sink: any BodySink, after stored: Int64 = 0, required: Int64? = nil,
    on clock: TimerClock = .system
  ) {
    (self.original, self.sink, self.required, self.clock) = (original, sink, required, clock)
    // Servers and interceptors may claim any length: ignore impossible ones.
    length =
      required
      ?? original.length.flatMap { claimed in
        let (sum, isOverflow) = claimed.addingReportingOverflow(stored)
        return claimed < 0 || isOverflow ? nil : sum
      }
    state = Locked(State(start: stored, received: stored, stored: stored))
  }

  /// Starts the transfer. The body owns the task, which ends with the last reader or with the body.
  ///
  /// - Parameter finish: Called once at the end, before the readers see it.
  func start(_ finish: @escaping @Sendable (End) async -> Void) {
    let shared = SharedWork()
    let task = Task { await shared.run { await self.run(finish) } }
    let isAbandoned = state.withLock { state in
      state.pump = task
      return state.isAbandoned
    }
    if isAbandoned { task.cancel() }
  }

  /// Adds a reader; `nil` if the transfer was abandoned.
  ///
  /// - Parameter range: The bytes to read; `nil` for all.
  func reader(of range: Range<Int64>? = nil) -> Reader? {
    let position = range?.lowerBound ?? 0
    return state.withLock { state -> Int? in
      // After a failure of the sink, bytes no longer in memory cannot be read.
      guard !state.isAbandoned, state.sinkFailure == nil || state.start <= position else { return nil }
      state.lastReader += 1
      state.positions[state.lastReader] = position
      return state.lastReader
    }.map { Reader(self, number: $0, limit: range?.upperBound) }
  }

  /// The body for another load; `nil` if the transfer was abandoned.
  ///
  /// - Parameter range: The bytes to read; `nil` for all. A body without a known end finishes after the sink has
  ///   committed, so that the next lookup finds it.
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
        // Wait until a reader needs more bytes.
        await state.wait(at: \.demanding) { $0.wantsMore(length) }
        // Also when cancelled: reading then ends the transfer, which copies of the body would keep.
        let chunk = try await chunks.next()
        try Task.checkCancellation()
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
    // In a separate task, because this one may be cancelled: received bytes are stored nevertheless.
    await Task { await finish(end) }.value
    let outcome: Result<Void, any Error> = failure.map { .failure($0) } ?? .success(())
    state.change(waking: \.waiting) { ($0.end, $0.pump) = (outcome, nil) }
  }

  /// Fails if the body is shorter or longer than required.
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

  /// A load that reads the body.
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
      if Task.isCancelled {
        leave(reader)
        throw CancellationError()
      }
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
        clock.after(seconds: 1) { [weak self] in self?.abandon() }
        return (nil, state.demanding.takeAll())
      }
      state.isAbandoned = true
      return (state.pump, [])
    }
    pump?.cancel()
    waiters.wake()
  }

  /// Cancels a transfer whose rest has not come within a second after the last reader left.
  private func abandon() {
    let pump = state.withLock { state -> Task<Void, Never>? in
      guard state.positions.isEmpty, state.end == nil else { return nil }
      state.isAbandoned = true
      return state.pump
    }
    pump?.cancel()
  }
}

extension SharedBody.State {
  /// Whether the transfer should continue.
  fileprivate func wantsMore(_ length: Int64?) -> Bool {
    guard end == nil else { return false }
    // Finish the transfer if only the end or a small remainder is missing, even without readers.
    if let length, received >= length { return true }
    guard !positions.isEmpty else { return length.map { $0 - received <= SharedBody.rest } ?? false }
    let pace = sinkFailure == nil ? positions.values.max() : positions.values.min()
    return received - (pace ?? 0) < SharedBody.window / 2
  }

  /// Drops chunks that the sink has, if all readers have read them or the window is exceeded.
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

/// The sink that writes a body to the store, with periodic checkpoints: after a crash, the next process can resume a
/// large body.
final class StoreSink: BodySink {
  static let stride: Int64 = 4 << 20

  let writer: any EntryWriter
  /// The draft for a checkpoint at a length; `nil` if the body could not be resumed.
  private let draft: @Sendable (Int64) -> EntryDraft?
  private let next: Locked<Int64>
  private let stored = Locked<[EntryID]>([])

  /// The checkpoint's entry, if any, which stays after the writer is aborted.
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
    // A failed checkpoint only costs a restarted process some bytes; the entry itself may still be completed.
    if isDue, let draft = draft(length), let entry = try? await writer.checkpoint(draft) {
      stored.withLock { $0 = [entry.id] }
    }
  }

  func read(at offset: Int64, upTo count: Int) async throws -> Data {
    try await writer.read(at: offset, upTo: count)
  }
}
