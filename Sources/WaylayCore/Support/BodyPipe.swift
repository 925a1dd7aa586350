import Foundation
package import HTTPTypes

/// A body on its way from a producer that pushes to one reader that pulls.
///
/// The producer holds the pipe, the body holds the ``Reader``. When the last reader goes away before the end, the producer is told
/// through `onAbandon`: that is how a response dropped unread cancels its transfer.
package final class BodyPipe: Sendable {
  private struct State {
    var chunks: [Data] = []
    var buffered = 0
    var end: Result<Void, any Error>?
    var waiter: CheckedContinuation<Data?, any Error>?
    var trailers: HTTPFields = [:]
    var isAbandoned = false
  }

  private let state = Locked(State())
  private let onAbandon: @Sendable () -> Void
  private let onDrain: @Sendable () -> Void

  /// Makes a pipe.
  ///
  /// - Parameters:
  ///   - onAbandon: Called once when nobody can read any more and the end has not been pushed.
  ///   - onDrain: Called each time the reader has taken everything.
  package init(onAbandon: @escaping @Sendable () -> Void, onDrain: @escaping @Sendable () -> Void = {}) {
    self.onAbandon = onAbandon
    self.onDrain = onDrain
  }

  /// Adds a chunk and returns how many bytes wait for the reader.
  @discardableResult
  package func push(_ chunk: Data) -> Int {
    guard !chunk.isEmpty else { return 0 }
    let (waiter, buffered) = state.withLock { state -> (CheckedContinuation<Data?, any Error>?, Int) in
      guard state.end == nil, !state.isAbandoned else { return (nil, 0) }
      if let waiter = state.waiter {
        state.waiter = nil
        return (waiter, 0)
      }
      state.chunks.append(chunk)
      state.buffered += chunk.count
      return (nil, state.buffered)
    }
    waiter?.resume(returning: chunk)
    return buffered
  }

  /// Ends the body. What was pushed before is still read, unless an error ends it at once.
  package func finish(_ result: Result<Void, any Error> = .success(()), trailers: HTTPFields = [:]) {
    let waiter = state.withLock { state -> CheckedContinuation<Data?, any Error>? in
      guard state.end == nil else { return nil }
      state.end = result
      state.trailers = trailers
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(with: result.map { nil })
  }

  fileprivate func interrupt(_ error: any Error) {
    let waiter = state.withLock { state -> CheckedContinuation<Data?, any Error>? in
      // A body whose end has been pushed and read is complete; any other one is now cut short, and must say so.
      if state.end == nil || !state.chunks.isEmpty { state.end = .failure(error) }
      state.chunks = []
      state.buffered = 0
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(throwing: error)
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

  fileprivate var trailers: HTTPFields { state.withLock { $0.trailers } }

  fileprivate func next() async throws -> Data? {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        enum Step {
          case chunk(Data, isEmpty: Bool)
          case end(Result<Void, any Error>)
          case wait
        }
        let step = state.withLock { state -> Step in
          if !state.chunks.isEmpty {
            // Everything that waits goes out as one chunk: fewer turns for a reader that is behind.
            let chunk = state.chunks.count == 1 ? state.chunks[0] : Data(state.chunks.joined())
            state.chunks = []
            state.buffered = 0
            return .chunk(chunk, isEmpty: state.end == nil)
          }
          if let end = state.end { return .end(end) }
          state.waiter = continuation
          return .wait
        }
        switch step {
        case .chunk(let chunk, let isEmpty):
          if isEmpty { onDrain() }
          continuation.resume(returning: chunk)
        case .end(let result): continuation.resume(with: result.map { nil })
        case .wait: onDrain()
        }
      }
    } onCancel: {
      interrupt(CancellationError())
    }
  }

  /// The reading side.
  package final class Reader: Sendable {
    private let pipe: BodyPipe

    package init(_ pipe: BodyPipe) {
      self.pipe = pipe
    }

    deinit {
      pipe.abandon()
    }

    package func next() async throws -> Data? { try await pipe.next() }
    package func interrupt(_ error: any Error) { pipe.interrupt(error) }
    package var trailers: HTTPFields { pipe.trailers }
  }
}
