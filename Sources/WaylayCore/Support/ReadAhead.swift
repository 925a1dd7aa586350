import Foundation

/// The beginning of a one-shot body, read before its reader comes: a short body then occupies no connection.
///
/// The task is owned: releasing the body, or cancelling its reader, cancels it.
private final class ReadAhead: Sendable {
  private let chunks: MessageBody.Chunks
  private let reading: Task<(data: Data, isWhole: Bool), any Error>
  private let isWhole: Promise<Bool>
  private let isTaken = Locked(false)

  init(_ chunks: MessageBody.Chunks, upTo limit: Int, until isDue: Locked<Bool>) {
    let isWhole = Promise<Bool>()
    (self.chunks, self.isWhole) = (chunks, isWhole)
    reading = Task {
      defer { isWhole.settle(.success(true)) }
      var data = Data()
      while data.count < limit, !isDue.withLock({ $0 }) {
        guard let chunk = try await chunks.next() else { return (data, true) }
        data.append(chunk)
      }
      return (data, false)
    }
  }

  deinit { reading.cancel() }

  /// Stops waiting.
  func end() { isWhole.settle(.success(false)) }

  /// Waits for the end of the reading, or for ``end()``.
  func wait() async { _ = try? await isWhole.valueUnlessCancelled(onCancel: reading.cancel) }

  func next() async throws -> Data? {
    if isTaken.withLock({ exchange(&$0, with: true) }) { return try await chunks.next() }
    let (data, isWhole) = try await withTaskCancellationHandler {
      try await reading.value
    } onCancel: {
      reading.cancel()
    }
    return data.isEmpty ? isWhole ? nil : try await chunks.next() : data
  }
}

extension MessageBody {
  /// The same body, of which up to 64 KiB are read now, for at most a second: code of the app that decides about its
  /// response may need the connection.
  func readAhead(on clock: TimerClock) async -> MessageBody {
    guard let chunks = try? claim?.open() else { return self }
    let isDue = Locked(false)
    let ahead = ReadAhead(chunks, upTo: 64 * 1024, until: isDue)
    clock.schedule(clock.now().saturating(adding: 1_000_000_000)) { [weak ahead] in
      isDue.withLock { $0 = true }
      ahead?.end()
    }
    await ahead.wait()
    return .relaying(self, length: length) { try await ahead.next() }
  }
}
