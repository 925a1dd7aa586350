import Foundation

/// The simulated conditions of a network: latency, bandwidth and packet loss.
///
/// ```swift
/// Stub(.get, "/photo.jpg") { .file(photo).network(.threeG) }
/// ```
///
/// The model: the first byte arrives after the upstream latency, the time to send the request's body, and the
/// downstream latency; the body arrives at the downstream bandwidth. A lost packet (of 1460 bytes) is sent again after
/// a retransmission timeout of two round trips but at least 200 ms (compare RFC 6298, section 2.4); if every packet is
/// lost, no response arrives. Connections count as open, so DNS, TCP and TLS cost nothing: add a `delay(_:)` for a
/// first contact. The request body itself is not slowed down, only the response to it.
///
/// The values for 2G are those of "Regular 2G" in Firefox's developer tools, the others those of Apple's Network Link
/// Conditioner.
public struct MockNetwork: Sendable, Hashable, CustomStringConvertible {
  /// The network's name.
  public let description: String
  /// The latency of a packet to the server.
  public var latencyUp: Duration
  /// The latency of a packet from the server.
  public var latencyDown: Duration
  /// Bytes per second to the server.
  public var upstream: Double
  /// Bytes per second from the server.
  public var downstream: Double
  /// The fraction of packets that are lost, from 0 to 1.
  public var loss: Double

  /// Makes a network.
  ///
  /// - Parameters:
  ///   - name: Its name.
  ///   - latency: The latency of a packet, each way.
  ///   - downstream: Bytes per second from the server.
  ///   - upstream: Bytes per second to the server; the same as downstream by default.
  ///   - loss: The fraction of packets that are lost, from 0 to 1.
  public init(
    _ name: String = "custom", latency: Duration, downstream: Double, upstream: Double? = nil, loss: Double = 0
  ) {
    description = name
    latencyUp = latency
    latencyDown = latency
    self.downstream = downstream
    self.upstream = upstream ?? downstream
    self.loss = loss
  }

  private init(
    _ name: String, down: (kilobits: Double, milliseconds: Int), up: (kilobits: Double, milliseconds: Int),
    loss: Double = 0
  ) {
    description = name
    latencyUp = .milliseconds(up.milliseconds)
    latencyDown = .milliseconds(down.milliseconds)
    downstream = down.kilobits * 1000 / 8
    upstream = up.kilobits * 1000 / 8
    self.loss = loss
  }

  /// 2G: 250 kbit/s down, 50 up, 150 ms each way.
  public static let twoG = MockNetwork("2G", down: (250, 150), up: (50, 150))
  /// EDGE: 240 kbit/s down, 200 up, 400 and 440 ms.
  public static let edge = MockNetwork("EDGE", down: (240, 400), up: (200, 440))
  /// 3G: 780 kbit/s down, 330 up, 100 ms each way.
  public static let threeG = MockNetwork("3G", down: (780, 100), up: (330, 100))
  /// LTE: 50 Mbit/s down, 10 up, 50 and 65 ms.
  public static let lte = MockNetwork("LTE", down: (50_000, 50), up: (10_000, 65))
  /// DSL: 2 Mbit/s down, 256 kbit/s up, 5 ms each way.
  public static let dsl = MockNetwork("DSL", down: (2_000, 5), up: (256, 5))
  /// Wi-Fi: 40 Mbit/s down, 33 up, 1 ms each way.
  public static let wifi = MockNetwork("Wi-Fi", down: (40_000, 1), up: (33_000, 1))
  /// A network at the edge of coverage: 1 Mbit/s and 500 ms each way, with every tenth packet lost.
  public static let veryBad = MockNetwork("very bad", down: (1_000, 500), up: (1_000, 500), loss: 0.1)

  /// The same network with the given fraction of packets lost, from 0 to 1.
  public func loss(_ part: Double) -> MockNetwork {
    var copy = self
    copy.loss = part
    return copy
  }

  /// What is wrong with it, if anything is.
  var defect: MockError? {
    guard latencyUp >= .zero, latencyDown >= .zero else {
      return MockError(.invalidTiming, "the network \(description) has a latency below zero.")
    }
    if let mistake = Self.bandwidthDefect(downstream) ?? Self.bandwidthDefect(upstream) { return mistake }
    guard (0...1).contains(loss) else {
      return MockError(
        .invalidTiming, "the network \(description) loses \(loss) of its packets: use a fraction from 0 to 1.")
    }
    return nil
  }

  static func bandwidthDefect(_ bytesPerSecond: Double) -> MockError? {
    guard !(bytesPerSecond.isFinite && bytesPerSecond > 0) else { return nil }
    return MockError(
      .invalidTiming, "a bandwidth of \(bytesPerSecond) bytes per second is invalid: use a positive number.")
  }

  /// From sending a request with a body of so many bytes to the first byte of its answer.
  func timeToFirstByte(sending bytes: Int64, _ random: MockRandom) -> Duration {
    let sending = Duration.ofSeconds(Double(max(0, bytes)) / upstream)
    let lost = lostTime(of: bytes.addingReportingOverflow(Self.segment).partialValue, random)
    return (latencyUp.upToAYear + latencyDown.upToAYear + sending + lost).upToAYear
  }

  /// What losses add to the time of so many bytes.
  func lostTime(of bytes: Int64, _ random: MockRandom) -> Duration {
    guard loss > 0, loss < 1, bytes > 0 else { return .zero }
    let segments = (bytes - 1) / Self.segment + 1
    // Beyond that, the average is as good as the draw.
    guard segments <= 1000 else {
      return .ofSeconds(retransmissionTimeout.inSeconds * (Double(segments) * loss).rounded())
    }
    return retransmissionTimeout * (0..<segments).count { _ in random.unit() < loss }
  }

  private var retransmissionTimeout: Duration {
    max(.milliseconds(200), (latencyUp.upToAYear + latencyDown.upToAYear) * 2)
  }

  /// The bytes of a full packet on Ethernet (RFC 6691).
  private static let segment: Int64 = 1460
}
