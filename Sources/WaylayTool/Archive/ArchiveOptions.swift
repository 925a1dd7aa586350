#if CommandLineTool
  import ArgumentParser
  import Crypto
  import Foundation
  import Logging
  import WaylayArchive
  import WaylayCore

  /// The directory and the key of an archive.
  struct ArchiveOptions: ParsableArguments {
    @Argument(help: "The directory of the archive.") var directory: String
    @Option(
      help: ArgumentHelp(
        "The key of an encrypted archive, in a file: 16, 24 or 32 bytes, or the Base64 of them. Or give the Base64 in "
          + "WAYLAY_ARCHIVE_KEY.",
        valueName: "file")) var keyFile: String?

    /// Opens the archive read-only, which changes no file, even while another process uses it.
    func forReading() throws -> DiskStore { try open(isReadOnly: true) }

    /// Opens an existing archive for writing.
    func forWriting() async throws -> DiskStore {
      await (try forReading()).close()
      return try open(isReadOnly: false)
    }

    private func open(isReadOnly: Bool) throws -> DiskStore {
      // No limits: the tool never evicts entries of an app.
      var options = DiskStore.Options(limits: StoreLimits(bytes: .max, count: .max), logger: .toStandardError)
      options.isReadOnly = isReadOnly
      if let key = try KeyFile.key(keyFile) { options.encryptionKey = { key } }
      return try DiskStore(at: URL(fileURLWithPath: directory, isDirectory: true), options: options)
    }
  }

  extension Logger {
    /// A logger for warnings and errors on standard error.
    static let toStandardError: Logger = {
      var logger = Logger(label: "waylay") { StreamLogHandler.standardError(label: $0) }
      logger.logLevel = .warning
      return logger
    }()
  }

  /// A secret key from a file or the environment. A command line is visible to other users.
  enum KeyFile {
    static func key(_ file: String?) throws -> SymmetricKey? {
      if let file { return try key(InputFile.data(file), from: file) }
      let variable = "WAYLAY_ARCHIVE_KEY"
      guard let text = ProcessInfo.processInfo.environment[variable], !text.isEmpty else { return nil }
      return try key(Data(text.utf8), from: variable)
    }

    private static func key(_ data: Data, from place: String) throws -> SymmetricKey {
      let sizes = [16, 24, 32]
      if sizes.contains(data.count) { return SymmetricKey(data: data) }
      let text = String(decoding: data.prefix(4096), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
      if let bytes = Data(base64Encoded: text), sizes.contains(bytes.count) { return SymmetricKey(data: bytes) }
      throw ToolFailure(
        .files, "key.invalid", "\(place) holds no key: a key is 16, 24 or 32 bytes, or their Base64.")
    }
  }

  /// The selection of entries. An entry must match all given options.
  struct FilterOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Entries of this host, without its subdomains.", valueName: "name")) var host: String?
    @Option(help: ArgumentHelp("Entries of this URL.", valueName: "url")) var url: String?
    @Option(help: ArgumentHelp("Entries whose URL begins with this text.", valueName: "text")) var prefix: String?
    @Option(help: ArgumentHelp("Entries with this tag.", valueName: "tag")) var tag: String?
    @Option(help: ArgumentHelp("Entries of this partition.", valueName: "name")) var partition: String?
    @Option(
      help: ArgumentHelp(
        "Entries stored, or last freshened, before: 2027-01-31 or 2027-01-31T12:00:00Z.", valueName: "date"),
      transform: Dates.date) var before: Date?
    @Option(
      help: ArgumentHelp("Entries stored, or last freshened, at that time or later.", valueName: "date"),
      transform: Dates.date) var after: Date?
    @Option(
      help: ArgumentHelp("The entry of this number, as ls shows it. May be given several times.", valueName: "number"))
    var entry: [UInt64] = []

    /// Whether no option was given.
    var isEmpty: Bool {
      host == nil && url == nil && prefix == nil && tag == nil && partition == nil && before == nil && after == nil
        && entry.isEmpty
    }

    func filter() throws -> EntryFilter {
      var filters: [EntryFilter] = []
      if let host { filters.append(.host(host)) }
      if let url { filters.append(.url(try Addresses.url(url))) }
      if let prefix { filters.append(.prefix(prefix)) }
      if let tag { filters.append(.tag(tag)) }
      if let partition { filters.append(.partition(ArchivePartition(partition))) }
      if let before { filters.append(.stored(before: before)) }
      if let after { filters.append(.stored(after: after)) }
      if !entry.isEmpty {
        let numbers = Set(entry)
        filters.append(.entries { numbers.contains($0.id.number) })
      }
      guard let first = filters.first else { return .all }
      return filters.dropFirst().reduce(first) { $0.and($1) }
    }
  }

  enum Dates {
    /// Parses a day, or a date with time (RFC 3339).
    @Sendable static func date(_ text: String) throws -> Date {
      if let date = try? Date(text, strategy: .iso8601) { return date }
      if let date = try? Date(text + "T00:00:00Z", strategy: .iso8601) { return date }
      throw ValidationError("\"\(text)\" is not a date: write 2027-01-31, or 2027-01-31T12:00:00Z.")
    }
  }

  enum Addresses {
    /// Parses an HTTP URL.
    static func url(_ text: String) throws -> URL {
      guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
        url.host?.isEmpty == false
      else {
        throw ToolFailure(
          .usage, "usage.url", "\"\(text)\" is not an http or https URL: write https://example.com/path.")
      }
      return url
    }

    /// Parses the header fields given with `-H`.
    static func fields(_ texts: [String]) throws -> [(name: String, value: String)] {
      try texts.map { text in
        guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else {
          throw ToolFailure(.usage, "usage.field", "\"\(text)\" is not a header field: write \"Name: value\".")
        }
        let value = text[text.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        guard HTTPField.Name(String(text[..<colon])) != nil, HTTPField.isValidValue(value) else {
          throw ToolFailure(.usage, "usage.field", "\"\(text[..<colon])\" cannot be sent as a header field.")
        }
        return (String(text[..<colon]), value)
      }
    }
  }

  /// A stored response as the tool prints it. The URL has no query values if the app does not store them.
  struct EntryRow: Encodable {
    struct Pair: Encodable {
      let name: String
      let value: String
    }

    let id: UInt64
    let url: String
    let host: String
    let status: Int
    let mediaType: String
    let bytes: Int64
    let storedBytes: Int64
    let stored: Date
    let hits: Int
    let tags: [String]
    let isPinned: Bool
    let partition: String
    /// `nil` if the head cannot be decoded.
    let isFresh: Bool?
    let isWhole: Bool?
    /// Header fields and metadata are printed with details only.
    let fields: [Pair]?
    let metadata: [Pair]?

    init(_ entry: StoredEntry, _ now: Date, isWhole: Bool = false) {
      let response = ArchivedResponse(entry)
      (id, url, host, status) = (entry.id.number, entry.details.url, entry.details.host, entry.details.status)
      (mediaType, bytes, storedBytes) = (entry.details.mediaType, entry.bodyLength, entry.storedBytes)
      (stored, hits, tags) = (entry.details.stored, entry.hits, entry.details.ownTags.sorted())
      (isPinned, partition) = (entry.details.isPinned, entry.key.partition.description)
      isFresh = response?.isFresh(at: now)
      self.isWhole = response?.isWhole
      fields = isWhole ? response?.fields.map { Pair(name: $0.name.rawName, value: $0.value) } : nil
      metadata = isWhole ? response?.metadata(at: now).map { Pair(name: $0.name, value: $0.value) } : nil
    }

    private var state: String { isFresh.map { $0 ? "fresh" : "stale" } ?? "not understood" }

    /// One line per entry.
    var text: String {
      let marks = (isWhole == false ? " partial" : "") + (isPinned ? " pinned" : "") + tags.map { " #\($0)" }.joined()
      let place = partition.isEmpty ? "" : " [\(partition)]"
      return "\(id)  \(status)  \(bytes) bytes  \(state)\(marks)  \(stored.formatted(.iso8601))  \(url)\(place)"
    }

    /// Several lines, with metadata and header fields.
    var details: String {
      let width = metadata?.map(\.name.count).max() ?? 0
      let known = (metadata ?? []).map {
        "  \($0.name.padding(toLength: width, withPad: " ", startingAt: 0))  \($0.value)"
      }
      return ([text] + known + (fields ?? []).map { "  \($0.name): \($0.value)" }).joined(separator: "\n")
    }
  }
#endif
