import Foundation
import Logging

/// A private HTTP cache and offline archive, as an interceptor in a chain (RFC 9111).
///
/// Two lines keep an app readable without a network:
///
/// ```swift
/// let archive = ArchiveCache(at: directory)
/// let session = URLSession(configuration: .default.intercepted(by: InterceptorRegistry { archive }))
/// ```
///
/// From then on the archive stores responses as their header fields allow, reuses them while they are fresh, validates
/// them when they are not, and serves them stale if the origin cannot be reached. With `archive.mode = .offline` it
/// serves everything it has stored, regardless of age.
///
/// An archive stores responses of the interceptors after it, under the request as it receives it: with the changes of
/// the interceptors before it. So put an interceptor that adds a token, and thereby identifies the user, before the
/// archive; put one that does not affect the response (a host rewriter, a request signer) after it:
///
/// ```swift
/// InterceptorRegistry {
///   RefreshToken()     // before: what it adds keeps users apart
///   archive
///   HostRewriter(…)    // after: it changes nothing about the response
/// }
/// ```
///
/// An archive before the token interceptor cannot see whose response it stores, and serves it to the next user. In that
/// case, identify the user with ``Configuration/partition``; a partition also keeps everything readable when a token is
/// renewed.
///
/// Without a directory it keeps everything in memory: `ArchiveCache()`. Its ``Configuration`` sets deviations from
/// HTTP; ``events(bufferingNewest:)``, ``counters`` and ``explain(_:)`` show its decisions.
///
/// The disk store opens in the background; loads that need it wait. If it cannot be opened, requests pass through as if
/// there were no archive, a line at `.warning` says so, and ``waitUntilOpen()`` throws. After a temporary failure the
/// archive tries again at the next load, at most once a second; ``isOpen`` is the current state. Archives of one
/// process on one directory share one store.
public final class ArchiveCache: InlineResponding {
  let engine: ArchiveEngine

  /// The name in errors and logs.
  public var name: String { "ArchiveCache" }

  /// Answers inline if that needs neither the disk nor the network; leaves everything else to `startLoading`.
  public func respondInline(_ request: InterceptedRequest) throws -> InlineResponse {
    guard !request.isNested else { return .next(try engine.passed(nested: request)) }
    return try engine.respondAtOnce(request).map { .response($0) } ?? .startLoading
  }

  /// `true`: offline, a nested request must not reach the network. It is refused there, and passed on otherwise; it is
  /// neither answered from the archive nor stored.
  public var takesPartInNestedRequests: Bool { true }

  /// Makes an archive.
  ///
  /// ```swift
  /// let archive = ArchiveCache(.disk(at: directory, limits: StoreLimits(bytes: 256 << 20)))
  /// ```
  ///
  /// - Parameters:
  ///   - storage: Where it keeps its responses: in memory by default.
  ///   - configure: Changes the configuration.
  public convenience init(_ storage: Storage = .memory, _ configure: (inout Configuration) -> Void = { _ in }) {
    self.init(storage, open: storage.openAtOnce, configure)
  }

  /// Makes an archive in a directory, which is created if necessary.
  ///
  /// - Parameters:
  ///   - directory: The directory. It belongs to the archive exclusively: put no other files there.
  ///   - configure: Changes the configuration.
  public convenience init(at directory: URL, _ configure: (inout Configuration) -> Void = { _ in }) {
    self.init(.disk(at: directory), configure)
  }

  /// Makes an archive with an open store.
  package convenience init(store: any ArchiveStore, _ configure: (inout Configuration) -> Void = { _ in }) {
    self.init(nil, open: store, configure)
  }

  /// Makes an archive with a storage, or with an open store.
  init(_ storage: Storage?, open store: (any ArchiveStore)?, _ configure: (inout Configuration) -> Void) {
    var configuration = Configuration()
    configure(&configuration)
    engine = ArchiveEngine(configuration, store: StoreOpening(storage, open: store, configuration.clock))
    engine.start(storage?.logger)
  }

  deinit { engine.invalidate() }

  /// Loads `request` from the store or from the rest of the chain.
  ///
  /// - Throws: Errors of the rest of the chain; `URLError.resourceUnavailable` with an ``ArchiveError`` beneath if
  ///   the mode or the request's `cachePolicy` forbids the network and nothing is stored.
  public func startLoading(
    _ request: InterceptedRequest, next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    guard !request.isNested else { return try await next(engine.passed(nested: request)) }
    return try await engine.load(request, next)
  }

