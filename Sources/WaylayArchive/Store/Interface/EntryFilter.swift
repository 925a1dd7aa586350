import Foundation

/// A filter for stored entries, for listing and removing them.
///
/// ```swift
/// try await archive.removeAll(.host("example.com"))
/// try await archive.removeAll(.tag("news").and(.stored(before: yesterday)))
/// ```
public struct EntryFilter: Sendable {
  /// A condition; all of a filter's have to be met.
  enum Part: Sendable {
    case partition(ArchivePartition)
    case key(ArchiveKey)
    /// Entries of a URL; ``EntryFilter/resolved(_:)`` replaces it by the resource under the archive's key rules.
    case url(URL)
    /// Entries of a resource.
    case resource(Resource)
    case host(String)
    /// Entries with any of these tags.
    case tags(Set<String>)
    case matching(@Sendable (StoredEntry) -> Bool)

    /// The path, host or partition that all matching entries share, under which a removal is recorded; `nil` if there
    /// is none.
    var subject: [UInt8]? {
      switch self {
      case .key(let key): Array(key.path)
      case .resource(let resource): Array(ArchiveKey(bytes: resource.text).path)
      case .host(let host): Array(host.utf8)
      case .partition(let partition): partition.bytes
      default: nil
      }
    }

    func matches(_ entry: StoredEntry) -> Bool {
      switch self {
      case .partition(let partition): entry.key.partition == partition
      case .key(let key): entry.key == key
      case .url(let url):
        // The program `waylay` lists archives without their key rules: compare the readable part of the URL.
        entry.details.url == KeyText(url).text
          || entry.details.url == url.redacted && url.redacted.hasSuffix(.redacted)
      case .resource(let resource): resource.matches(entry)
      case .host(let host): entry.details.host == host
      case .tags(let tags): !tags.isDisjoint(with: entry.details.tags)
      case .matching(let predicate): predicate(entry)
      }
    }
  }

  private(set) var parts: [Part]

  init(_ parts: Part...) { self.parts = parts }

  /// Whether partitions are the only conditions, so that no entry has to be read.
  var isWhole: Bool { parts.allSatisfy { if case .partition = $0 { true } else { false } } }

  func matches(_ entry: StoredEntry) -> Bool { parts.allSatisfy { $0.matches(entry) } }

  /// The filter with its URLs replaced by their resources.
  func resolved(_ resource: (URL) -> Resource) -> EntryFilter {
    var filter = self
    filter.parts = parts.map { if case .url(let url) = $0 { .resource(resource(url)) } else { $0 } }
    return filter
  }

  /// Every entry.
  public static let all = EntryFilter()

  /// The entries under one key.
  package static func key(_ key: ArchiveKey) -> EntryFilter { EntryFilter(.key(key)) }

  /// The entries of one host, excluding its subdomains. Hosts are compared in the form that host rules use: without
  /// regard to letter case, and international names in ASCII.
  public static func host(_ host: String) -> EntryFilter { EntryFilter(.host(HostName.comparable(host))) }

  /// The entries that requests for one URL share, for all users and request fields: under the archive's own key rules,
  /// and apart from query differences that a response's `No-Vary-Search` permits. User info and fragment are ignored.
  ///
  /// To remove the responses for one request, see ``ArchiveCache/remove(for:)``.
  public static func url(_ url: URL) -> EntryFilter { EntryFilter(.url(url)) }

  /// The entries whose URL starts with `prefix`, compared byte by byte.
  public static func prefix(_ prefix: String) -> EntryFilter {
    let prefix = Array(prefix.utf8)
    return EntryFilter(.matching { $0.details.url.utf8.starts(with: prefix) })
  }

  /// The entries with a tag.
  public static func tag(_ tag: String) -> EntryFilter { EntryFilter(.tags([tag])) }

  /// The entries of one partition.
  public static func partition(_ partition: ArchivePartition) -> EntryFilter { EntryFilter(.partition(partition)) }

  /// The entries that were stored or last freshened before a time.
  public static func stored(before date: Date) -> EntryFilter {
    EntryFilter(.matching { !$0.isNote && $0.details.stored < date })
  }

