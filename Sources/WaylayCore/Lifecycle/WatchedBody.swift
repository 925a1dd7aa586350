import Foundation

/// The body of a load's last response: its end is the load's end, and so is its loss.
///
/// The load's timeouts run while somebody waits for the next chunk. Errors are those that the app sees.
final class WatchedBody: Sendable {
  private let load: Load
  private let response: InterceptedResponse
  /// Whether whoever reads runs in the load's own task, which a timeout cancels. Otherwise the reading itself is
  /// interrupted.
  private let isOwnTask: Bool
  private let reading: Reading
  private let interruption = Interruptible<Data?>()

  /// Unchecked: used by one reader at a time, like any iterator; `MessageBody.Source` sees to it that there is only
  /// one.
  private final class Reading: @unchecked Sendable {
    private var chunks: MessageBody.AsyncIterator

    init(_ body: MessageBody) {
      chunks = body.makeAsyncIterator()
    }

    func next() async throws -> Data? { try await chunks.next() }
  }

  init(_ response: InterceptedResponse, _ load: Load, isOwnTask: Bool) {
    self.response = response
    self.load = load
    self.isOwnTask = isOwnTask
    reading = Reading(response.body)
    load.state.withLock { $0.hasAnswered = true }
    load.setWaiting(false)
  }

  deinit {
    // Counts only when the body was not read to its end: then whoever had it has dropped it.
    load.end(error: URLError(.cancelled))
  }

  func next() async throws -> Data? {
    load.setWaiting(true)
    defer { load.setWaiting(false) }
    do {
      let chunk = try await pull()
      if chunk == nil { load.end(response) }
      return chunk
    } catch {
      let failure = load.urlError(for: error)
      load.end(error: failure)
      throw failure
    }
  }

  private func pull() async throws -> Data? {
    guard isOwnTask else { return try await interruption.run { [reading] in try await reading.next() } }
    try Task.checkCancellation()
    return try await reading.next()
  }

  func interrupt(_ error: any Error) {
    interruption.interrupt(error)
  }

  /// The body that a reader of a direct load gets.
  var body: MessageBody {
    .relaying(response.body, length: response.body.length) { try await self.next() }
  }
}
