import Foundation

extension ArchiveCache {
  /// Where an archive keeps its responses: in a directory, or in memory.
  ///
  /// ```swift
  /// let archive = ArchiveCache(.disk(at: directory, limits: StoreLimits(bytes: 256 << 20)))
  /// ```
  ///
  /// For a directory without options, `ArchiveCache(at: directory)` is enough.
  public struct Storage: Sendable {
    private enum Place: Sendable {
      case memory
      case disk(URL, DiskStore.Options)
    }

    private let place: Place
    let limits: StoreLimits

    /// Memory, up to 64 MB: for sessions that must leave nothing behind, and for processes that may not write.
    public static let memory = memory(limits: StoreLimits(bytes: 64 << 20))

    /// Memory, within limits of your own.
    public static func memory(limits: StoreLimits) -> Storage { Storage(place: .memory, limits: limits) }

    /// A directory, which is created if necessary. Stored responses survive the end of the process, even if it is
    /// killed.
    ///
    /// Several processes may use one directory, an app and its extension for example: stored responses are visible to
    /// all of them at once, and so are removals. The archives of one process share one store: the options of the first
    /// archive apply, a log line reports differing ones, and a different key is an error. Only the owner can access the
    /// directory and its files (0700, 0600). Do not use a network file system, where locks are unreliable.
    ///
    /// - Parameters:
    ///   - directory: The directory. It belongs to the archive exclusively: put no other files there.
    ///   - limits: How much is stored.
    ///   - memory: The number of bytes of entries to keep in memory as well, for responses without waiting.
    ///   - compressesText: Whether to compress textual bodies (zlib) before they are written.
    ///   - isReadOnly: Whether the archive only reads, and creates and changes nothing in the directory, even while
    ///     another process uses it.
    ///   - encryptionKey: Returns the key for encrypting heads and bodies (AES-GCM): at least 16 bytes; 32 are usual.
    ///     Called once, when the archive is opened; ``ArchiveCache/waitUntilOpen()`` throws its error. `nil` for no
    ///     encryption.
    public static func disk(
      at directory: URL, limits: StoreLimits = StoreLimits(), memory: Int = 8 << 20, compressesText: Bool = false,
      isReadOnly: Bool = false, encryptionKey: (@Sendable () throws -> EncryptionKey)? = nil
    ) -> Storage {
      let options = DiskStore.Options(
        limits: limits, memory: memory, compressesText: compressesText, isReadOnly: isReadOnly,
        encryptionKey: encryptionKey)
      return .disk(at: directory, options: options)
    }

    package static func disk(at directory: URL, options: DiskStore.Options) -> Storage {
      Storage(place: .disk(directory, options), limits: options.limits)
    }

    /// Opens the store, and creates it if necessary.
    ///
    /// - Parameter limits: The current limits, which may differ from the initial ones.
    func open(_ limits: StoreLimits) throws -> any ArchiveStore {
      switch place {
      case .memory: return MemoryStore(limits: limits)
      case .disk(let directory, var options):
        options.limits = limits
        return try SharedStores.open(directory, options)
      }
    }

    /// The store in memory; `nil` for a store on disk, which opens in the background.
    var openAtOnce: (any ArchiveStore)? {
      if case .memory = place { MemoryStore(limits: limits) } else { nil }
    }

    /// The logger for a failure to open, if the configuration has none.
    var logger: Logger? { if case .disk(_, let options) = place { options.logger } else { nil } }

    var path: String { if case .disk(let directory, _) = place { directory.path } else { "memory" } }
  }
}

// MARK: Stored responses

extension ArchiveCache {
  /// Returns the stored responses that match a filter, oldest first.
  ///
  /// ```swift
  /// for response in try await archive.entries(.host("example.com")) { print(response) }
  /// ```
  ///
  /// Entries of another version of this package that this version cannot read are left out.
  ///
  /// - Throws: ``ArchiveError`` if the archive could not be opened or read.
  public func entries(_ filter: EntryFilter = .all) async throws -> [ArchivedResponse] {
    let store = try await store
    return try await store.list(engine.resolved(filter, store)).compactMap(ArchivedResponse.init)
  }

  /// Returns the stored response for a request, at any age, without the network and without an event.
  ///
  /// ```swift
  /// if let stored = try await archive.response(for: URLRequest(url: url)) {
  ///   show(try await stored.body().collect(upTo: 1 << 20))
  /// }
  /// ```
  ///
  /// Pass the request as it reaches the archive: with the fields that interceptors before it add.
  ///
  /// - Returns: `nil` if nothing is stored for the request, its user and its fields.
  /// - Throws: ``ArchiveError`` if the archive could not be opened or read.
  public func response(for request: URLRequest) async throws -> ArchivedResponse? {
    let store = try await store
    // A closed store returns no entries, which must not be reported as a miss.
    guard isOpen else { throw ArchiveError.closed }
    let load = try await engine.reading(InterceptedRequest(request), in: store)
    let stored = load.understood(try await load.entries())
    return load.selected(stored).flatMap { ArchivedResponse(stored[$0].entry) }
  }

