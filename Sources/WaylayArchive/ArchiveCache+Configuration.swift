import Foundation
public import Logging

/// The sources of an archive's responses: set for the whole archive by ``ArchiveCache/mode``, and for a request by an
/// interceptor before the archive (`request.archiveMode`), which takes precedence.
///
/// | mode | stored response | network |
/// |---|---|---|
/// | ``online`` | as RFC 9111 allows | for everything else |
/// | ``preferArchive`` | at any age | for cache misses, and if the request asks for it |
/// | ``offline`` | at any age | never |
public enum ArchiveMode: String, Hashable, Sendable, CaseIterable {
  /// A private HTTP cache that follows RFC 9111 to the letter.
  case online
  /// A stored response of any age; the network for a cache miss, and for a request that asks for a fresh response by
  /// its cache policy or by `Cache-Control: no-cache`.
  case preferArchive
  /// A stored response of any age, whatever the request asks for; a cache miss is an error.
  case offline
}

extension ArchiveCache {
  /// The settings of an archive: its deviations from HTTP, its partitions and keys, and its reporting.
  ///
  /// ```swift
  /// let archive = ArchiveCache(at: directory) { configuration in
  ///   configuration.lifetimes = [.lifetime(.seconds(3600), for: .host("api.example.com"))]
  ///   configuration.keys = [.ignoringQueryItems(["utm_*"])]
  ///   configuration.willStore = { if $0.fields[.contentType] == "video/mp4" { $0.refuse("videos are large") } }
  /// }
  /// ```
  public struct Configuration: Sendable {
    // MARK: Partitions

    /// The user of a request, such as an account number: responses of different partitions never mix, and a partition
    /// can be removed as a whole. `nil` or an empty name means no particular user.
    ///
    /// This is the best way to separate users, because it needs no guesses: with a partition neither credentials nor
    /// cookies count, so that a renewed token or session loses nothing, online or offline. The value must be stable for
    /// a user, and different for each.
    public var partition: (@Sendable (URLRequest) -> String?)?
    /// Whether to keep responses to requests with different credentials apart: `Authorization`, `Proxy-Authorization`,
    /// other fields that are credentials by their names, such as `X-Api-Key`, but not those that change with each request,
    /// such as `X-CSRF-Token`, the URL's user info, and the credential that answered a challenge, as a keyed digest.
    /// `nil`, the default, does so if ``partition`` returns nothing.
    ///
    /// ``KeyRule/ignoringFields(_:for:)`` takes out a field that does not identify a user, such as the key of an app.
    ///
    /// HTTP does not require this of a private cache (RFC 9111, section 3.5 covers shared ones); an app whose users
    /// take turns needs it. A renewed token is a different credential: with `partition` it does not count unless this
    /// is `true`.
    public var partitionsByAuthorization: Bool?
    /// The cookies that identify the user if ``partition`` does not; see ``UserCookies``.
    ///
    /// A response that is meant for one user is stored together with these cookies, and a request with other cookies
    /// neither gets it nor revalidates it. Such responses are: any response with `private`; and, if the request has
    /// such a cookie, a response without `public` and `s-maxage` that sets a cookie, or requires validation
    /// (`no-cache`, `max-age=0`, no explicit lifetime). If a server sets a new session cookie with every response, few
    /// of these responses can be read offline: identify the user with ``partition``, or the stable cookie with
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
    /// The maximum body size in bytes for ``KeyRule/byBody(methods:for:)`` and for `QUERY` (RFC 10008), which is keyed by
    /// its body without a rule.
    public var maximumKeyedBody = 256 * 1024

    /// Whether the values of query items are readable in the archive's files and in its list of entries.
    ///
    /// If `false`, they are kept as keyed digests. With encryption at rest, the files reveal nothing in any case.
    public var keepsQueryValues = true

    // MARK: Storing and lifetimes

    /// The client's own lifetimes; the first rule that returns one for a response wins.
    public var lifetimes: [LifetimeRule] = []
    /// Called before a response is stored: it can edit, tag, pin or reject the response.
    public var willStore: (@Sendable (inout StorableResponse) -> Void)?
    /// Limits for parts of the archive, in addition to the ``StoreLimits`` of the whole.
    public var quotas: [Quota] = []
    /// Whether to serve a stale response if the origin cannot be reached, unless the response itself forbids that (RFC
    /// 9111, section 4.2.4).
    public var servesStaleWhenUnreachable = true
    /// How long after its lifetime a response may be served instead of a server error (`500`, `502`, `503`, `504`), as
    /// with `stale-if-error` (RFC 5861, section 4). `must-revalidate` and `no-cache` take precedence. A longer
    /// `stale-if-error` of the response or of the request applies instead.
    public var staleIfError: Duration = .zero
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
    public var networkTimeout: TimeInterval = 10
    /// The network timeout in seconds for a request in its mode; `nil` uses ``networkTimeout``. Called once per load
    /// that has a stale fallback: return at once.
    public var networkTimeoutFor: (@Sendable (URLRequest, ArchiveMode) -> TimeInterval?)?
    /// Whether to keep the received part of a broken or abandoned transfer that has a strong validator, for the next
    /// request to complete.
    public var keepsPartial = true

