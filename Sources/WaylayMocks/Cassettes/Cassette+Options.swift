public import WaylayHAR

extension Cassette {
  /// When a cassette plays and when it records.
  public typealias Mode = OpenEnum<Cassette>

  /// A part of a request that must equal the recorded one, or that is not compared.
  public struct Aspect: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
      case method, url, host, path, query, body
      case headerField(String), queryItem(String), field(String), json(String)
    }

    let kind: Kind

    /// The method.
    public static let method = Aspect(kind: .method)
    /// Scheme, host, port and path.
    public static let url = Aspect(kind: .url)
    /// The host only.
    public static let host = Aspect(kind: .host)
    /// The path only, so that recordings of one server can answer for another.
    public static let path = Aspect(kind: .path)
    /// The query: its items by name, in any order.
    public static let query = Aspect(kind: .query)
    /// The body: JSON by value, forms by field, multipart forms by part, and anything else by bytes.
    public static let body = Aspect(kind: .body)
    /// A header field, but not a form field of that name.
    public static func headerField(_ name: String) -> Aspect { Aspect(kind: .headerField(name.lowercased())) }
    /// An item of the query.
    public static func query(_ name: String) -> Aspect { Aspect(kind: .queryItem(name)) }
    /// A header field, or, in the body, a form field or a part of a multipart form.
    public static func field(_ name: String) -> Aspect { Aspect(kind: .field(name.lowercased())) }
    /// The values at a path in a JSON body, such as `$.nonce` or `$.items[*].id`.
    public static func json(_ path: String) -> Aspect { Aspect(kind: .json(path)) }
  }

  /// The maximum age of a recording, and the consequence for older ones.
  public struct Expiry: Sendable, Hashable {
    let age: TimeInterval
    let action: OpenEnum<Expiry>

    /// Makes a recording expire the given number of days after its oldest entry.
    public static func days(_ days: Double, then action: OpenEnum<Expiry>) -> Expiry {
      Expiry(age: days * 86_400, action: action)
    }
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
    /// The parts of a request that must match the recording. Among equally matching entries, one with the same body is
    /// played first. A request whose body differs from the recorded one is answered as well, with an issue of the kind
    /// `differing`, which `WaylayTesting` reports as a warning: insert `.body` to make it fail.
    public var matching: Set<Aspect> = [.method, .url, .query]
    /// Aspects left out of every comparison: see ``ignoring(_:)``.
    var ignored: Set<Aspect> = []
    package var ignoredPaths: [String] {
      ignored.compactMap { if case .json(let path) = $0.kind { path } else { nil } }
    }
    /// Decides, for a request that matches by ``matching``, whether a recorded request is equal to it. Only the closure
    /// then compares bodies. Both requests are redacted.
    public var matcher: (@Sendable (_ recorded: HAR.Request, _ asked: HAR.Request) -> Bool)?
    /// Called for each recorded exchange before it is written. The returned entry is redacted and written; `nil` leaves
    /// the exchange out.
    public var willWrite: (@Sendable (HAR.Entry) -> HAR.Entry?)?
    /// The sizes of the pieces of a body. By default, bodies arrive in the pieces in which they were recorded.
    public var chunking: MockResponse.Chunking?
    /// The secrets to remove from the recording, and from requests before they are compared.
    public var redaction = Redaction.standard
    /// The maximum age of a recording. Default: no limit.
    public var expiry: Expiry?
    /// The factor for the recorded times of responses, until the head and for the body. Default: 0, without delay.
    /// Negative factors and NaN count as 0.
    public var timeScale = 0.0
    /// The consequence for entries that were never requested.
    public var unused = OpenEnum<Options>.warn
    /// Whether the last matching entry also answers further requests.
    public var allowsRepeats = false
    /// The maximum number of bytes kept of one body. If a body is longer, nothing is recorded.
    public var bodyLimit = 32 << 20
    /// The clock that responses wait on.
    public var clock: any Clock<Duration> = ContinuousClock()
    /// The current time, for the times of entries and for their age.
    public var now: @Sendable () -> Date = { Date() }

    /// Makes the options of a cassette that compares method, URL and query.
    public init() {}

    /// Whether the custom matcher accepts an entry, if there is one.
    func accepts(_ track: Track, _ asked: ComparedRequest) -> Bool {
      matcher?(track.question.request, asked.request) != false
    }

    /// The options of a cassette that ignores parts of requests, such as times and random numbers.
    ///
    /// ```swift
    /// @Test(.cassette("orders", options: .ignoring(.query("ts"), .field("X-Request-ID"), .json("$.nonce"))))
    /// ```
    public static func ignoring(_ aspects: Aspect...) -> Options {
      var options = Options()
      options.ignored = Set(aspects)
      return options
    }
  }
}

extension Cassette.Mode {
  /// The mode of a name.
  init?(named name: String) {
    let name = name.lowercased().filter { $0 != "_" && $0 != "-" }
    let known = [Self.none, .once, .newEpisodes, .all, .compare]
    guard let mode = known.first(where: { $0.description.lowercased() == name }) else { return nil }
    self = mode
  }
}

extension OpenEnum where Domain == Cassette {
  /// Plays and never records, whatever `WAYLAY_RECORD` says: for files written by hand or by a browser.
  public static var none: Self { Self("none") }
  /// Records if there is no file; plays if there is one.
  public static var once: Self { Self("once") }
  /// Plays the entries in the file, and records requests that it does not contain.
  public static var newEpisodes: Self { Self("newEpisodes") }
  /// Plays nothing and records everything: the new file replaces the old one.
  public static var all: Self { Self("all") }
  /// Plays nothing, asks the server, and keeps the file: `.cassette` and `withCassette` of `WaylayTesting` then report
  /// how the responses differ in shape from those in the file.
  public static var compare: Self { Self("compare") }
  /// Plays, unless the environment variable `WAYLAY_RECORD` selects another mode: `once`, `newEpisodes`, `all` or
  /// `compare`.
  ///
  /// ```sh
  /// WAYLAY_RECORD=all swift test --filter LoginTests
  /// ```
  ///
  /// The variable overrides the other modes as well, except for ``none``.
  public static var environment: Self { Self("environment") }
}

/// The consequence for entries that no request has asked for.
extension OpenEnum where Domain == Cassette.Options {
  /// Ignores them.
  public static var ignore: Self { Self("ignore") }
  /// Reports an issue, which `WaylayTesting` reports as a warning.
  public static var warn: Self { Self("warn") }
  /// Reports an issue, which fails the test.
  public static var fail: Self { Self("fail") }
  /// Removes them from the file if the mode records anything; otherwise reports an issue as for `warn`.
  public static var prune: Self { Self("prune") }
}

/// The consequence for an expired recording.
extension OpenEnum where Domain == Cassette.Expiry {
  /// Reports an issue of the kind `expired`, which `WaylayTesting` reports as a warning.
  public static var warn: Self { Self("warn") }
  /// Fails its requests.
  public static var fail: Self { Self("fail") }
  /// Records it again if the mode records anything; otherwise reports the issue as for `warn`.
  public static var record: Self { Self("record") }
}
