/// Where an archive takes its responses from. You can set a mode for the whole archive (``ArchiveCache/mode``), for
/// some hosts or paths (``ArchiveCache/setMode(_:for:named:)``), or for one request
/// (`request.archiveMode`, ``ArchiveCache/Configuration/modeFor``); the more specific one wins.
///
/// | mode | stored response | network |
/// |---|---|---|
/// | ``online`` | as RFC 9111 allows | for everything else |
/// | ``preferArchive`` | at any age | for cache misses, and if the request asks for it |
/// | ``offline`` | at any age | never |
/// | ``record`` | never | always; everything is stored |
/// | ``replayOnly`` | at any age | never |
public enum ArchiveMode: String, Hashable, Sendable, CaseIterable {
  /// A private HTTP cache that follows RFC 9111 to the letter.
  case online
  /// A stored response of any age; the network for a cache miss, and for a request that asks for a fresh response by
  /// its cache policy or by `Cache-Control: no-cache`.
  case preferArchive
  /// A stored response of any age, whatever the request asks for; a cache miss is an error.
  case offline
  /// Every request goes to the network and every response is stored, even with `no-store`. For fixtures, not for an
  /// app.
  case record
  /// Only what ``record`` has stored: a cache miss is an error, and responses are not marked as stale.
  case replayOnly

  /// Makes the mode with the given name, for example from an app's settings; `nil` for any other text.
  public init?(rawValue: String) {
    guard let mode = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
    self = mode
  }
}
