import Foundation

extension MessageBody {
  /// The same body, paced by a network and ended by a fault; it can be read once.
  ///
  /// - Parameters:
  ///   - network: The network that paces the body; `nil` for no delay.
  ///   - fault: The fault that ends the body.
  ///   - request: The request that the body responds to.
  ///   - clock: The clock for the waits.
  public func arriving(
    over network: NetworkProfile?, failing fault: NetworkFault? = nil, for request: InterceptedRequest,
    clock: any Clock<Duration> = ContinuousClock()
  ) -> MessageBody {
    let pace = Pace(
      stopwatch: Stopwatch(clock), start: .zero, bytesPerSecond: network?.downstream, network: network,
      random: SeededRandom(seed: .random(in: .min ... .max)))
    return PacedBody.body(self, pace: pace, fault: fault?.body(for: request))
  }
}

/// The schedule for the bytes of a body.
package struct Pace: Sendable {
  let stopwatch: Stopwatch
  /// When the head arrived.
  let start: Duration
  /// The earliest end of the body.
  let end: Duration?
  let bytesPerSecond: Double?
  let pause: Duration?
  /// When each chunk arrives, from the start of the stopwatch.
  let schedule: [Duration]
  /// The maximum size of the piece that begins at an offset.
  let cut: (@Sendable (Int) -> Int)?
  let network: NetworkProfile?
  let random: SeededRandom

  package init(
    stopwatch: Stopwatch, start: Duration, end: Duration? = nil, bytesPerSecond: Double?, pause: Duration? = nil,
    schedule: [Duration] = [], cut: (@Sendable (Int) -> Int)? = nil, network: NetworkProfile?, random: SeededRandom
  ) {
    (self.schedule, self.cut) = (schedule, cut)
    (self.stopwatch, self.start, self.end, self.bytesPerSecond) = (stopwatch, start, end, bytesPerSecond)
    (self.pause, self.network, self.random) = (pause, network, random)
  }

  /// The bytes per piece: those of 50 ms, so that a body trickles as on a real connection.
  var pieceSize: Int {
    guard let bytesPerSecond else { return .max }
    return Int(min(max(bytesPerSecond / 20, 1), 65_536))
  }
}

/// A body that arrives over time, and may be incomplete.
package final class PacedBody: @unchecked Sendable {
  // Unchecked: used by one reader at a time, like any iterator; the resulting body can be read once.
  private var chunks: MessageBody.AsyncIterator
  private let pace: Pace
  private let fault: NetworkFault.Body?
  private let pieceSize: Int
  /// The unread part of the source's last chunk.
  private var rest = Data()
  private var sent = 0
  private var chunkCount = 0
  /// The delay due to pauses and losses so far.
  private var lag = Duration.zero

  private init(_ source: MessageBody, _ pace: Pace, _ fault: NetworkFault.Body?) {
    chunks = source.makeAsyncIterator()
    self.pace = pace
    self.fault = fault
    pieceSize = pace.pieceSize
  }

  /// Makes the paced body.
  package static func body(_ source: MessageBody, pace: Pace, fault: NetworkFault.Body?) -> MessageBody {
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
      if chunkCount > 1, let pause = pace.pause { lag += pause.upToAYear }
    }
    let piece = rest.prefix(min(left, pieceSize, pace.cut?(sent) ?? .max))
    rest = rest.dropFirst(piece.count)
    sent += piece.count
    try await waitForDueTime(of: piece.count)
    return piece
  }

  /// Waits until the bytes up to `count` are due.
  private func waitForDueTime(of count: Int) async throws {
    if let network = pace.network { lag += network.lostTime(of: Int64(count), pace.random) }
    let sending = pace.bytesPerSecond.map { Duration.ofSeconds(Double(sent) / $0) } ?? .zero
    let due = pace.schedule.isEmpty ? .zero : pace.schedule[min(chunkCount, pace.schedule.count) - 1]
    try await pace.stopwatch.sleep(until: max(pace.start + sending + lag, due).upToAYear)
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
