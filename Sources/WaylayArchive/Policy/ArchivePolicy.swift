/// The rules of an HTTP cache (RFC 9111, 5861, 8246) as a value: it keeps nothing, waits for nothing and touches no
/// file.
package struct ArchivePolicy: Sendable {
  /// Whether several users share the archive: `s-maxage`, `proxy-revalidate`, `private` and `Authorization` then count.
  package var isShared = false
  /// The part of the time since `Last-Modified` for which a response without a lifetime stays fresh (section 4.2.2).
  package var heuristicFraction = 0.1
  /// The longest lifetime that is guessed, in seconds.
  package var heuristicLimit: Int64 = 7 * 86_400
  /// Whether a stale response is given when the origin cannot be reached (section 4.2.4). `must-revalidate` and the
  /// like go first.
  package var staleWhenUnreachable = true
  /// How many responses are kept for one URL.
  package var maximumVariants = 16
  /// Makes a keyed digest of request field values.
  package var digest: @Sendable ([UInt8]) -> [UInt8]

  package init(digest: @escaping @Sendable ([UInt8]) -> [UInt8]) {
    self.digest = digest
  }
}
