/// The keys of a log line's metadata beside those of `LogKey`. They are stable: filter on them.
public enum HostLogKey {
  /// The host of the request.
  public static let host = "waylay.host"
  /// The address and port that were dialled.
  public static let address = "waylay.address"
  /// Who named the address.
  public static let source = "waylay.address.source"
  /// What came of the attempt.
  public static let outcome = "waylay.attempt.outcome"
}
