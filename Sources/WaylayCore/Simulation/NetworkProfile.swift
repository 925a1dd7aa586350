import Foundation

/// The simulated conditions of a network: latency, bandwidth and packet loss.
///
/// Mocks simulate a network with a profile, and `NetworkConditions` slows live traffic down with one:
///
/// ```swift
/// Stub(.get, "/photo.jpg", .file(photo).network(.threeG))
/// ```
///
/// The model: the first byte arrives after the upstream latency, the time to send the request's body, and the
/// downstream latency; the body arrives at the downstream bandwidth. A lost packet (of 1460 bytes) is sent again after
/// a retransmission timeout of two round trips but at least 200 ms (compare RFC 6298, section 2.4); if every packet is
/// lost, no response arrives. Connections count as open, so DNS, TCP and TLS cost nothing: add a `delay(_:)` for a
/// first contact. The request body itself is not slowed down, only the response to it.
///
/// The values for 3G are those of Apple's Network Link Conditioner.
public struct NetworkProfile: Sendable, Hashable, CustomStringConvertible, Changeable {
  /// The network's name.
  public let description: String
  /// The latency of a packet, each way.
  public var latency: Duration
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
    self.latency = latency
    self.downstream = downstream
    self.upstream = upstream ?? downstream
    self.loss = loss
  }

  /// 3G: 780 kbit/s down, 330 up, 100 ms each way.
  public static let threeG = NetworkProfile("3G", latency: .milliseconds(100), downstream: 97_500, upstream: 41_250)

  /// The same network with the given fraction of packets lost, from 0 to 1.
  public func loss(_ part: Double) -> NetworkProfile { with { $0.loss = part } }

  /// Why the profile is invalid; `nil` if it is valid.
  package var defect: String? {
    guard latency >= .zero else { return "the network \(description) has a latency below zero." }
    if let mistake = Self.bandwidthDefect(downstream) ?? Self.bandwidthDefect(upstream) { return mistake }
    guard (0...1).contains(loss) else {
      return "the network \(description) loses \(loss) of its packets: use a fraction from 0 to 1."
    }
    return nil
  }

  package static func bandwidthDefect(_ bytesPerSecond: Double) -> String? {
    guard !(bytesPerSecond.isFinite && bytesPerSecond > 0) else { return nil }
    return "a bandwidth of \(bytesPerSecond) bytes per second is invalid: use a positive number."
  }

  /// Waits until the first byte of the response to a request would arrive; if every packet is lost, until the task is
  /// cancelled.
  ///
  /// - Parameters:
  ///   - request: The request; the upload of its body takes time.
  ///   - clock: The clock for the wait.
  public func waitForFirstByte(
    of request: InterceptedRequest, clock: any Clock<Duration> = ContinuousClock()
  ) async throws {
    guard loss < 1 else { try await Never.comes() }
    let random = SeededRandom(seed: .random(in: .min ... .max))
    try await Stopwatch(clock).sleep(until: timeToFirstByte(sending: request.body.length ?? 0, random))
  }

  /// The time from sending a request with a body of `bytes` to the first byte of its response.
  package func timeToFirstByte(sending bytes: Int64, _ random: SeededRandom) -> Duration {
    let sending = Duration.ofSeconds(Double(max(0, bytes)) / upstream)
    let lost = lostTime(of: bytes.addingReportingOverflow(Self.segment).partialValue, random)
    return (latency.upToAYear * 2 + sending + lost).upToAYear
  }

  /// The delay that losses add to a transfer.
  func lostTime(of bytes: Int64, _ random: SeededRandom) -> Duration {
    guard loss > 0, loss < 1, bytes > 0 else { return .zero }
    let segments = (bytes - 1) / Self.segment + 1
    // For more packets, the average is as good as a random draw.
    guard segments <= 1000 else {
      return .ofSeconds(retransmissionTimeout.inSeconds * (Double(segments) * loss).rounded())
    }
    return retransmissionTimeout * (0..<segments).count { _ in random.unit() < loss }
  }

  private var retransmissionTimeout: Duration {
    max(.milliseconds(200), latency.upToAYear * 4)
  }

  /// The bytes of a full packet on Ethernet (RFC 6691).
  private static let segment: Int64 = 1460
}
