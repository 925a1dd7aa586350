import Foundation

extension ArchiveCache {
  /// A sequence of the responses for a request: first the stored one, at any age, then each new one that differs from
  /// its predecessor.
  ///
  /// ```swift
  /// for try await response in archive.updates(for: request, through: registry) {
  ///   show(try await response.body().collect(upTo: 1 << 20))
  /// }
  /// ```
  ///
  /// With a registry, the request is also loaded like the app's own loads: a fresh stored response is not loaded again,
  /// a stale one is validated. Without a registry, the sequence only follows the responses that other loads store. A
  /// response is new if its status or its body differs. Responses that may not be stored do not appear. The sequence
  /// ends when the archive is invalidated, or its task is cancelled.
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
      // Keep the body open, to compare it with the next response after its file is removed.
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
    // Compare without the query, because with `No-Vary-Search` several queries share an entry.
    func path(_ key: ArchiveKey) -> ArraySlice<UInt8> { key.resource.prefix { $0 != UInt8(ascii: "?") } }
    for await key in commits where path(key) == path(load.key) { try await look() }
  }
}
