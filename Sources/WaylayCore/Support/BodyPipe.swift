import Foundation
import HTTPTypes

/// A body between a producer that pushes and one reader that pulls.
///
/// The producer retains the pipe, the body retains the ``Reader``. If the last reader is released before the end, the
/// pipe calls `onAbandon`: this is how dropping an unread response cancels its transfer.
final class BodyPipe: Sendable {
  fileprivate struct State {
    var chunks: [Data] = []
    var buffered = 0
    var end: Result<Void, any Error>?
    /// The suspended reader.
    var waiters = Waiters()
    var trailers: HTTPFields = [:]
    var metrics: LoadMetrics?
    var isAbandoned = false
  }

  private let state = Locked(State())
  private let onAbandon: @Sendable () -> Void
  private let onDrain: @Sendable () -> Void

  /// Makes a pipe.
  ///
  /// - Parameters:
  ///   - onAbandon: Called once if the last reader is released before the end is pushed.
  ///   - onDrain: Called each time the reader has taken all chunks.
  init(onAbandon: @escaping @Sendable () -> Void, onDrain: @escaping @Sendable () -> Void = {}) {
    self.onAbandon = onAbandon
    self.onDrain = onDrain
  }

  /// Adds a chunk. Returns the number of buffered bytes.
  @discardableResult
  func push(_ chunk: Data) -> Int {
    guard !chunk.isEmpty else { return 0 }
    return state.change(waking: \.waiters) { state in
      guard state.end == nil, !state.isAbandoned else { return 0 }
      state.chunks.append(chunk)
      state.buffered += chunk.count
      return state.buffered
    }
  }

  /// Whether the buffer is empty.
  var isDrained: Bool { state.withLock { $0.chunks.isEmpty } }

  /// Ends the body. Buffered chunks are still read.
  func finish(
    _ result: Result<Void, any Error> = .success(()), trailers: HTTPFields = [:], metrics: LoadMetrics? = nil
  ) {
    state.change(waking: \.waiters) { state in
      guard state.end == nil else { return }
      state.end = result
      state.trailers = trailers
      state.metrics = metrics
    }
  }

  fileprivate func interrupt(_ error: any Error) {
    state.change(waking: \.waiters) { state in
      // A fully read body whose end was pushed is complete; any other one is truncated, and must fail.
      if state.end == nil || !state.chunks.isEmpty { state.end = .failure(error) }
      state.chunks = []
      state.buffered = 0
    }
    onAbandon()
  }

  fileprivate func abandon() {
    let isOpen = state.withLock { state in
      defer { state.isAbandoned = true }
      state.chunks = []
      return state.end == nil && !state.isAbandoned
    }
    if isOpen { onAbandon() }
  }

  fileprivate func next() async throws -> Data? {
    try await withTaskCancellationHandler {
      while true {
        if let step = state.withLock({ $0.take() }) {
          if step.isDrained { onDrain() }
          return try step.result.get()
        }
        onDrain()
        await state.wait(at: \.waiters, isCancellable: false) { !$0.chunks.isEmpty || $0.end != nil }
      }
    } onCancel: {
      interrupt(CancellationError())
    }
  }

  /// The reading side.
  final class Reader: Sendable {
    private let pipe: BodyPipe

    init(_ pipe: BodyPipe) {
      self.pipe = pipe
    }

    deinit {
      pipe.abandon()
    }

    func next() async throws -> Data? { try await pipe.next() }
    var trailers: HTTPFields { pipe.state.withLock { $0.trailers } }
    var metrics: LoadMetrics? { pipe.state.withLock { $0.metrics } }
  }
}

extension BodyPipe.State {
  fileprivate struct Step {
    let result: Result<Data?, any Error>
    var isDrained = false
  }

  /// The next step of the reader; `nil` if it must wait.
  fileprivate mutating func take() -> Step? {
    guard chunks.isEmpty else {
      // Deliver all buffered chunks as one: fewer calls for a slow reader.
      defer {
        chunks = []
        buffered = 0
      }
      guard chunks.count > 1 else { return Step(result: .success(chunks[0]), isDrained: end == nil) }
      var whole = Data(capacity: buffered)
      for chunk in chunks { whole.append(chunk) }
      return Step(result: .success(whole), isDrained: end == nil)
    }
    return end.map { Step(result: $0.map { nil }) }
  }
}
