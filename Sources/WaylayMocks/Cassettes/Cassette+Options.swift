extension Cassette {
  /// What a cassette records.
  public struct Mode: Hashable, Sendable, CustomStringConvertible {
    /// The mode's name, as `WAYLAY_RECORD` has it.
    public let description: String

    /// Plays, and never records, whatever `WAYLAY_RECORD` says: for files that were written by hand or by a browser.
    public static let none = Mode(description: "none")
    /// Records when there is no file; plays when there is one.
    public static let once = Mode(description: "once")
    /// Plays what the file has, and records what it does not have.
    public static let newEpisodes = Mode(description: "newEpisodes")
    /// Plays nothing and records everything: the new file replaces the old one.
    public static let all = Mode(description: "all")
    /// Plays, unless the environment variable `WAYLAY_RECORD` says what to record: `once`, `newEpisodes` or `all`.
    ///
    /// ```sh
    /// WAYLAY_RECORD=all swift test --filter LoginTests
    /// ```
    ///
    /// The variable stands above the other modes as well, except for ``none``.
    public static let environment = Mode(description: "environment")
  }

  /// A part of a request that is compared with what was recorded.
  public struct Aspect: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
      case method, url, host, path, query, body
      case header(String)
    }

    let kind: Kind

    /// The method.
    public static let method = Aspect(kind: .method)
    /// Scheme, host, port and path.
    public static let url = Aspect(kind: .url)
    /// The host alone.
    public static let host = Aspect(kind: .host)
    /// The path alone, for recordings of one server that are to answer for another.
    public static let path = Aspect(kind: .path)
    /// The query: its items by name, in any order.
    public static let query = Aspect(kind: .query)
    /// The body: JSON by value, forms by their fields, multipart forms by their parts, and anything else by its bytes.
    public static let body = Aspect(kind: .body)
    /// A header field.
    public static func header(_ name: String) -> Aspect { Aspect(kind: .header(name.lowercased())) }
  }

  /// How old a recording may become, and what happens then.
  public struct Expiry: Sendable, Hashable {
    /// What happens when a recording is older.
    public enum Action: Sendable, Hashable {
      /// An issue of the kind `expired`, which `WaylayTesting` reports as a warning.
      case warn
      /// Its requests fail.
      case fail
      /// It is recorded anew where its mode records anything, and warned of where not.
      case record
    }

    let age: TimeInterval
    let action: Action

    /// Has a recording expire so many days after its oldest entry.
    public static func days(_ days: Double, then action: Action) -> Expiry {
      Expiry(age: days * 86_400, action: action)
    }
  }

  /// How long answers take when they are played.
  public struct Timing: Sendable, Hashable {
    let factor: Double

    /// They are there at once.
    public static let none = Timing(factor: 0)
    /// As long as when they were recorded: until the head, and for the body.
    public static let recorded = Timing(factor: 1)
    /// So many times as long as when they were recorded. Less than 0, and what is no number, are 0.
    public static func scaled(by factor: Double) -> Timing { Timing(factor: factor > 0 ? factor : 0) }
  }

  /// What becomes of entries that no request has asked for.
  public struct Unused: Sendable, Hashable {
    enum Kind: Sendable, Hashable { case ignore, warn, fail, prune }

    let kind: Kind

    /// Nothing.
    public static let ignore = Unused(kind: .ignore)
    /// They are an issue, which `WaylayTesting` reports as a warning.
    public static let warn = Unused(kind: .warn)
    /// They are an issue, which fails the test.
    public static let fail = Unused(kind: .fail)
    /// They are taken out of the file where the mode records anything, and are an issue as for ``warn`` where not.
    public static let prune = Unused(kind: .prune)
  }

  /// How a cassette compares, redacts, plays and records.
  ///
  /// ```swift
  /// var options = Cassette.Options()
  /// options.matching = [.method, .path, .query, .body]
  /// options.expiry = .days(90, then: .warn)
  /// options.redaction.hide("patient_id")
  /// let cassette = Cassette("login", options: options)
  /// ```
  public struct Options: Sendable {
    /// What of a request has to be as it was recorded. Of entries that are equally for a request, one with its body is
    /// played before others.
    public var matching: Set<Aspect> = [.method, .url, .query]
    /// What is taken out of the recording, and out of requests before they are compared.
    public var redaction = Redaction.standard
    /// How old a recording may become. Default: as old as it likes.
    public var expiry: Expiry?
    /// How long answers take. Default: they are there at once.
    public var timing = Timing.none
    /// What becomes of entries that nobody has asked for.
    public var unused = Unused.warn
    /// Whether the last entry for a request answers further ones, too.
    public var allowsRepeats = false
    /// The bytes of one body that are kept. With a longer one, nothing of the recording is.
    public var bodyLimit = 32 << 20
    /// What answers wait on.
    public var clock: any Clock<Duration> = ContinuousClock()
    /// What time it is, for the times of entries and for their age.
    public var now: @Sendable () -> Date = { Date() }

    /// Makes the options of a cassette that compares method, URL and query.
    public init() {}
  }
}

extension Cassette.Mode {
  /// The mode of a name.
  init?(named name: String) {
    let name = name.lowercased().filter { $0 != "_" && $0 != "-" }
    let known = [Self.none, .once, .newEpisodes, .all]
    guard let mode = known.first(where: { $0.description.lowercased() == name }) else { return nil }
    self = mode
  }
}