  /// The entries that were stored or last freshened at or after a time: those that ``stored(before:)`` excludes.
  public static func stored(after date: Date) -> EntryFilter {
    EntryFilter(.matching { !$0.isNote && $0.details.stored >= date })
  }

  /// The entries that a closure accepts. The closure must not use the archive.
  public static func matching(_ predicate: @escaping @Sendable (ArchivedResponse) -> Bool) -> EntryFilter {
    EntryFilter(.matching { ArchivedResponse($0).map(predicate) ?? false })
  }

  /// The entries that a closure accepts, including those whose heads cannot be decoded.
  package static func entries(_ predicate: @escaping @Sendable (StoredEntry) -> Bool) -> EntryFilter {
    EntryFilter(.matching(predicate))
  }

  /// The entries that match both filters.
  public func and(_ other: EntryFilter) -> EntryFilter {
    var both = self
    both.parts += other.parts
    return both
  }
}

/// A part of an archive that shares nothing with other parts: a user, an account, a tenant.
///
/// ```swift
/// try await archive.removeAll(.partition("alice"))
/// ```
///
/// Two names denote the same partition if their UTF-8 bytes are equal; Unicode equivalence does not apply.
public struct ArchivePartition: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The bytes of the name.
  public let bytes: [UInt8]

  /// The partition of requests without a partition of their own.
  public static let shared = ArchivePartition("")

  /// Makes a partition with the given name.
  public init(_ name: String) { bytes = Array(name.utf8) }

  /// Makes a partition from a literal.
  public init(stringLiteral name: String) { self.init(name) }

  init(bytes: [UInt8]) { self.bytes = bytes }

  /// The name.
  public var description: String { String(decoding: bytes, as: UTF8.self) }
}

/// The limits of a store, enforced at every write: the least valuable entries are evicted before the new entry is
/// written.
public struct StoreLimits: Hashable, Sendable {
  /// The maximum number of bytes, including heads and bookkeeping.
  public var bytes: Int64
  /// The maximum number of entries.
  public var count: Int
  /// The maximum number of bytes of one entry.
  public var entryBytes: Int64
  /// The level at which an eviction stops, as a fraction of the limit.
  public var evictionTarget: Double

  /// Makes limits.
  ///
  /// - Parameters:
  ///   - bytes: The maximum number of bytes of all entries.
  ///   - count: The maximum number of entries.
  ///   - entryBytes: The maximum number of bytes of one entry: an eighth of `bytes` by default.
  ///   - evictionTarget: The level at which an eviction stops, as a fraction of the limit, from 0 to 1.
  public init(bytes: Int64 = 512 << 20, count: Int = 1_000_000, entryBytes: Int64? = nil, evictionTarget: Double = 0.9)
  {
    self.bytes = max(bytes, 0)
    self.count = max(count, 0)
    self.entryBytes = min(entryBytes ?? self.bytes / 8, self.bytes)
    self.evictionTarget = evictionTarget.isNaN ? 0.9 : min(max(evictionTarget, 0), 1)
  }

  /// Whether a usage exceeds the limits.
  func isExceeded(by usage: StoreUsage) -> Bool { usage.bytes > bytes || usage.count > count }

  /// The low-water mark of an eviction.
  var low: StoreLimits {
    var low = self
    (low.bytes, low.count) = (target(bytes), target(count))
    return low
  }

  /// The low-water mark of one limit. Safe for any values: a `Double` cannot represent every `Int64`, and may be NaN.
  private func target<Limit: FixedWidthInteger>(_ limit: Limit) -> Limit {
    min(limit, Limit(exactly: (Double(limit) * max(evictionTarget, 0)).rounded(.down)) ?? limit)
  }
}

/// The usage of a store.
public struct StoreUsage: Hashable, Sendable {
  /// The number of bytes of all entries, including those being written, as ``StoreLimits/bytes`` limits them.
  public var bytes: Int64
  /// The number of entries: responses, and a note for each path whose responses say `No-Vary-Search`.
  public var count: Int

  /// Makes a usage value.
  public init(bytes: Int64 = 0, count: Int = 0) {
    (self.bytes, self.count) = (bytes, count)
  }
}
