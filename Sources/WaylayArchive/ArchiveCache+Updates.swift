import Foundation

extension ArchiveCache {
  /// The stored response for a request at once, however old it is, and each later one that differs from it.
  ///
  /// ```swift
  /// for try await response in archive.updates(for: request, through: registry) {
  ///   show(try await response.body().collect(upTo: 1 << 20))
  /// }
  /// ```
  ///
  /// With a registry, the request is also loaded, as the app's own loads are: a fresh response is not asked for again, a
  /// stale one is checked. Without one, it follows what other loads store. A response is a new one if its status or its
  /// body is another; one that may not be stored is not among them. The sequence ends when the archive is invalidated,
  /// or its task is cancelled.
  ///
  /// - Parameters:
  ///   - request: The request as it reaches the archive.
  ///   - registry: A registry whose chains include this archive.
  /// - Returns: A sequence that throws ``ArchiveError`` if the archive could not be opened, and the error of the load if
  ///   nothing was stored before it.
  public func updates(
    for request: URLRequest, through registry: InterceptorRegistry? = nil
  ) -> AsyncThrowingStream<ArchivedResponse, any Error> {
    let commits = engine.commits.subscribe(bufferingNewest: 1024)
    return AsyncThrowingStream { [engine] continuation in
      let task = Task {
        do {
          try await engine.follow(request, registry, commits) { continuation.yield($0) }
          continuation.finish()
        } catch {
          continuation.finish(throwing: error)
        }
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }
}

extension ArchiveEngine {
  fileprivate func follow(
    _ request: URLRequest, _ registry: InterceptorRegistry?, _ commits: AsyncStream<ArchiveKey>,
    _ found: (ArchivedResponse) -> Void
  ) async throws {
    let load = try await reading(InterceptedRequest(request), in: try await opening.store(), .offline)
    var last: StoredEntry?
    func look() async throws {
      let stored = load.understood(try await load.entries())
      guard let index = load.decide(stored, load.now).selected else { return }
      var entry = stored[index].entry
      guard entry.id != last?.id else { return }
      // Held open, it can be compared with the one that replaces it.
      entry.contents = try await entry.contents.opened()
      if let last, last.details.status == entry.details.status,
        try await entry.body().equals(try await last.body())
      {
        return
      }
      last = entry
      ArchivedResponse(entry).map(found)
    }
    try await look()
    do {
      if let registry { for try await _ in try await registry.load(request).body {} }
    } catch  where last != nil {}
    // Up to the query, because `No-Vary-Search` may have several of them share an entry.
    func path(_ key: ArchiveKey) -> ArraySlice<UInt8> { key.resource.prefix { $0 != UInt8(ascii: "?") } }
    for await key in commits where path(key) == path(load.key) { try await look() }
  }
}