  /// Returns whether a response is stored for a request, and whether it is fresh, for a list to show.
  ///
  /// - Throws: ``ArchiveError`` if the archive could not be opened or read.
  public func state(for request: URLRequest) async throws -> ArchivedState {
    guard let stored = try await response(for: request) else { return .none }
    return stored.isFresh(at: engine.configuration.now().date) ? .fresh : .stale
  }

  /// Stores a response as if the archive had loaded it, for a response that the app received another way.
  ///
  /// ```swift
  /// try await archive.store(response, body: data, for: URLRequest(url: url))
  /// ```
  ///
  /// Header fields, keys, lifetimes and `willStore` of the ``Configuration`` decide whether and for how long it is
  /// stored, as for any response. It replaces stored responses for the request.
  ///
  /// - Throws: ``ArchiveError`` if the archive could not be opened, and with `ArchiveError.notWritten` and the reason if
  ///   the response is not stored.
  public func store(_ response: HTTPURLResponse, body: Data, for request: URLRequest) async throws {
    let (request, store) = (InterceptedRequest(request), try await store)
    let outcome = LoadOutcome(of: engine, decided: store.moment)
    let load = try await engine.reading(request, in: store)
    let given = InterceptedResponse(
      to: request, status: HTTPResponse.Status(code: response.statusCode), fields: try HTTPFields(response),
      body: .data(body), source: .archive)
    var reason = "its method is \(request.method)" + (load.asked.hasBody ? ", with a body that no rule covers" : "")
    if load.canAnswer {
      let stored = load.understood(try await load.entries())
      switch try await load.store(given, replacing: stored, outcome) {
      case .stored: return
      case .refused(let why): reason = why
      case .present, nil: reason = "its status is \(response.statusCode)"
      }
    }
    throw ArchiveError(
      .notWritten, "the response is not stored (\(reason)): change it, or the archive's rules.", url: request.url,
      requestID: request.id)
  }

  /// Removes the stored responses that match a filter: all of them by default.
  ///
  /// ```swift
  /// try await archive.removeAll(.host("example.com"))
  /// ```
  ///
  /// When it returns, other archives that read the same directory no longer find them either. A load that began before
  /// the call does not store its response afterwards, in any of these archives, unless the filter names another host or
  /// partition. This includes background loads, prefetches and seeds.
  ///
  /// - Returns: The number of entries removed, as ``StoreUsage/count`` counts them.
  @discardableResult
  public func removeAll(_ filter: EntryFilter = .all) async throws -> Int {
    let store = try await store
    engine.flights.close { _ in true }
    return try await store.removeAll(engine.resolved(filter, store))
  }

  /// The limits. You can set them at any time: entries that exceed them are evicted in the background, and existing
  /// entries over the new limit for one entry stay until then.
  ///
  /// ```swift
  /// archive.limits.bytes = 64 << 20
  /// ```
  public var limits: StoreLimits {
    get { engine.opening.limits }
    set { engine.opening.limits = newValue }
  }

  /// The number of bytes and responses stored.
  ///
  /// - Throws: ``ArchiveError`` if the archive could not be opened.
  public var usage: StoreUsage { get async throws { try await store.usage } }

  /// Waits until everything stored so far survives a power failure, as far as the system can tell.
  ///
  /// - Throws: `ArchiveError.notWritten` if something could not be written.
  public func flush() async throws { try await store.flush() }
}

/// Whether a response is stored, and whether it may be used without validation; see ``ArchiveCache/state(for:)``.
public enum ArchivedState: Hashable, Sendable {
  /// A fresh response is stored.
  case fresh
  /// A stale response is stored: it is validated if the network is available.
  case stale
  /// No response is stored.
  case none
}

extension ArchiveEngine {
  /// A load that reads or adds entries, and never uses the network.
  func reading(
    _ request: InterceptedRequest, in store: any ArchiveStore, _ mode: ArchiveMode? = nil
  ) async throws -> ArchiveLoad {
    let next = InterceptorChain.Next { _ in throw CancellationError() }
    return try await ArchiveLoad(reading: request, mode ?? self.mode(of: request), self, store, next)
  }

  /// The filter with its URLs converted to keys by the archive's key rules.
  func resolved(_ filter: EntryFilter, _ store: any ArchiveStore) -> EntryFilter {
    filter.resolved { url in
      RequestKey(InterceptedRequest(.get, url), body: nil, configuration) { store.digest($0) }.resource
    }
  }
}
