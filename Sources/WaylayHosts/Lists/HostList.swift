/// The rules that an app ships, and the newest list that it has downloaded.
///
/// ```swift
/// let list = try HostList(bundled: bundledFile, storedAt: folder.appendingPathComponent("hosts.json"))
/// let rewriter = HostRewriter(rules: list.source, policy: .require)
///
/// // Whenever the app has downloaded a list:
/// try list.update(with: downloadedFile)
/// ```
///
/// A list is the JSON of ``HostRules/init(json:)`` with a `serial`, a whole number that increases from list to list,
/// and optionally an expiry date: `{"serial": 7, "expires": "2027-01-31T00:00:00Z", "rules": […]}`.
///
/// The newest accepted list is in force, even after its expiry; the bundled list applies to hosts without a rule in the
/// newest one. A file stores the newest list, and several processes may share it. If the file cannot be read or
/// written, the log says why, and the current rules stay in force.
public final class HostList: Sendable {
  private struct Content: Equatable {
    let serial: UInt64
    let expires: Date?
    let rules: HostRules

    init(_ json: Data) throws {
      let list = try HostListDocument(json)
      serial = try list.number("serial")
      expires = try list.date("expires")
      rules = try HostRules(entries: list.entries("rules"))
    }

    var hasExpired: Bool { expires.map { $0 <= Date() } ?? false }
  }

  /// The rules in force, for a ``HostRewriter``.
  public let source: HostRuleSource
  private let file: URL
  private let logger: Logger
  private let current: Locked<Content>

  /// Makes a list, and puts the stored one in force if it is newer than the bundled one.
  ///
  /// - Parameters:
  ///   - bundled: The list that the app ships.
  ///   - file: The file for the newest accepted list, in an existing folder; a lock file with the suffix `.lock` is
  ///     created next to it. The initializer reads the file. A file that other users may write is ignored.
  ///   - logger: The logger for a file that cannot be used, and for an expired list.
  /// - Throws: `HostError.invalidRule` for an invalid bundled list; never for the stored one.
  public init(bundled: Data, storedAt file: URL, logger: Logger = Logger(label: "waylay.hosts")) throws {
    let bundled = try Content(bundled)
    source = HostRuleSource(bundled.rules, bundled: bundled.rules)
    current = Locked(bundled)
    self.file = file
    self.logger = logger
    _ = enforceStored()
    if current.withLock({ $0.hasExpired }) {
      logger.warning("the list of hosts has expired and stays in force: download a newer one")
    }
  }

  /// The serial number of the newest accepted list.
  public var serial: UInt64 { current.withLock { $0.serial } }

  /// Puts a newer list in force, and stores it.
  ///
  /// Passing the current list again changes nothing. A list that cannot be stored is in force until the process ends,
  /// and the failure is logged. The call writes a file, and waits for other processes that write it.
  ///
  /// - Parameters:
  ///   - list: The list, as downloaded.
  ///   - verify: Checks the list, such as its signature, before it is parsed; throws to reject it.
  /// - Throws: The error of `verify`, `HostError.invalidRule`, `HostError.listExpired`, or `HostError.listOutdated` for
  ///   a serial number that is not higher. The rules are unchanged in these cases.
  public func update(with list: Data, verify: (Data) throws -> Void = { _ in }) throws {
    try verify(list)
    let content = try Content(list)
    guard !content.hasExpired else {
      throw HostError(
        .listExpired,
        "the list of serial \(content.serial) has expired: fetch a newer one, and check the clock of this machine.")
    }
    let lock = attempt("the list of hosts will not be stored") { try FileLock(file.path + ".lock") }
    defer { lock?.release() }
    // Another process may have stored a newer list.
    let stored = enforceStored()
    try enforce(content)
    // A file that cannot be read now may hold a newer list: do not overwrite it.
    let mayStore =
      switch stored {
      case .success(let list): list != content
      case .failure(let error): error is HostError
      }
    guard lock != nil, mayStore else { return }
    attempt("the list of hosts is in force but could not be stored") { try PrivateFile(url: file).write(list) }
  }

  /// Reads the stored list, and puts it in force if it is newer.
  private func enforceStored() -> Result<Content?, any Error> {
    let stored = Result { try PrivateFile(url: file).read(upTo: HostListDocument.maximumSize).map(Content.init) }
    attempt("the stored list of hosts cannot be used; the rules in force stay") {
      if let list = try stored.get() { try? enforce(list) }
    }
    return stored
  }

  private func enforce(_ list: Content) throws {
    try current.withLock { current in
      guard list != current else { return }
      guard list.serial > current.serial else {
        throw HostError(
          .listOutdated,
          "the list has serial \(list.serial), and \(current.serial) is in force: a new list needs a higher number.")
      }
      current = list
      source.replace(with: list.rules)
    }
  }

  @discardableResult
  private func attempt<Value>(_ failure: Logger.Message, _ work: () throws -> Value) -> Value? {
    do { return try work() } catch {
      logger.warning(failure, metadata: [LogKey.error: "\(error.redacted)", "file": "\(file.path)"])
      return nil
    }
  }
}
