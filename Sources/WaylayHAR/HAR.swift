public import Foundation

/// An HTTP archive: an app's requests with their responses and times, in the format shared by browsers and proxies.
///
/// ```swift
/// let archive = try HAR(contentsOf: URL(fileURLWithPath: "login.har"))
/// for entry in archive.entries where entry.response.status >= 400 {
///   print(entry.request.method, entry.request.url, entry.response.status)
/// }
/// ```
///
/// Reading accepts what other tools write: names in any order, a byte order mark, missing required parts, and custom
/// fields, which begin with an underscore and are kept. Writing produces what other tools accept: times that add up,
/// the oldest entries first, and a stable order of names.
///
/// An archive is held in memory as a whole: for files of hundreds of megabytes, use ``HARReader`` and ``HARWriter``.
///
/// The format is [HAR 1.2](http://www.softwareishard.com/blog/har-12-spec/).
public struct HAR: Hashable, Sendable {
  /// The version of the format.
  public var version = "1.2"
  /// The program that created the archive.
  public var creator: Application
  /// The browser, if there was one.
  public var browser: Application?
  /// The pages that requests were made for. Apps have no pages.
  public var pages: [Page] = []
  /// The exchanges.
  public var entries: [Entry]
  /// A comment.
  public var comment: String?
  /// Custom fields, by name.
  public var extensions: [String: JSONValue] = [:]

  /// Makes an archive.
  public init(entries: [Entry] = [], creator: Application = .waylay) {
    self.entries = entries
    self.creator = creator
  }

  /// The name and version of a program.
  public struct Application: Hashable, Sendable {
    /// This package.
    public static let waylay = Application(name: "Waylay", version: "0.1.0")

    /// Its name.
    public var name: String
    /// Its version.
    public var version: String
    /// A comment.
    public var comment: String?
    /// Custom fields, by name.
    public var extensions: [String: JSONValue] = [:]

    /// Makes an application from a name and a version.
    public init(name: String, version: String) {
      self.name = name
      self.version = version
    }
  }

  /// A page whose requests are in an archive.
  public struct Page: Hashable, Sendable {
    /// The identifier by which entries refer to the page.
    public var id: String
    /// Its title.
    public var title: String
    /// When it began to load.
    public var started: Date
    /// When its content had loaded, in milliseconds after it began.
    public var onContentLoad: Double?
    /// When everything had loaded, in milliseconds after it began.
    public var onLoad: Double?
    /// A comment.
    public var comment: String?
    /// Custom fields, by name.
    public var extensions: [String: JSONValue] = [:]

    /// Makes a page.
    public init(id: String, title: String, started: Date) {
      self.id = id
      self.title = title
      self.started = started
    }
  }
}

extension HAR {
  /// Parses an archive.
  ///
  /// - Throws: ``HARError`` if the bytes are not JSON or not an archive. The message says where.
  public init(data: Data) throws {
    let json: JSONValue
    do { json = try JSONValue(data.withoutByteOrderMark) } catch {
      throw HARError(
        .notJSON, "This is not JSON, so it is not an HTTP archive: \(HARError.place(of: error)).", underlying: error)
    }
    guard let log = json["log"], log.object != nil else {
      throw HARError(.notAnArchive, "This is JSON without an object named \"log\", so it is not an HTTP archive.")
    }
    guard let entries = log["entries"]?.array else {
      throw HARError(.notAnArchive, "The archive has no array of entries: \"log\" holds \(HARError.names(of: log)).")
    }
    self.init(log: log)
    self.entries = try entries.enumerated().map { try Entry($0.element, number: $0.offset + 1) }
  }

  /// Reads an archive from a file.
  ///
  /// - Throws: ``HARError`` if the file cannot be read, or is not an archive.
  public init(contentsOf file: URL) throws {
    let data: Data
    do { data = try Data(contentsOf: file) } catch {
      throw HARError(.unreadable, "\(file.lastPathComponent) cannot be read.", file: file, underlying: error)
    }
    do { try self.init(data: data) } catch let error as HARError {
      throw error.in(file)
    }
  }

  /// Returns the archive as the bytes of a file, with the oldest entries first.
  ///
  /// - Parameter isPretty: Whether to indent it, for people and for version control. Otherwise it is one line.
  public func data(isPretty: Bool = true) -> Data {
    var json = JSONText(isPretty: isPretty)
    writeBeginning(to: &json)
    for entry in entries.inOrder {
      json.separate()
      entry.write(to: &json)
    }
    writeEnd(to: &json)
    return Data(json.bytes)
  }

  /// Writes the archive to a file atomically: an existing file is replaced when the new one is complete.
  ///
  /// - Throws: ``HARError`` if it cannot be written.
  public func write(to file: URL, isPretty: Bool = true) throws {
    do { try data(isPretty: isPretty).write(to: file, options: .atomic) } catch {
      throw HARError(.unwritable, "\(file.lastPathComponent) cannot be written.", file: file, underlying: error)
    }
  }
}

extension Data {
  /// Some programs put one before the text (RFC 8259, section 8.1, lets readers ignore it).
  var withoutByteOrderMark: Data { starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self }
}

extension [HAR.Entry] {
  /// The oldest first; those that began together as they are.
  var inOrder: [HAR.Entry] {
    enumerated().sorted { ($0.element.started, $0.offset) < ($1.element.started, $1.offset) }.map(\.element)
  }
}
