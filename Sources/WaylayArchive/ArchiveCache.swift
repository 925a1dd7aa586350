import Foundation
import Logging

/// A private HTTP cache and offline archive, as a link of a chain (RFC 9111).
///
/// Two lines make an app read on without a network:
///
/// ```swift
/// let archive = ArchiveCache(at: directory)
/// let session = URLSession(configuration: .default.intercepted(by: InterceptorRegistry { archive }))
/// ```
///
/// From then on answers are stored as their headers allow, reused while they are fresh, validated when they are not,
/// and given stale when the origin cannot be reached. With `archive.mode = .offline` everything that is stored is
/// given, whatever its age.
///
/// An archive stores what comes from the links after it, under the request that it sees: the request as the links
/// before it have made it. So a link that adds a token, and with it says who asks, stands before the archive; one that
/// changes nothing about the answer (a host rewriter, one that signs requests) stands after it:
///
/// ```swift
/// InterceptorRegistry {
///   TokenLink()        // before: what it adds keeps users apart
///   archive
///   HostRewriter(…)    // after: it changes nothing about the answer
/// }
/// ```
///
/// An archive before the token link cannot see whose answer it stores, and gives it to the next user. Name the user
/// with ``Configuration/partition`` then; it is also what keeps everything readable when a token is renewed.
///
/// Without a directory it keeps everything in memory: `ArchiveCache()`. What it does otherwise than HTTP prescribes is
/// set by its ``Configuration``; what it does at all is seen by ``events(bufferingNewest:)``, ``counters`` and
/// ``explain(_:)``.
///
/// The disk is opened in the background; loads that need it wait for it. When it cannot be opened, requests go through
/// as if there were no archive, a line at `.warning` says so, and ``opened()`` throws. Do not open one directory twice:
/// see ``DiskStore``.
public final class ArchiveCache: InlineAnswering {
  let engine: ArchiveEngine

  /// The name that errors and logs use.
  public var name: String { "ArchiveCache" }

  /// What is in memory and fresh, or all there is; everything else is for `startLoading`.
  public func answerInline(_ request: InterceptedRequest) throws -> InlineAnswer {
    try engine.answerAtOnce(request).map { .response($0) } ?? .startLoading
  }

  /// An archive in a directory, which is made where it is missing.
  ///
  /// - Parameters:
  ///   - directory: The directory. It belongs to the archive alone: no one else puts files there.
  ///   - options: How much it may hold, and how.
  ///   - configure: Changes the configuration.
  public convenience init(
    at directory: URL, options: DiskStore.Options = DiskStore.Options(),
    _ configure: (inout Configuration) -> Void = { _ in }
  ) {
    self.init(opening: { try DiskStore(at: directory, options: options) }, options.logger, configure)
  }

  /// An archive in memory.
  ///
  /// - Parameters:
  ///   - limits: How much it may hold.
  ///   - configure: Changes the configuration.
  public convenience init(
    limits: StoreLimits = StoreLimits(bytes: 64 << 20), _ configure: (inout Configuration) -> Void = { _ in }
  ) {
    self.init(store: MemoryStore(limits: limits), configure)
  }

  /// An archive in a store of your own.
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

  /// Loads `request` from what is stored, or from the rest of the chain.
  ///
  /// - Throws: What the rest of the chain throws; `URLError.resourceUnavailable` with an ``ArchiveError`` beneath when
  ///   the mode or the request's `cachePolicy` keeps it from the network and nothing is stored.
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
  /// - Throws: ``ArchiveError``. Loads go through without an archive then.
  public func opened() async throws {
    _ = try await engine.opening.store()
  }

  /// Where the answers are: for listing, removing, pinning and tagging them.
  ///
  /// ```swift
  /// try await archive.store.removeAll(.host("example.com"))
  /// ```
  ///
  /// - Throws: ``ArchiveError``, when it could not be opened.
  public var store: any ArchiveStore {
    get async throws { try await engine.opening.store() }
  }

  /// Removes what is stored for a request: all its variants, for the user that the request is of, and nothing of its
  /// neighbours.
  ///
  /// ```swift
  /// try await archive.remove(for: URLRequest(url: url))
  /// ```
  ///
  /// The request counts as it reaches the archive: with the fields that links before it add. A request that a rule keys
  /// by its body has to carry that body as `httpBody`. To remove whatever there is of a URL, for all users, use
  /// `store.removeAll(.url(url))`.
  ///
  /// - Returns: How many entries there were.
  /// - Throws: ``ArchiveError``, when the archive could not be opened.
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

  /// Ends what goes on behind answers, such as revalidations, and the events. Loads go through without an archive from
  /// now on.
  public func invalidate() {
    engine.invalidate()
  }

  /// The same, and waits until everything stored is written and the directory is free for others.
  public func close() async {
    engine.invalidate()
    if let store = try? await engine.opening.store() { await store.close() }
  }
}
