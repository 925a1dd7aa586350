import Foundation

/// The listed properties of an entry: where it came from, when, and its owner's marks.
public struct EntryDetails: Hashable, Sendable {
  /// The URL, as far as it may be revealed: the caller omits user information, and query values if they are secret.
  public var url: String
  /// The host, in lowercase.
  public var host: String
  /// The HTTP status.
  public var status: Int
  /// The media type in lowercase without parameters, such as `text/html`; it decides whether a store compresses the
  /// body.
  public var mediaType: String
  /// When the response was stored or last freshened.
  public var stored: Date
  /// The tags by which entries are removed.
  public var tags: Set<String>
  /// Whether eviction skips the entry.
  public var isPinned: Bool

  /// Makes the details of an entry.
  public init(
    url: String, host: String = "", status: Int = 200, mediaType: String = "", stored: Date, tags: Set<String> = [],
    isPinned: Bool = false
  ) {
    self.url = url
    self.host = host
    self.status = status
    self.mediaType = mediaType
    self.stored = stored
    self.tags = tags
    self.isPinned = isPinned
  }
}

extension EntryDetails: CustomStringConvertible {
  /// Status and URL on one line, suitable for a log: without query values.
  public var description: String { "\(status) \(URL(string: url)?.redacted ?? "<unreadable URL>")" }
}
