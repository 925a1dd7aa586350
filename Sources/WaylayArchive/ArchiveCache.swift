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
/// An archive stores what comes from the interceptors after it, under the request as it sees it: after the changes of
/// the interceptors before it. So put an interceptor that adds a token, and thereby identifies the user, before the
/// archive; put one that does not affect the response (a host rewriter, a request signer) after it:
///
/// ```swift
/// InterceptorRegistry {
///   TokenLink()        // before: what it adds keeps users apart
///   archive
///   HostRewriter(…)    // after: it changes nothing about the answer
/// }
/// ```
///
/// An archive before the token interceptor cannot see whose response it stores, and serves it to the next user. In that
/// case, identify the user with ``Configuration/partition``; a partition also keeps everything readable when a token is
/// renewed.
///
/// Without a directory it keeps everything in memory: `ArchiveCache()`. Its ``Configuration`` sets deviations from
/// HTTP; ``events(bufferingNewest:)``, ``counters`` and ``explain(_:)`` show what it does.
///
/// The disk store opens in the background; loads that need it wait. If it cannot be opened, requests pass through as if
/// there were no archive, a line at `.warning` says so, and ``opened()`` throws. Do not open the same directory twice:
/// see ``DiskStore``.
public final class ArchiveCache: InlineAnswering {
  let engine: ArchiveEngine

  /// The name in errors and logs.
  public var name: String { "ArchiveCache" }

  /// Answers inline if that needs neither the disk nor the network; leaves everything else to `startLoading`.
  public func answerInline(_ request: InterceptedRequest) throws -> InlineAnswer {
    try engine.answerAtOnce(request).map { .response($0) } ?? .startLoading
  }

  /// Makes an archive in a directory, which is created if necessary.
  ///
  /// - Parameters:
  ///   - directory: The directory. It belongs to the archive exclusively: nobody else puts files there.
  ///   - options: The limits and options of the store.
  ///   - configure: Changes the configuration.
  public convenience init(
    at directory: URL, options: DiskStore.Options = DiskStore.Options(),
    _ configure: (inout Configuration) -> Void = { _ in }
  ) {
    self.init(opening: { try DiskStore(at: directory, options: options) }, options.logger, configure)
  }

  /// Makes an archive in memory.
  ///
  /// - Parameters:
  ///   - limits: The limits of the store.
  ///   - configure: Changes the configuration.
  public convenience init(
    limits: StoreLimits = StoreLimits(bytes: 64 << 20), _ configure: (inout Configuration) -> Void = { _ in }
  ) {
    self.init(store: MemoryStore(limits: limits), configure)
  }

  /// Makes an archive with your own store.
  public init(store: any ArchiveStore, _ configure: (inout Configuration) -> Void = { _ in }) {
    engine = ArchiveEngine(Self.configuration(configure), store: StoreOpening(store))
    engine.start()
  }

  private init(
    opening open: @escaping @Sendable () throws -> any ArchiveStore, _ logger: Logger,
    _ configure: (inout Configuration) -> Void
  ) {
    engine = ArchiveEngine(Self.configuration(configure), store: StoreOpening(open))
    engine.start(logger)
  }

  private static func configuration(_ configure: (inout Configuration) -> Void) -> Configuration {
    var configuration = Configuration()
    configure(&configuration)
    return configuration
  }

  deinit {
    engine.invalidate()
  }

  /// Loads `request` from the store or from the rest of the chain.
  ///
  /// - Throws: What the rest of the chain throws; `URLError.resourceUnavailable` with an ``ArchiveError`` beneath if
  ///   the mode or the request's `cachePolicy` forbids the network and nothing is stored.
  public func startLoading(
    _ request: InterceptedRequest, next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    try await engine.load(request, next)
  }

  /// Waits until the archive is open.
  ///
  /// ```swift
  /// do { try await archive.opened() } catch { print(error) }      // an ArchiveError: in use, of a newer version, not writable, …
  /// ```
  ///
  /// - Throws: ``ArchiveError``. In that case, loads pass through without an archive.
  public func opened() async throws {
    _ = try await engine.opening.store()
  }

  /// The store with the responses, for listing, removing, pinning and tagging them.
  ///
  /// ```swift
  /// try await archive.store.removeAll(.host("example.com"))
  /// ```
  ///
  /// - Throws: ``ArchiveError`` if it could not be opened.
  public var store: any ArchiveStore {
    get async throws { try await engine.opening.store() }
  }

  /// Removes the stored responses for a request: all variants for the request's user, and nothing else.
  ///
  /// ```swift
  /// try await archive.remove(for: URLRequest(url: url))
  /// ```
  ///
  /// Pass the request as it reaches the archive: with the fields that interceptors before it add. A request that a rule
  /// keys by its body must carry that body as `httpBody`. To remove everything stored for a URL, for all users, use
  /// `store.removeAll(.url(url))`.
  ///
  /// - Returns: The number of entries removed.
  /// - Throws: ``ArchiveError`` if the archive could not be opened.
  @discardableResult
  public func remove(for request: URLRequest) async throws -> Int {
    let store = try await engine.opening.store()
    let next = InterceptorChain.Next { _ in throw CancellationError() }
    let intercepted = InterceptedRequest(request)
    let mode = engine.mode(of: intercepted)
    let load = try await ArchiveLoad(reading: intercepted, mode, engine, store, next)
    // What was asked for before this moment is not stored after it.
    engine.changes.note(load.key)
    engine.flights.close { $0.key == load.key }
    return try await store.removeAll(.key(load.key))
  }

  /// Ends background work, such as revalidations, and the events. Later loads pass through without an archive.
  public func invalidate() {
    engine.invalidate()
  }

  /// Invalidates the archive, and waits until everything stored is written and the directory is available to others.
  public func close() async {
    engine.invalidate()
    if let store = try? await engine.opening.store() { await store.close() }
  }
}