    // MARK: Loads

    /// Whether equal concurrent requests are collapsed into one.
    public var collapses = true
    /// Seconds without progress after which a background revalidation ends.
    public var backgroundTimeout: TimeInterval = 30

    // MARK: Reporting

    #if StructuredFields
      /// When responses carry the `Cache-Status` field (RFC 9211).
      ///
      /// The field needs the package trait `StructuredFields`.
      public var cacheStatus: OpenEnum<ArchiveCache.Configuration> = .whenStale
    #else
      /// When responses carry the `Cache-Status` field (RFC 9211): without the trait, never.
      @available(*, unavailable, message: "Enable the trait StructuredFields of the package waylay.")
      public var cacheStatus: OpenEnum<ArchiveCache.Configuration> {
        get { .never }
        set {}
      }
    #endif
    /// The archive's name in `Cache-Status`.
    public var name = "Waylay"
    /// The logger. Default: none.
    public var logger: Logger?

    var statusField: OpenEnum<ArchiveCache.Configuration> {
      #if StructuredFields
        cacheStatus
      #else
        .never
      #endif
    }

    /// The current time; tests inject a fake.
    var now: @Sendable () -> CacheTime = { CacheTime.now }

    /// The clock of network timeouts; tests inject a fake.
    var clock = TimerClock.system

    /// Makes a configuration that follows HTTP in every respect.
    public init() {}
  }

  /// The mode for requests without a specific mode: `online` by default. A change applies to loads that start
  /// afterwards.
  public var mode: ArchiveMode {
    get { engine.modes.withLock { $0.general } }
    set { engine.modes.withLock { $0.general = newValue } }
  }

  /// Lets a sequence of reachability values set ``mode``; `true` means that the network is available.
  ///
  /// ```swift
  /// archive.follow(reachability)              // any AsyncSequence of Bool
  /// ```
  ///
  /// The archive owns the task that reads the sequence. It cancels the task in ``invalidate()``, when the archive is
  /// released, or when it follows another sequence.
  ///
  /// - Parameters:
  ///   - reachability: The sequence. Its end or failure leaves the mode unchanged.
  ///   - online: The mode for `true`.
  ///   - offline: The mode for `false`.
  public func follow<Reachability: AsyncSequence & Sendable>(
    _ reachability: Reachability, online: ArchiveMode = .online, offline: ArchiveMode = .offline
  ) where Reachability.Element == Bool {
    let task = Task { [modes = engine.modes] in
      do {
        for try await isReachable in reachability { modes.withLock { $0.general = isReachable ? online : offline } }
      } catch {}
    }
    engine.modes.withLock { [engine] modes -> Task<Void, Never>? in
      // After invalidation, no owner would cancel the task.
      guard !engine.isInvalidated.withLock({ $0 }) else { return task }
      defer { modes.follower = task }
      return modes.follower
    }?.cancel()
  }

  /// The mode of an archive, and the task that follows reachability.
  struct Modes: Sendable {
    var general = ArchiveMode.online
    var follower: Task<Void, Never>?
  }
}

extension InterceptedRequest {
  /// The archive's mode for this request, set by an interceptor before the archive; `nil` for no specific mode.
  ///
  /// ```swift
  /// Intercept(request: { request in
  ///   if request.url.host == "static.example.com" { request.archiveMode = .preferArchive }
  /// })
  /// ```
  ///
  /// An app that makes the requests itself can use `URLRequest.cachePolicy`.
  public var archiveMode: ArchiveMode? {
    get { self[ArchiveModeKey.self] }
    set { self[ArchiveModeKey.self] = newValue }
  }
}

/// The key of `archiveMode` in a request.
enum ArchiveModeKey: InterceptedRequest.Key {
  static let defaultValue: ArchiveMode? = nil
}

extension OpenEnum where Domain == ArchiveCache.Configuration {
  /// Never.
  public static var never: Self { Self("never") }
  /// On stale responses from the archive, so that an app can tell that it shows old data.
  public static var whenStale: Self { Self("whenStale") }
  /// On every response.
  public static var always: Self { Self("always") }
}
