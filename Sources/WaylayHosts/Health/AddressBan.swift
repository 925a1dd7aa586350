/// Why and for how long an address is tried only when everything else has failed.
package struct AddressBan: Sendable, Hashable {
  /// What it did.
  package let cause: HostAttempt.Outcome
  /// When the ban ends, by the clock of the health book.
  package let until: Duration

  /// Whether it also ends with the network.
  package var isSuspectedHijack: Bool { cause.isSuspectedHijack }
}
