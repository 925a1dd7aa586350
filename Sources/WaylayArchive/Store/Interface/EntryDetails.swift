import Foundation

/// What can be listed of an entry: where it came from, when, and what its owner marked it with.
public struct EntryDetails: Hashable, Sendable {
  /// The URL, as far as it may be read: whoever stores leaves out user information, and query values where they are
  /// secret.
  public var url: String
  /// The host, in lower case.
  public var host: String
  /// The HTTP status.
  public var status: Int
  /// The media type without parameters, in lower case, such as `text/html`; a store that compresses goes by it.
  public var mediaType: String
  /// When the answer was stored, or last freshened.
  public var stored: Date
  /// The marks that entries are removed by.
  public var tags: Set<String>
  /// Whether eviction passes the entry over.
  public var isPinned: Bool

  /// Describes an entry.
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
  /// Status and URL on one line, as a log may show it: without query values.
  public var description: String { "\(status) \(URL(string: url)?.redacted ?? "<unreadable URL>")" }
}
