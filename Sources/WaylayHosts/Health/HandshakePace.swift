/// How long it takes to connect and agree on TLS in this network, over all addresses: what deadlines follow.
///
/// Mean and mean deviation as TCP estimates round trips (RFC 6298, section 2), so that a slow network gets long
/// deadlines and bans nobody.
package struct HandshakePace: Sendable, Hashable {
  private var mean: Duration?
  private var deviation: Duration = .zero

  /// Makes a pace that has measured nothing.
  package init() {}

  /// Adds a measurement.
  package mutating func add(_ time: Duration) {
    guard let mean else {
      (self.mean, deviation) = (time, time / 2)
      return
    }
    let difference = time > mean ? time - mean : mean - time
    deviation = deviation * 3 / 4 + difference / 4
    self.mean = mean * 7 / 8 + time / 8
  }

  /// How long to wait for an address before it counts as late.
  ///
  /// - Parameter own: What was measured of the address itself.
  package func deadline(own: Duration?, limits: HostRewriter.Policy.Deadlines) -> Duration {
    guard let mean else { return limits.initial }
    let wanted = max(mean * 2 + deviation * 4, (own ?? .zero) * 4)
    return min(max(wanted, limits.minimum), limits.maximum)
  }
}
