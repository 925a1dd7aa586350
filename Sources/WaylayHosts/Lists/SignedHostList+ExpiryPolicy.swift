#if !Cryptography
  /// Nothing: rules that can end are of signed lists.
  enum SignedHostList {}
#endif

extension SignedHostList {
  /// What happens if the last good list has expired and no newer one has arrived.
  public struct ExpiryPolicy: Hashable, Sendable, CustomStringConvertible {
    /// The policy's name.
    public let description: String

    /// Its rules stay in force.
    public static let keep = ExpiryPolicy(description: "keep")
    /// Its rules are dropped: the system handles the hosts.
    public static let drop = ExpiryPolicy(description: "drop")
    /// Requests to the hosts that it routes fail.
    public static let fail = ExpiryPolicy(description: "fail")
  }
}
