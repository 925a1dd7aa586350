/// A lifetime that a rule of the app's gives, beside what the response says.
package enum LifetimeOverride: Hashable, Sendable {
  /// Seconds for a response that says nothing of its own: in place of the heuristic of RFC 9111, section 4.2.2.
  case absent(Int64)
  /// Seconds whatever the response says: also in place of `no-store`, `no-cache`, `private` and `must-revalidate`.
  case forced(Int64)
}