  /// Waits until the archive is open.
  ///
  /// ```swift
  /// do { try await archive.waitUntilOpen() } catch { print(error) }      // an ArchiveError: in use, of a newer version, not writable, …
  /// ```
  ///
  /// - Throws: ``ArchiveError``. In that case, loads pass through without an archive.
  public func waitUntilOpen() async throws { _ = try await engine.opening.store() }

  /// Whether the archive is open: it can find and store responses.
  ///
  /// ```swift
  /// if !archive.isOpen { print("Nothing is stored at the moment.") }
  /// ```
  ///
  /// `false` while it opens, when it could not be opened, when its directory was removed, and after ``invalidate()``. To
  /// wait for it, use ``waitUntilOpen()``; to hear of changes, `ArchiveEvent.opened` and `.storeFailed`.
  public var isOpen: Bool { engine.opening.ready != nil }

  /// The store; waits until it is open.
  var store: any ArchiveStore { get async throws { try await engine.opening.store() } }

  /// Removes the stored responses for a request: all variants for the request's user, and nothing else. A load of the
  /// same path that began before the call does not store its response afterwards.
  ///
  /// ```swift
  /// try await archive.remove(for: URLRequest(url: url))
  /// ```
  ///
  /// Pass the request as it reaches the archive: with the fields that interceptors before it add. A request that a rule
  /// keys by its body must carry that body as `httpBody`. To remove everything stored for a URL, for all users, use
  /// `removeAll(.url(url))`.
  ///
  /// - Returns: The number of entries removed.
  /// - Throws: ``ArchiveError`` if the archive could not be opened.
  @discardableResult
  public func remove(for request: URLRequest) async throws -> Int {
    let store = try await engine.opening.store()
    let load = try await engine.reading(InterceptedRequest(request), in: store)
    // A body without a rule is never stored; entries under the URL belong to requests without a body.
    guard !ArchivePolicy.hasUncoveredBody(load.asked, load.options) else { return 0 }
    engine.flights.close { $0.key == load.key }
    var count = try await store.removeAll(.key(load.key))
    for variance in try await load.variances() {
      if let key = load.place.key(under: variance) { count += try await store.removeAll(.key(key)) }
    }
    return count
  }

  /// Ends background work, such as revalidations, ends the event streams, and releases the directory. Later loads pass
  /// through without an archive.
  public func invalidate() { engine.invalidate() }

  /// Invalidates the archive, and waits until everything stored is written and other archives can open the directory.
  public func close() async {
    engine.endWork()
    await engine.opening.close()
  }
}

/// The state of an archive, without the handle of its owner: loads retain the engine, and releasing the handle
/// invalidates it.
final class ArchiveEngine: Sendable {
  let configuration: ArchiveCache.Configuration
  let modes = Locked(ArchiveCache.Modes())
  let reporter: ArchiveReporter
  let opening: StoreOpening
  let flights = Flights()
  let background = BackgroundWork()
  let records = RecordCache()
  let cookies = ReceivedCookies()
  let changes = Changes()
  let quotas: Quotas
  let isInvalidated = Locked(false)
  /// The keys of entries when they are stored, for ``ArchiveCache/updates(for:through:)``.
  let commits = EventHub<ArchiveKey>()

  init(_ configuration: ArchiveCache.Configuration, store opening: StoreOpening) {
    self.configuration = configuration
    self.opening = opening
    quotas = Quotas(configuration.quotas)
    reporter = ArchiveReporter(logger: configuration.logger ?? FallbackLogger.current)
  }

  /// Opens the store, and observes its events.
  ///
  /// - Parameter logger: The logger for a failure to open, if the configuration has none.
  func start(_ logger: Logger? = nil) {
    opening.start { [weak self, reporter, configuration] outcome in
      switch outcome {
      case .success(let store):
        store.observe { [weak self] in self?.report($0) }
        reporter.report(ArchiveEvent(.opened))
      case .failure(let error):
        let reason = "the archive could not be opened: \(error.redacted)"
        reporter.report(ArchiveEvent(.storeFailed, reason: reason))
        if configuration.logger == nil { logger?.warning("\(reason) Requests bypass the archive.") }
      }
    }
  }

