import Foundation

/// A body that takes its time, and may not come whole.
final class PacedBody: @unchecked Sendable {
  // Unchecked: used by one reader at a time, like any iterator; the body that it hands on can be read once.
  private var chunks: MessageBody.AsyncIterator
  private let pace: Pace
  private let fault: MockFault.Body?
  private let pieceSize: Int
  /// What of the source's last chunk has not been handed out.
  private var rest = Data()
  private var sent = 0
  private var chunkCount = 0
  /// What pauses and losses have cost so far.
  private var lag = Duration.zero

  private init(_ source: MessageBody, _ pace: Pace, _ fault: MockFault.Body?) {
    chunks = source.makeAsyncIterator()
    self.pace = pace
    self.fault = fault
    pieceSize = pace.pieceSize
  }

  /// The body as it comes over a wire.
  static func body(_ source: MessageBody, pace: Pace, fault: MockFault.Body?) -> MessageBody {
    let paced = PacedBody(source, pace, fault)
    return .relaying(source, length: fault == nil ? source.length : nil) { try await paced.next() }
  }

  private func next() async throws -> Data? {
    let left = fault.map { max(0, $0.bytes - sent) } ?? .max
    guard left > 0 else { return try await end() }
    if rest.isEmpty {
      guard let chunk = try await chunks.next() else { return try await end() }
      rest = chunk
      chunkCount += 1
      if chunkCount > 1, let pause = pace.pause { lag += pause.draw(from: pace.random) }
    }
    let piece = rest.prefix(min(left, pieceSize))
    rest = rest.dropFirst(piece.count)
    sent += piece.count
    try await waitForDueTime(of: piece.count)
    return piece
  }

  /// Waits until the bytes up to here have come.
  private func waitForDueTime(of count: Int) async throws {
    if let network = pace.network { lag += network.lostTime(of: Int64(count), pace.random) }
    let sending = pace.bytesPerSecond.map { Duration.ofSeconds(Double(sent) / $0) } ?? .zero
    try await pace.stopwatch.sleep(until: (pace.start + sending + lag).upToAYear)
  }

  private func end() async throws -> Data? {
    switch fault?.ending {
    case .error(let error)?: throw error
    case .stall?: try await Never.comes()
    case nil:
      if let end = pace.end { try await pace.stopwatch.sleep(until: end) }
      return nil
    }
  }
}

extension Never {
  /// Waits until the task is cancelled; nothing is left behind.
  static func comes() async throws -> Never {
    let promise = Promise<Void>()
    try await withTaskCancellationHandler {
      try await promise.value()
    } onCancel: {
      promise.settle(.failure(CancellationError()))
    }
    throw CancellationError()
  }
}
