/// The metadata keys of a log line, in addition to those of `LogKey`. They are stable: filter on them.
public enum HostLogKey {
  /// The host of the request.
  public static let host = "waylay.host"
  /// The dialed address and port.
  public static let address = "waylay.address"
  /// The source of the address.
  public static let source = "waylay.address.source"
  /// The outcome of the attempt.
  public static let outcome = "waylay.attempt.outcome"
}
