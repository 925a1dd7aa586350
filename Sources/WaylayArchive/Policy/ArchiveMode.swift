/// Where an archive takes its answers from: for the whole archive (``ArchiveCache/mode``), for some hosts or paths
/// (``ArchiveCache/setMode(_:for:named:)``), or for one request (``ArchiveModeKey``,
/// ``ArchiveCache/Configuration/modeFor``); the narrower one counts.
///
/// | mode | a stored answer | the network |
/// |---|---|---|
/// | ``online`` | as RFC 9111 allows | for everything else |
/// | ``preferArchive`` | whatever its age | for what is not stored, and where the request asks for it |
/// | ``offline`` | whatever its age | never |
/// | ``record`` | never | always; everything is stored |
/// | ``replayOnly`` | whatever its age | never |
public enum ArchiveMode: String, Hashable, Sendable, CaseIterable {
  /// A private HTTP cache, to the letter of RFC 9111.
  case online
  /// A stored answer whatever its age; the network for a miss, and for a request that asks for a fresh answer by its
  /// cache policy or by `Cache-Control: no-cache`.
  case preferArchive
  /// A stored answer whatever its age and whatever the request asks for; a miss is an error.
  case offline
  /// Every request goes to the network and every answer is stored, also those that say `no-store`. For fixtures, not
  /// for an app.
  case record
  /// What ``record`` has stored and nothing else: a miss is an error, an answer is not marked as stale.
  case replayOnly

  /// The mode of that name, as a setting of an app may have it; `nil` for any other text.
  public init?(rawValue: String) {
    guard let mode = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
    self = mode
  }
}
