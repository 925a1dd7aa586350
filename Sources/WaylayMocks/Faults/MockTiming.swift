import Foundation

extension MockResponse {
  /// The same response after a delay, which is the time to the first byte.
  ///
  /// Closures compute their response when the request arrives, before the delay. Delays use the mock's clock, so that a
  /// test with a ``MockClock`` takes no time. A negative delay fails the load with `MockError.invalidTiming`;
  /// delays are capped at a year.
  public func delay(_ duration: Duration) -> MockResponse {
    with { copy in
      copy.note(duration.delayDefect)
      copy.timing.firstByte = duration == .zero ? nil : duration
    }
  }

  /// The same response with its last byte at the given time after the request; the body arrives evenly from the first
  /// byte on.
  ///
  /// ```swift
  /// .file(video).delay(.milliseconds(200)).duration(.seconds(5))
  /// ```
  public func duration(_ duration: Duration) -> MockResponse {
    with { copy in
      copy.note(duration.delayDefect)
      copy.timing.total = duration == .zero ? nil : duration
    }
  }

  /// The same response with the given number of body bytes per second.
  ///
  /// - Parameter bytesPerSecond: A positive number; any other fails the load with `MockError.invalidTiming`.
  public func bandwidth(bytesPerSecond: Double) -> MockResponse {
    with { copy in
      copy.note(NetworkProfile.bandwidthDefect(bytesPerSecond).map { MockError(.invalidTiming, $0) })
      copy.timing.bandwidth = bytesPerSecond
    }
  }

  /// The same response over a network with its latency, bandwidth and packet loss.
  public func network(_ network: NetworkProfile) -> MockResponse {
    with { copy in
      copy.note(network.defect.map { MockError(.invalidTiming, $0) })
      copy.timing.network = network
    }
  }
}

extension MockResponse {
  /// Positions at which a body is split into pieces, independent of the body's chunks.
  public struct Chunking: Sendable, Hashable {
    private let positions: [Int]?

    /// After each byte: a parser that gets this right gets every other cut right.
    public static let everyByte = Chunking(positions: nil)
    /// After the given numbers of bytes.
    public static func at(_ positions: Int...) -> Chunking { Chunking(positions: positions.sorted()) }

    /// The maximum length of the piece that begins at offset `count`.
    func length(after count: Int) -> Int {
      guard let positions else { return 1 }
      return positions.first { $0 > count }.map { $0 - count } ?? .max
    }
  }

  /// The same response with its body in smaller pieces, to test a parser of streams.
  ///
  /// ```swift
  /// Stub(.get, "/prices", .events([.init("41"), .init("42")]).chunking(.everyByte))
  /// ```
  ///
  /// A data delegate and direct loads receive the pieces one by one, `data(for:)` all of them at once.
  public func chunking(_ chunking: Chunking) -> MockResponse { with { $0.timing.chunking = chunking } }
}

extension Duration {
  /// The error for an invalid delay, if any.
  var delayDefect: MockError? {
    guard self < .zero else { return nil }
    return MockError(.invalidTiming, "a delay of \(self) is below zero: use .zero or more.")
  }
}

/// When the parts of a response arrive.
struct MockTiming: Sendable {
  /// From the request to the first byte of the response.
  var firstByte: Duration?
  /// From the request to the last byte.
  var total: Duration?
  /// Bytes of the body per second.
  var bandwidth: Double?
  /// Between the chunks of a stream.
  var pause: Duration?
  /// From the request to each chunk of a stream.
  var schedule: [Duration] = []
  /// The positions at which chunks are split.
  var chunking: MockResponse.Chunking?
  var network: NetworkProfile?

  /// Whether nothing delays the response.
  var isImmediate: Bool { firstByte == nil && !pacesBody && network == nil }

  /// Whether the body is delayed separately from the head.
  var pacesBody: Bool {
    total != nil || bandwidth != nil || pause != nil || network != nil || !schedule.isEmpty || chunking != nil
  }

  /// Whether no response ever arrives.
  var losesEverything: Bool { network.map { $0.loss >= 1 } ?? false }

  /// Waits until the first byte is due.
  func waitForFirstByte(_ stopwatch: Stopwatch, sending bytes: Int64, _ random: SeededRandom) async throws {
    var time = firstByte?.upToAYear ?? .zero
    if let network { time += network.timeToFirstByte(sending: bytes, random) }
    try await stopwatch.sleep(until: time)
  }

  /// The schedule of one body; `length` is its number of bytes, if known.
  func pace(_ stopwatch: Stopwatch, length: Int64?, _ random: SeededRandom) -> Pace {
    let start = stopwatch.elapsed()
    let end = total?.upToAYear
    var rates = [bandwidth, network?.downstream].compactMap { $0 }
    if let end, let length, length > 0, end > start { rates.append(Double(length) / (end - start).inSeconds) }
    let border = chunking.map { chunking -> @Sendable (Int) -> Int in { chunking.length(after: $0) } }
    return Pace(
      stopwatch: stopwatch, start: start, end: end, bytesPerSecond: rates.min(), pause: pause, schedule: schedule,
      cut: border, network: network, random: random)
  }
}
