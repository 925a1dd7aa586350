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
  /// .file(video).delay(.milliseconds(200)).total(.seconds(5))
  /// ```
  public func total(_ duration: Duration) -> MockResponse {
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
      copy.note(MockNetwork.bandwidthDefect(bytesPerSecond))
      copy.timing.bandwidth = bytesPerSecond
    }
  }

  /// The same response over a network with its latency, bandwidth and packet loss.
  public func network(_ network: MockNetwork) -> MockResponse {
    with { copy in
      copy.note(network.defect)
      copy.timing.network = network
    }
  }
}

extension Duration {
  /// What is wrong with it as a delay, if anything is.
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
  var network: MockNetwork?

  /// Whether everything comes at once.
  var isImmediate: Bool { firstByte == nil && !pacesBody && network == nil }

  /// Whether the body takes a time of its own.
  var pacesBody: Bool { total != nil || bandwidth != nil || pause != nil || network != nil }

  /// Whether no response ever arrives.
  var losesEverything: Bool { network.map { $0.loss >= 1 } ?? false }

  /// Waits until the first byte is due.
  func waitForFirstByte(_ stopwatch: Stopwatch, sending bytes: Int64, _ random: MockRandom) async throws {
    var time = firstByte?.upToAYear ?? .zero
    if let network { time += network.timeToFirstByte(sending: bytes, random) }
    try await stopwatch.sleep(until: time)
  }

  /// The times of one body; `length` is its number of bytes, where it is known.
  func pace(_ stopwatch: Stopwatch, length: Int64?, _ random: MockRandom) -> Pace {
    let start = stopwatch.elapsed()
    let end = total?.upToAYear
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
  let pause: Duration?
  let network: MockNetwork?
  let random: MockRandom

  /// How many bytes come at once: what fits into 50 ms, so that a body trickles as it does on a wire.
  var pieceSize: Int {
    guard let bytesPerSecond else { return .max }
    return Int(min(max(bytesPerSecond / 20, 1), 65_536))
  }
}

extension Duration {
  private static var year: Duration { .seconds(365 * 24 * 60 * 60) }

  /// The duration, or a year: longer ones overflow in the clocks of the system.
  var upToAYear: Duration { min(self, Self.year) }

  var inSeconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) * 1e-18
  }

  /// A duration of so many seconds; not a number, and more than a year, count as a year.
  static func ofSeconds(_ seconds: Double) -> Duration {
    guard seconds < year.inSeconds else { return year }
    return .seconds(max(0, seconds))
  }
}

/// A body that arrives over time, and may be incomplete.
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
      if chunkCount > 1, let pause = pace.pause { lag += pause.upToAYear }
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

/// The time since a response began, on any clock.
struct Stopwatch: Sendable {
  /// The time that has passed.
  let elapsed: @Sendable () -> Duration
  private let wait: @Sendable (Duration) async throws -> Void

  /// Starts.
  init(_ clock: any Clock<Duration>) {
    self.init(opening: clock)
  }

  private init<C: Clock<Duration>>(opening clock: C) {
    let start = clock.now
    elapsed = { start.duration(to: clock.now) }
    wait = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
  }

  /// Waits until so much time has passed since the start, if it has not yet.
  func sleep(until offset: Duration) async throws {
    try Task.checkCancellation()
    guard offset > elapsed() else { return }
    try await wait(offset)
  }
}
