#if !Cryptography
  /// Nothing: rules that can end are of signed lists.
  enum SignedHostList {}
#endif

extension SignedHostList {
  /// What holds when the last good list has expired and no newer one has come.
  public struct ExpiryPolicy: Hashable, Sendable, CustomStringConvertible {
    /// The policy's name.
    public let description: String

    /// Its rules stay in force.
    public static let keep = ExpiryPolicy(description: "keep")
    /// Its rules are dropped: hosts are left to the system.
    public static let drop = ExpiryPolicy(description: "drop")
    /// Requests to the hosts that it routes fail.
    public static let fail = ExpiryPolicy(description: "fail")
  }
}
