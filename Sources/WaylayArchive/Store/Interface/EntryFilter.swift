import Foundation

/// A filter for stored entries, for listing and removing them.
///
/// ```swift
/// try await store.removeAll(.host("example.com"))
/// try await store.removeAll(.tag("news").and(.stored(before: yesterday)))
/// ```
public struct EntryFilter: Sendable {
  /// The partition that alone has to be looked at, where there is one.
  let partition: ArchivePartition?
  /// The key that alone has to be looked at, where there is one.
  let key: ArchiveKey?
  /// Whether the partition says it all, so that no entry has to be looked at.
  let isWhole: Bool
  let matches: @Sendable (StoredEntry) -> Bool

  init(
    partition: ArchivePartition? = nil, key: ArchiveKey? = nil, isWhole: Bool = false,
    _ matches: @escaping @Sendable (StoredEntry) -> Bool
  ) {
    self.partition = partition
    self.key = key
    self.isWhole = isWhole
    self.matches = matches
  }

  /// Every entry.
  public static let all = EntryFilter(isWhole: true) { _ in true }

  /// The entries under one key.
  public static func key(_ key: ArchiveKey) -> EntryFilter {
    EntryFilter(partition: key.partition, key: key) { $0.key == key }
  }

  /// The entries of one host, excluding its subdomains.
  public static func host(_ host: String) -> EntryFilter {
    let host = host.lowercased()
    return EntryFilter { $0.details.host == host }
  }

  /// The entries of one URL, for all users and request fields. Scheme and host are case-insensitive, user info and
  /// fragment are ignored, and the rest is compared byte by byte. If an archive keeps no query values, all entries with
  /// the same query names match.
  ///
  /// To remove the responses for one request, see ``ArchiveCache/remove(for:)``.
  public static func url(_ url: URL) -> EntryFilter {
    let wanted = KeyText(url).text
    let redacted = url.redacted
    return EntryFilter { $0.details.url == wanted || $0.details.url == redacted && redacted.hasSuffix("…") }
  }

  /// The entries whose URL starts with `prefix`, compared byte by byte.
  public static func prefix(_ prefix: String) -> EntryFilter {
    let prefix = Array(prefix.utf8)
    return EntryFilter { $0.details.url.utf8.starts(with: prefix) }
  }

  /// The entries with a tag.
  public static func tag(_ tag: String) -> EntryFilter {
    EntryFilter { $0.details.tags.contains(tag) }
  }

  /// The entries of one partition.
  public static func partition(_ partition: ArchivePartition) -> EntryFilter {
    EntryFilter(partition: partition, isWhole: true) { $0.key.partition == partition }
  }

  /// The entries that were stored or last freshened before a time.
  public static func stored(before date: Date) -> EntryFilter {
    EntryFilter { $0.details.stored < date }
  }

  /// The entries that were stored or last freshened at or after a time: those that ``stored(before:)`` excludes.
  public static func stored(after date: Date) -> EntryFilter {
    EntryFilter { $0.details.stored >= date }
  }

  /// The entries that a closure accepts. The closure must not use the store.
  public static func matching(_ predicate: @escaping @Sendable (StoredEntry) -> Bool) -> EntryFilter {
    EntryFilter(predicate)
  }

  /// The entries that match both filters.
  public func and(_ other: EntryFilter) -> EntryFilter {
    let first = matches
    let second = other.matches
    return EntryFilter(partition: partition ?? other.partition, key: key ?? other.key) { first($0) && second($0) }
  }
}
