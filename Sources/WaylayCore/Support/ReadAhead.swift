import Foundation

/// The beginning of a one-shot body, read before its reader comes: a short body then occupies no connection.
///
/// The task is owned: releasing the body, or cancelling its reader, cancels it.
private final class ReadAhead: Sendable {
  private let chunks: MessageBody.Chunks
  private let reading: Task<(data: Data, isWhole: Bool), any Error>
  /// Settled at the end of the reading, or of the wait for it.
  private let ended: Promise<Void>
  private let isDue: Locked<Bool>
  private let isTaken = Locked(false)

  init(_ chunks: MessageBody.Chunks) {
    let (ended, isDue) = (Promise<Void>(), Locked(false))
    (self.chunks, self.ended, self.isDue) = (chunks, ended, isDue)
    reading = Task {
      defer { ended.settle(.success(())) }
      var data = Data()
      while data.count < MessageBody.shortLength, !isDue.withLock({ $0 }) {
        guard let chunk = try await chunks.next() else { return (data, true) }
        data.append(chunk)
      }
      return (data, false)
    }
  }

  deinit { reading.cancel() }

  /// Waits for the end of the reading, for a second.
  func wait(on clock: TimerClock) async {
    clock.after(seconds: 1) { [ended, isDue] in
      isDue.withLock { $0 = true }
      ended.settle(.success(()))
    }
    try? await ended.valueUnlessCancelled(onCancel: reading.cancel)
  }

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
  /// The same body, whose beginning is read now, for at most a second: code of the app that decides about its response
  /// may need the connection.
  func readAhead(on clock: TimerClock) async -> MessageBody {
    guard let chunks = try? claim?.open() else { return self }
    let ahead = ReadAhead(chunks)
    await ahead.wait(on: clock)
    return .wrapping(self, length: length) { try await ahead.next() }
  }
}
