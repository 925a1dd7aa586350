// See HostListKey.swift.
#if Cryptography
  import Foundation
#endif

/// The last good signed list of an app, kept across launches, with its rules in force.
///
/// ```swift
/// let list = try TrustedHostList(keys: keys, storedAt: folder.appendingPathComponent("hosts.json"), whenExpired: .keep)
/// let rewriter = HostRewriter(rules: list.source)
///
/// // Whenever the app has downloaded a list, over whatever connection:
/// try list.update(with: file)
/// ```
///
/// A list that is forged, older than the current one, or expired is rejected: ``update(with:)`` throws, and the last
/// good list stays in force. The serial number and the stored list outlive the process, so that an
/// old list is rejected after a launch too.
///
/// Use one object per file: two that write to the same file may each lose what the other has seen.
#if !Cryptography
  @available(*, unavailable, message: "Signed lists of hosts: enable the trait Cryptography of the package waylay.")
#endif
public final class TrustedHostList: Sendable {
  #if Cryptography
    private struct State {
      var list: SignedHostList?
      /// The highest that was ever accepted; the list it came with may be lost.
      var serial: UInt64?
      /// Why nobody knows which serial number was accepted last.
      var serialLoss: (any Error)?
    }

    /// The current rules, for a rewriter. They change with each ``update(with:)``.
    public let source: HostRuleSource
    private let keys: [HostListKey]
    private let file: PrivateFile?
    /// Holds the serial number alone, beside the file: a list that is damaged must not let an older one in.
    private let serialFile: PrivateFile?
    private let policy: HostRuleSource.ExpiryPolicy
    private let clock: HostClock
    private let logger: Logger
    private let state = Locked(State())

    /// Makes a list, and loads the stored one if it exists.
    ///
    /// A damaged file, or one that other users may have written, is ignored, with a line in the log: the next
    /// ``update(with:)`` replaces it. The highest serial number is in a second file beside it, whose name ends with
    /// `.serial`; if both are damaged, every list is rejected until they are removed.
    ///
    /// - Parameters:
    ///   - keys: The trusted keys.
    ///   - file: The file for the last good list; its folder must exist. Without a file, old lists are rejected only
    ///     until the process ends.
    ///   - policy: What happens if the last good list has expired.
    ///   - clock: The clock that determines when: the date advances with its time.
    ///   - logger: The logger for what could not be read or stored.
    /// - Throws: `HostError.invalidKey` if there are no keys, or two with the same name.
    public init(
      keys: [HostListKey], storedAt file: URL? = nil, whenExpired policy: HostRuleSource.ExpiryPolicy = .keep,
      clock: any Clock<Duration> = ContinuousClock(),
      logger: Logger = Logger(label: "waylay.hosts")
    ) throws {
      guard !keys.isEmpty else {
        throw HostError(.invalidKey, "no list can be trusted without a key: give at least one.")
      }
      guard Set(keys.map(\.name)).count == keys.count else {
        throw HostError(.invalidKey, "two keys have the same name.")
      }
      self.keys = keys
      self.file = file.map { PrivateFile($0) }
      serialFile = file.map { PrivateFile(URL(fileURLWithPath: $0.path + ".serial")) }
      self.policy = policy
      self.clock = HostClock(clock)
      self.logger = logger
      source = HostRuleSource(clock: self.clock)
      restore()
    }

    /// The current list; `nil` before the first.
    public var current: SignedHostList? { state.withLock { $0.list } }

    /// The highest serial number accepted, in this process or an earlier one.
    public var serial: UInt64? { state.withLock { $0.serial } }

    /// Puts a list in force, and stores it.
    ///
    /// Passing the current list again is not an error and changes nothing. A list that cannot be stored is in force
    /// nevertheless, with a line in the log.
    ///
    /// - Throws: `HostError.listForged`, `HostError.listOutdated`, `HostError.listExpired` or
    ///   `HostError.invalidRule`; the last good list then stays in force.
    @discardableResult
    public func update(with file: Data) throws -> SignedHostList {
      let list = try SignedHostList(file, keys: keys)
      let now = clock.date()
      guard list.expires > now else {
        throw HostError(
          .listExpired,
          "the list of serial \(list.serial) expired at \(list.expires), and it is \(now): fetch a newer one.")
      }
      try state.withLock { state in
        if let loss = state.serialLoss {
          throw HostError(
            .listOutdated,
            "the stored list and its serial number cannot be read, so this list may be older than one accepted before: "
              + "remove \(self.file?.url.path ?? "") and the file .serial beside it to begin anew.", underlying: loss)
        }
        if let last = state.serial {
          let isSame =
            list.serial == last && state.list.map { $0.rules == list.rules && $0.expires == list.expires } ?? true
          guard list.serial > last || isSame else {
            throw HostError(
              .listOutdated,
              "the list has serial \(list.serial), and \(last) was accepted before: a new list needs a higher number.")
          }
        }
        // Under the lock, so that of two lists at once the later is what is stored and in force.
        enforce(list, &state)
        store(file, serial: list.serial)
      }
      return list
    }

    private func enforce(_ list: SignedHostList, _ state: inout State) {
      state.list = list
      state.serial = list.serial
      source.replace(with: list.rules, expiry: HostRuleSource.Expiry(date: list.expires, policy: policy))
    }

    private func store(_ list: Data, serial: UInt64) {
      guard let file else { return }
      do {
        // The list first: whatever happens in between, it or the last one is in force after a launch, since the number
        // is in both.
        try file.write(list)
        try serialFile?.write(Data("\(serial)".utf8))
      } catch {
        logger.warning(
          "a list of hosts is in force but could not be stored",
          metadata: ["error": "\(error.redacted)", "serial": "\(serial)"])
      }
    }

    private func restore() {
      var list: SignedHostList?
      var serial: UInt64?
      var loss: (any Error)?
      var isThere = false
      do {
        if let contents = try serialFile?.read(upTo: 32) {
          isThere = true
          serial = UInt64(String(decoding: contents, as: UTF8.self))
        }
      } catch {
        (isThere, loss) = (true, error)
      }
      do {
        if let contents = try file?.read(upTo: HostListDocument.maximumSize) {
          isThere = true
          list = try SignedHostList(contents, keys: keys)
        }
      } catch {
        (isThere, loss) = (true, error)
        logger.warning(
          "the stored list of hosts cannot be used; the next one replaces it", metadata: ["error": "\(error.redacted)"])
      }
      serial = [serial, list?.serial].compactMap(\.self).max()
      state.withLock { state in
        state.serial = serial
        if let list, list.serial == serial { enforce(list, &state) }
        if serial == nil, isThere {
          state.serialLoss = loss ?? HostError(.listOutdated, "its serial number is damaged.")
        }
      }
    }
  #else
    /// Says which trait is missing.
    public init(
      keys: Any, storedAt file: Any? = nil, whenExpired policy: Any? = nil, clock: Any? = nil, logger: Any? = nil
    ) {}
  #endif
}
