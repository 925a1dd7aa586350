/// The candidates of a request in the order of the attempts.
///
/// Proven addresses by measured time, then untried ones, then those that lost a race, then banned ones, oldest failure
/// first. Within each group the address families alternate (RFC 8305, section 4).
struct Ranking: Sendable {
  struct Entry: Sendable, Hashable {
    let candidate: HostCandidate
    let record: AddressRecord
    let ban: AddressBan?
  }

  /// In the order of the attempts.
  let entries: [Entry]

  /// Ranks candidates; equal ones keep their order.
  init(_ candidates: [HostCandidate], records: [AddressRecord], at now: Duration) {
    let entries = zip(candidates, records).map { Entry(candidate: $0, record: $1, ban: $1.ban(at: now)) }
    guard entries.count > 1 else {
      self.entries = entries
      return
    }
    let groups = Dictionary(grouping: entries, by: \.group)
    self.entries = groups.keys.sorted().flatMap { group in
      Self.interleaved((groups[group] ?? []).sorted { $0.order < $1.order })
    }
  }

  /// Alternates the address families, beginning with that of the first entry.
  private static func interleaved(_ entries: [Entry]) -> [Entry] {
    guard let first = entries.first?.candidate.address.isIPv6 else { return [] }
    let ours = entries.filter { $0.candidate.address.isIPv6 == first }
    let others = entries.filter { $0.candidate.address.isIPv6 != first }
    guard !others.isEmpty else { return entries }
    return (0..<max(ours.count, others.count)).flatMap { index in
      [ours, others].compactMap { $0.indices.contains(index) ? $0[index] : nil }
    }
  }
}

extension Ranking.Entry {
  fileprivate var group: Int {
    if ban != nil { return 3 }
    if record.isProven { return record.isLate ? 1 : 0 }
    return record.timesSuperseded == 0 && record.failures == 0 ? 1 : 2
  }

  fileprivate var order: Duration {
    switch group {
    case 0: record.smoothed ?? .zero
    case 1: .zero
    default: record.lastUse
    }
  }

  /// The record as human-readable text.
  var state: String {
    if let ban { return "banned: \(ban.cause)" }
    if record.isProven { return "proven" }
    if record.failures > 0 { return "failed before" }
    return record.timesSuperseded > 0 ? "superseded before" : "untried"
  }
}
