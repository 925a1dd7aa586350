/// An HTTP archive: an app's requests with their responses and times, in the format shared by browsers and proxies.
///
/// ```swift
/// let archive = try HAR(contentsOf: URL(fileURLWithPath: "login.har"))
/// for entry in archive.entries where entry.response.status >= 400 {
///   print(entry.request.method, entry.request.url, entry.response.status)
/// }
/// ```
///
/// Reading accepts the output of other tools: names in any order, a byte order mark, missing required parts, and custom
/// fields, which begin with an underscore and are kept. Writing produces files that other tools accept: times that add
/// up, the oldest entries first, and a stable order of names.
///
/// An archive is held in memory as a whole: for files of hundreds of megabytes, use ``HARReader`` and ``HARWriter``.
///
/// The format is [HAR 1.2](http://www.softwareishard.com/blog/har-12-spec/).
public struct HAR: Hashable, Sendable {
  /// The version of the format.
  public var version = "1.2"
  /// The program that created the file, the browser, if there was one, and the pages that requests were made for, as
  /// they are in the file.
  package var creator: JSONValue = ["name": "Waylay", "version": "0.1.0"]
  package var browser: JSONValue?
  package var pages: [JSONValue] = []
  /// The exchanges.
  public var entries: [Entry]
  /// A comment.
  public var comment: String?
  /// Custom fields, by name.
  public var extensions: [String: JSONValue] = [:]
  /// Why entries of the file were left out, one line for each.
  public private(set) var unreadEntries: [String] = []

  /// Makes an archive.
  public init(entries: [Entry] = []) {
    self.entries = entries
  }
}

extension HAR {
  /// Parses the bytes of a HAR file. An entry that cannot be read is left out: see ``unreadEntries``.
  ///
  /// - Throws: ``HARError`` if the bytes are not JSON or not a HAR file, or if no entry can be read. The message gives
  ///   the location.
  public init(data: Data) throws {
    var (scanner, bytes, texts) = (EntryScanner(), ArraySlice(data), [[UInt8]]())
    while scanner.place != .after, !bytes.isEmpty { if scanner.scan(&bytes) { texts.append(scanner.take()) } }
    if scanner.place != .after { texts = [] }
    let json = try JSONValue(texts.isEmpty ? ArraySlice(data) : scanner.rest + bytes) {
      HARError(.notJSON, "This is not JSON, so it is not an HTTP archive: \($0)", underlying: $0)
    }
    guard let log = json["log"], log.members != nil else {
      throw HARError(.notAnArchive, "This is JSON without an object named \"log\", so it is not an HTTP archive.")
    }
    guard let entries = log["entries"]?.array else {
      throw HARError(.notAnArchive, "The archive has no array of entries: \"log\" holds \(HARError.names(of: log)).")
    }
    self.init(json: log)
    if let entry = entries.first { _ = try Entry(entry, number: 1) }
    var first: HARError?
    for (index, text) in texts.enumerated() {
      do throws(HARError) { self.entries.append(try Entry(text, number: index + 1)) } catch {
        first = first ?? error
        unreadEntries.append(error.message)
      }
    }
    if let first, self.entries.isEmpty { throw first }
    self.entries = self.entries.oldestFirst
  }

  /// Reads a HAR file with the bodies in files beside it, or a zip file of these, as Playwright writes them.
  ///
  /// - Throws: ``HARError`` if the file cannot be read, or is not a HAR file.
  public init(contentsOf file: URL) throws {
    let data: Data
    do { data = try Data(contentsOf: file) } catch {
      throw HARError(.unreadable, "\(file.lastPathComponent) cannot be read.", file: file, underlying: error)
    }
    do {
      var attachments = try Attachments(data, in: file)
      try self.init(data: attachments.archive ?? data)
      for index in entries.indices { attachments.attach(to: &entries[index]) }
    } catch let error as HARError {
      throw error.in(file)
    }
  }

  /// Returns the bytes of a HAR file, with the oldest entries first.
  ///
  /// - Parameter isPretty: Whether to indent it, for people and for version control. Otherwise it is one line.
  public func data(isPretty: Bool = true) -> Data {
    var json = JSONWriter(isPretty: isPretty)
    writeBeginning(to: &json)
    writeEnd(to: &json)
    return Data(json.bytes)
  }

  /// Writes a HAR file that only its owner can read. An existing file is replaced when the new one is
  /// complete.
  ///
  /// - Throws: ``HARError`` if it cannot be written.
  public func write(to file: URL, isPretty: Bool = true) throws {
    try HARWriter(file, archive: self, isPretty: isPretty).finish()
  }
}

/// Why an HTTP archive could not be read or written.
public struct HARError: Error, Sendable {
  /// The kind of failure. New codes may be added in any release.
  public let code: OpenEnum<HARError>
  /// A human-readable text: the failure, and how to correct it.
  public let message: String
  /// The file, if the error is about one.
  public let file: URL?
  /// The original error, if there is one.
  public let underlying: (any Error)?

  /// Makes an error of the given kind.
  public init(_ code: OpenEnum<HARError>, _ message: String, file: URL? = nil, underlying: (any Error)? = nil) {
    (self.code, self.message, self.file, self.underlying) = (code, message, file, underlying)
  }
}

extension HARError: CustomStringConvertible, CustomDebugStringConvertible, LocalizedError {
  /// Code and message on one line.
  public var description: String { "HARError.\(code): \(message)" + (file.map { " [\($0.lastPathComponent)]" } ?? "") }

  /// The same as the description, which leaves out the underlying error because that may contain anything.
  public var debugDescription: String { description }

  /// The message.
  public var errorDescription: String? { message }
}

extension HARError {
  /// A copy with the file, unless the error already has one.
  func `in`(_ file: URL) -> HARError { HARError(code, message, file: self.file ?? file, underlying: underlying) }

  /// The first few member names of an object.
  static func names(of json: JSONValue) -> String {
    guard let names = json.object?.keys.sorted(), !names.isEmpty else { return "nothing" }
    return names.prefix(8).joined(separator: ", ") + (names.count > 8 ? ", …" : "")
  }
}

extension OpenEnum where Domain == HARError {
  /// A body is in a format that a redaction does not read.
  ///
  /// Leave the exchange out, or let such bodies be removed: ``Redaction/unread``.
  public static var unread: Self { Self("unread") }
  /// The file cannot be opened or read.
  ///
  /// Check the path and the permissions; see ``HARError/underlying``.
  public static var unreadable: Self { Self("unreadable") }
  /// The file cannot be written.
  ///
  /// Check that the folder exists, and check its permissions and the free space; see ``HARError/underlying``.
  public static var unwritable: Self { Self("unwritable") }
  /// The bytes are not JSON.
  ///
  /// The message names the location. Often the file was truncated while it was written or downloaded: export it
  /// again.
  public static var notJSON: Self { Self("notJSON") }
  /// The JSON is not an HTTP archive.
  ///
  /// The file needs `{"log": {"entries": [...]}}`: export the traffic as HAR, not as another format.
  public static var notAnArchive: Self { Self("notAnArchive") }
  /// An entry is too large to hold in memory.
  ///
  /// Raise `entryLimit`, or export without the bodies.
  public static var tooLarge: Self { Self("tooLarge") }
}
