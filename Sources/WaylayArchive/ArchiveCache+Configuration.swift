import Foundation
public import Logging

extension ArchiveCache {
  /// The settings of an archive: its deviations from HTTP, what it keeps separate, and where it reports.
  ///
  /// ```swift
  /// let archive = ArchiveCache(at: directory) { configuration in
  ///   configuration.lifetimes = [.lifetime(.seconds(3600), for: .host("api.example.com"))]
  ///   configuration.keys = [.ignoringQueryItems(["utm_*"])]
  ///   configuration.willStore = { if $0.fields[.contentType] == "video/mp4" { $0.refuse("videos are large") } }
  /// }
  /// ```
  public struct Configuration: Sendable {
    // MARK: Modes

    /// The initial mode; see ``ArchiveCache/mode``.
    public var mode: ArchiveMode = .online
    /// The mode for a request; `nil` uses the archive's mode. Called once per load: return at once.
    public var modeFor: (@Sendable (URLRequest) -> ArchiveMode?)?

    // MARK: What is kept apart

    /// The user of a request, such as an account number: responses of different partitions never mix, and a partition
    /// can be removed as a whole. `nil` or an empty name means no particular user.
    ///
    /// This is the best way to separate users, because it needs no guesses: with a partition neither credentials nor
    /// cookies count, so that a renewed token or session loses nothing, online or offline. The value must be stable for
    /// a user, and different for each.
    public var partition: (@Sendable (URLRequest) -> String?)?
    /// Whether to keep responses to requests with different credentials apart: `Authorization`, `Proxy-Authorization`,
    /// the URL's user info, and the credential that answered a challenge, as a keyed digest. `nil`, the default, does
    /// so if ``partition`` returns nothing.
    ///
    /// HTTP does not require this of a private cache (RFC 9111, section 3.5 covers shared ones); an app whose users
    /// take turns needs it. A renewed token is a different credential: with `partition` it does not count unless this
    /// is `true`.
    public var partitionsByAuthorization: Bool?
    /// The cookies that identify the user if ``partition`` does not; see ``UserCookies``.
    ///
    /// Responses for one user only are bound to these cookies: those with `private` and, if the request has such a
    /// cookie, those that set cookies or must not be reused without validation (`no-cache`, `max-age=0`, no lifetime at
    /// all) and have neither `public` nor `s-maxage`. A request with other cookies gets them only after the origin has
    /// validated them, and never offline. If a server sets a new session cookie with every response, little of that
    /// remains readable offline: identify the user with ``partition``, or the stable cookie with
    /// ``UserCookies/only(_:)``.
    public var userCookies = UserCookies.all()

    // MARK: Keys

    /// The rules that decide whether two requests share an entry.
    public var keys: [KeyRule] = []
    /// A key that replaces the URL's, so that URLs with random, signed or encrypted parts share an entry; `nil` uses
    /// the URL's.
    ///
    /// The key must depend only on the request. Requests with the same key get each other's responses.
    public var keyFor: (@Sendable (URLRequest) -> String?)?
    /// The maximum body size in bytes for ``KeyRule/byBody(methods:for:)``.
    public var maximumKeyedBody = 256 * 1024

    /// Whether the values of query items are readable in the archive's files and in its list of entries.
    ///
    /// If `false`, they are kept as keyed digests. With encryption at rest, the files reveal nothing in any case.
    public var keepsQueryValues = true

    // MARK: What is stored, and for how long

    /// The client's own lifetimes; the first rule that returns one for a response wins.
    public var lifetimes: [LifetimeRule] = []
    /// Called before a response is stored: it can edit, tag, pin or reject the response.
    public var willStore: (@Sendable (inout ArchiveCandidate) -> Void)?
    /// Whether several users share the archive, like a proxy's cache (RFC 9111): `s-maxage`, `private` and related
    /// directives then apply.
    public var isShared = false
    /// Whether to serve a stale response if the origin cannot be reached, unless the response itself forbids that (RFC
    /// 9111, section 4.2.4).
    public var servesStaleWhenUnreachable = true
    /// Seconds of network silence after which a stale response is served, if one may be served: 10 by default, and
    /// never more than half of the request's own timeout.
    ///
    /// To most people, "offline" means a network that is present but does not respond. For an offline-first feel, set 1
    /// or 2; with 0, any permitted stale response is served at once. The silence ends with the head of a response: a
    /// body that stalls afterwards ends with the request's timeout, because the head, or bytes, may have reached the
    /// app. The request continues in the background for up to ``backgroundTimeout``, so that a late response is
    /// available the next time.
    ///
    /// If no stale response may be served (nothing is stored, `must-revalidate`, ``servesStaleWhenUnreachable``), only
    /// the request's own timeout applies.
    public var patience: TimeInterval = 10
    /// The patience in seconds for a request in its mode; `nil` uses ``patience``. Called once per load that has a
    /// stale fallback: return at once.
    public var patienceFor: (@Sendable (URLRequest, ArchiveMode) -> TimeInterval?)?
    /// Whether to keep the received part of a broken or abandoned transfer that has a strong validator, for the next
    /// request to complete.
    public var keepsPartial = true

    // MARK: Loads

    /// Whether equal concurrent requests are collapsed into one.
    public var collapses = true
    /// Seconds without progress after which a background revalidation ends.
    public var backgroundTimeout: TimeInterval = 30

    // MARK: What it says

    /// When responses carry the `Cache-Status` field (RFC 9211).
    public var cacheStatus: CacheStatusField = .whenStale
    /// The archive's name in `Cache-Status`.
    public var name = "Waylay"
    /// The logger; see ``ArchiveLogKey``. Default: none.
    public var logger: Logger?

    /// Seconds since 1970, as tests may turn them.
    package var now: @Sendable () -> CacheTime = { CacheTime.now }

    /// Who wakes loads whose patience is over, as tests may turn them.
    package var clock = LoadClock.system

    /// Makes a configuration that follows HTTP in every respect.
    public init() {}
  }

  /// When responses carry the `Cache-Status` field.
  public struct CacheStatusField: Hashable, Sendable, CustomStringConvertible {
    /// The choice's name.
    public let description: String

    /// Never.
    public static let never = CacheStatusField(description: "never")
    /// On stale responses from the archive, so that an app can tell that it shows old data.
    public static let whenStale = CacheStatusField(description: "whenStale")
    /// On every response.
    public static let always = CacheStatusField(description: "always")
  }
}
