/// What is known of one address of one host.
package struct AddressRecord: Sendable, Hashable {
  /// The measured time to connect and agree on TLS, smoothed (an exponentially weighted moving average).
  package private(set) var smoothed: Duration?
  /// Whether it has answered before, and nothing has spoken against it since.
  package private(set) var isProven = false
  /// Whether a request has found it late since, and nobody knows yet whose fault that is.
  package private(set) var isLate = false
  /// Failures since it answered last.
  package private(set) var failures = 0
  /// How often another address was connected first, since it answered last.
  package private(set) var overtakings = 0
  /// When it was last used, or failed.
  package private(set) var lastUse: Duration = .zero
  /// When it failed last.
  package private(set) var lastFailure: Duration?
  /// The ban, which may be over.
  package private(set) var ban: AddressBan?

  /// The ban, if it is in force.
  package func ban(at now: Duration) -> AddressBan? {
    ban.flatMap { $0.until > now ? $0 : nil }
  }

  mutating func answered(in time: Duration?, at now: Duration) {
    isProven = true
    isLate = false
    failures = 0
    overtakings = 0
    ban = nil
    lastUse = now
    if let time { note(time) }
  }

  /// Another was first; this one has taken at least `time` so far.
  mutating func overtaken(after time: Duration, at now: Duration) {
    lastUse = now
    overtakings += 1
    if let smoothed, time > smoothed { note(time) }
  }

  /// It was not connected in its time.
  mutating func late() {
    isLate = true
  }

  mutating func failed(_ ban: AddressBan?, at now: Duration) {
    lastUse = now
    lastFailure = now
    isProven = false
    failures += 1
    if let ban { self.ban = ban }
  }

  mutating func networkChanged() {
    self = AddressRecord()
  }

  /// A new measurement counts for three tenths: a handful of them replace what was known.
  private mutating func note(_ time: Duration) {
    smoothed = smoothed.map { $0 * 7 / 10 + time * 3 / 10 } ?? time
  }
}