  func invalidate() {
    endWork()
    opening.release()
  }

  /// Ends background work.
  func endWork() {
    let isFirst = isInvalidated.withLock { isInvalidated in
      defer { isInvalidated = true }
      return !isInvalidated
    }
    guard isFirst else { return }
    background.close()
    quotas.close()
    modes.withLock { modes -> Task<Void, Never>? in
      defer { modes.follower = nil }
      return modes.follower
    }?.cancel()
    reporter.hub.close()
    commits.close()
  }

  /// Reports an event of the store as an event of the archive.
  private func report(_ event: StoreEvent) {
    let kind: OpenEnum<ArchiveEvent> =
      switch event.kind {
      case .evicted: .evicted
      case .damaged: .storeFailed
      }
    reporter.report(
      ArchiveEvent(kind, url: event.url.flatMap(URL.init(string:)), reason: event.reason, bytes: event.bytes))
  }

  /// The response if it is in memory (rule 9); `nil` if ``load(_:_:)`` is needed.
  func respondAtOnce(_ request: InterceptedRequest) throws -> InterceptedResponse? {
    guard !isInvalidated.withLock({ $0 }), let store = opening.ready,
      let load = ArchiveLoad(
        request, mode(of: request), self, store, InterceptorChain.Next { _ in throw CancellationError() })
    else { return nil }
    return try load.respondAtOnce()
  }

  func load(_ request: InterceptedRequest, _ next: InterceptorChain.Next) async throws -> InterceptedResponse {
    let mode = mode(of: request)
    guard !isInvalidated.withLock({ $0 }) else {
      guard mode.allowsNetwork else {
        throw ArchiveError(
          .invalidated, "the archive was invalidated, and its mode is \(mode): make another one.", url: request.url,
          requestID: request.id
        ).urlError()
      }
      return try await next(request)
    }
    if let store = opening.ready, let load = ArchiveLoad(request, mode, self, store, next),
      let reply = try load.respondAtOnce()
    {
      return reply
    }
    let store: any ArchiveStore
    do {
      store = try await opening.store()
    } catch {
      try Task.checkCancellation()
      guard mode.allowsNetwork else {
        throw ArchiveError(
          .unavailable, "the archive could not be opened, and its mode is \(mode): see the underlying error.",
          url: request.url, requestID: request.id, underlying: error
        ).urlError()
      }
      reporter.report(
        ArchiveEvent(.bypassed, load: request.id, url: request.url, reason: "the archive could not be opened"))
      return try await next(request)
    }
    let load = try await ArchiveLoad(reading: request, mode, self, store, next)
    return try await load.decidedNow.run()
  }

  /// Returns a nested request to pass on. Throws if its mode forbids the network.
  func passed(nested request: InterceptedRequest) throws -> InterceptedRequest {
    let mode = mode(of: request)
    guard mode.allowsNetwork else {
      throw ArchiveError(
        .notStored,
        "an interceptor made this request inside of a load: such requests are not answered from the archive, whose mode, "
          + "\(mode), allows no network.", url: request.url, requestID: request.id
      ).urlError()
    }
    return request
  }

  /// The mode of a request: its own, or the archive's.
  func mode(of request: InterceptedRequest) -> ArchiveMode { request.archiveMode ?? modes.withLock { $0.general } }
}

extension ArchiveMode {
  var allowsNetwork: Bool { self != .offline }
}

extension ArchiveEvent {
  init(
    _ kind: OpenEnum<ArchiveEvent>, load: InterceptedRequest.ID? = nil, url: URL? = nil, reason: String? = nil,
    bytes: Int64? = nil,
    age: Duration? = nil
  ) {
    self.kind = kind
    self.load = load
    self.url = url?.withoutUserInfo
    self.reason = reason
    self.bytes = bytes
    self.age = age
  }
}

extension InterceptedResponse.Source {
  /// An archive, with a response that is fresh or was validated by the origin. Its cookies are not stored again.
  public static let archive = InterceptedResponse.Source("archive", storesCookies: false)
  /// An archive, with a stale response.
  public static let staleArchive = InterceptedResponse.Source("stale archive", storesCookies: false)
}
