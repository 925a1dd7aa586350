import Foundation
public import Logging

extension ArchiveCache {
  /// What an archive does otherwise than HTTP prescribes, what it keeps apart, and where it says what it does.
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

    /// The mode to begin with; see ``ArchiveCache/mode``.
    public var mode: ArchiveMode = .online
    /// The mode of a request, where it has one of its own; `nil` for the archive's. Asked once for each load: answer at
    /// once.
    public var modeFor: (@Sendable (URLRequest) -> ArchiveMode?)?

    // MARK: What is kept apart

    /// The user that a request is of, for example the account's number: answers of different partitions never meet, and
    /// one can be removed as a whole. `nil`, or an empty name, for "nobody in particular".
    ///
    /// The best way to tell users apart, because nobody has to guess: with a partition neither credentials nor cookies
    /// count, so that a renewed token or session loses nothing, online or off. Must not change for a user, and must not
    /// be the same for two.
    public var partition: (@Sendable (URLRequest) -> String?)?
    /// Whether answers to requests with different credentials are kept apart: `Authorization`, `Proxy-Authorization`,
    /// the URL's user info, and what a challenge was answered with, as a keyed digest. `nil`, as it is unless told
    /// otherwise: where ``partition`` says nothing.
    ///
    /// HTTP does not ask this of a private cache (RFC 9111, section 3.5 speaks of shared ones); an app whose users take
    /// turns needs it. A renewed token is another credential: with `partition` it does not count unless this is `true`.
    public var partitionsByAuthorization: Bool?
    /// The cookies that say who the user is, where ``partition`` does not; see ``UserCookies``.
    ///
    /// Answers for one user alone are bound to them: those with `private`, and, when the request has such a cookie,
    /// those that set cookies or that may not be reused unasked (`no-cache`, `max-age=0`, no lifetime at all) and say
    /// neither `public` nor `s-maxage`. A request with other cookies gets them once the origin has confirmed them, and
    /// never offline. A server that gives a new session cookie with every answer leaves little of that to read offline:
    /// name the user with ``partition``, or the cookie that stays with ``UserCookies/only(_:)``.
    public var userCookies = UserCookies.all()

    // MARK: Keys

    /// What counts for the question whether two requests ask for the same thing.
    public var keys: [KeyRule] = []
    /// A key in place of the URL's, so that URLs with random, signed or encrypted parts share an entry; `nil` for the
    /// URL's.
    ///
    /// Must not depend on anything but the request. Requests that it gives one key get one another's answers.
    public var keyFor: (@Sendable (URLRequest) -> String?)?
    /// The largest body that ``KeyRule/byBody(methods:for:)`` keys by, in bytes.
    public var maximumKeyedBody = 256 * 1024

    /// Whether the values of query items may be read by whoever reads the archive's files or lists its entries.
    ///
    /// Without, they are kept as keyed digests. With encryption at rest nothing can be read anyway.
    public var keepsQueryValues = true

    // MARK: What is stored, and for how long

    /// Lifetimes of the client's own; the first that has one for an answer counts.
    public var lifetimes: [LifetimeRule] = []
    /// Asked before an answer is stored: may edit, tag, pin or refuse it.
    public var willStore: (@Sendable (inout ArchiveCandidate) -> Void)?
    /// Whether the archive is shared by several users, as a proxy's is (RFC 9111): `s-maxage`, `private` and their kin
    /// count then.
    public var isShared = false
    /// Whether a stale answer is given when the origin cannot be reached, unless the answer itself forbids it (RFC
    /// 9111, section 4.2.4).
    public var servesStaleWhenUnreachable = true
    /// Seconds for which the network may be silent before a stale answer is given in its place, where one may be given:
    /// 10 unless you say otherwise, and never more than half of the request's own timeout.
    ///
    /// A network that is there and does not answer is what most people mean by offline. An app that wants to feel
    /// offline first sets 1 or 2; with 0 whatever may be given stale is given at once. Silence ends with the head of an
    /// answer: a body that stalls afterwards ends with the request's timeout, because the head, or bytes, may have
    /// reached the app. The request goes on behind a stale answer for up to ``backgroundTimeout``, so that what comes
    /// late is there the next time.
    ///
    /// Where nothing stale may be given (nothing is stored, `must-revalidate`, ``servesStaleWhenUnreachable``), the
    /// request's own timeout counts, unchanged.
    public var patience: TimeInterval = 10
    /// The patience with one request in its mode, in seconds; `nil` for ``patience``. Asked once for each load that has
    /// something stale to fall back on: answer at once.
    public var patienceFor: (@Sendable (URLRequest, ArchiveMode) -> TimeInterval?)?
    /// Whether what arrived of a broken or abandoned transfer is kept under its strong validator, to be completed by
    /// the next request.
    public var keepsPartial = true

    // MARK: Loads

    /// Whether equal requests at once make one.
    public var collapses = true
    /// Seconds without progress after which a revalidation behind a stale answer is given up.
    public var backgroundTimeout: TimeInterval = 30

    // MARK: What it says

    /// When answers carry the `Cache-Status` field (RFC 9211).
    public var cacheStatus: CacheStatusField = .whenStale
    /// The archive's name in `Cache-Status`.
    public var name = "Waylay"
    /// Where log lines go; see ``ArchiveLogKey``. Default: nowhere.
    public var logger: Logger?

    /// Seconds since 1970, as tests may turn them.
    package var now: @Sendable () -> CacheTime = { CacheTime.now }

    /// Who wakes loads whose patience is over, as tests may turn them.
    package var clock = LoadClock.system

    /// Makes a configuration in which everything is as HTTP prescribes.
    public init() {}
  }

  /// When answers carry the `Cache-Status` field.
  public struct CacheStatusField: Hashable, Sendable, CustomStringConvertible {
    /// The choice's name.
    public let description: String

    /// Never.
    public static let never = CacheStatusField(description: "never")
    /// On answers from the archive that are stale, which is how an app sees that it reads something old.
    public static let whenStale = CacheStatusField(description: "whenStale")
    /// On every answer.
    public static let always = CacheStatusField(description: "always")
  }
}
