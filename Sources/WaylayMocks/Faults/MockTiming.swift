import Foundation

/// When the parts of an answer come.
struct MockTiming: Sendable {
  /// From the request to the first byte of the answer.
  var firstByte: MockDelay?
  /// From the request to the last byte.
  var total: MockDelay?
  /// Bytes of the body per second.
  var bandwidth: Double?
  /// Between the chunks of a stream.
  var pause: MockDelay?
  var network: MockNetwork?

  /// Whether everything comes at once.
  var isImmediate: Bool { firstByte == nil && !pacesBody && network == nil }

  /// Whether the body takes a time of its own.
  var pacesBody: Bool { total != nil || bandwidth != nil || pause != nil || network != nil }

  /// Whether no answer ever comes.
  var losesEverything: Bool { network.map { $0.loss >= 1 } ?? false }

  /// Waits until the first byte is due.
  func waitForFirstByte(_ stopwatch: Stopwatch, sending bytes: Int64, _ random: MockRandom) async throws {
    var time = firstByte?.draw(from: random) ?? .zero
    if let network { time += network.timeToFirstByte(sending: bytes, random) }
    try await stopwatch.sleep(until: time)
  }

  /// The times of one body; `length` is its number of bytes, where it is known.
  func pace(_ stopwatch: Stopwatch, length: Int64?, _ random: MockRandom) -> Pace {
    let start = stopwatch.elapsed()
    let end = total?.draw(from: random)
    var rates = [bandwidth, network?.downstream].compactMap { $0 }
    if let end, let length, length > 0, end > start { rates.append(Double(length) / (end - start).inSeconds) }
    return Pace(
      stopwatch: stopwatch, start: start, end: end, bytesPerSecond: rates.min(), pause: pause, network: network,
      random: random)
  }
}

/// When the bytes of one body are due.
struct Pace: Sendable {
  let stopwatch: Stopwatch
  /// When the head was there.
  let start: Duration
  /// When the body ends, at the earliest.
  let end: Duration?
  let bytesPerSecond: Double?
  let pause: MockDelay?
  let network: MockNetwork?
  let random: MockRandom

  /// How many bytes come at once: what fits into 50 ms, so that a body trickles as it does on a wire.
  var pieceSize: Int {
    guard let bytesPerSecond else { return .max }
    return Int(min(max(bytesPerSecond / 20, 1), 65_536))
  }
}
