import Foundation

extension ArchiveCache {
  /// Loads and stores responses ahead of time: before the network goes away, or for the next launch.
  ///
  /// ```swift
  /// let result = try await archive.prefetch(pages.map { URLRequest(url: $0) }, through: registry) { progress in
  ///   print("\(progress.finished) of \(progress.total)")
  /// }
  /// for failure in result.failures { print(failure.request.url?.path ?? "", failure.error) }
  /// ```
  ///
  /// Each request is a direct load through the chains of `registry`, so that it gets the same token and the same
  /// handling as the app's requests. Fresh responses are not loaded again, and stale ones are validated, depending on
  /// the request's `cachePolicy` and the archive's mode. Bodies pass through memory in pieces.
  ///
  /// - Parameters:
  ///   - requests: The requests, exactly as the app will make them later.
  ///   - registry: A registry whose chains include this archive.
  ///   - limit: The maximum number of concurrent loads.
  ///   - progress: Called after each load, one call at a time.
  /// - Returns: The final progress, with the requests that could not be loaded or stored.
  /// - Throws: ``ArchiveError`` if the archive could not be opened; `CancellationError`. Responses stored by then stay.
  @discardableResult
  public func prefetch(
    _ requests: [URLRequest], through registry: InterceptorRegistry, atMost limit: Int = 4,
    progress: (PrefetchProgress) -> Void = { _ in }
  ) async throws -> PrefetchProgress {
    let decided = try await engine.opening.store().moment
    var result = PrefetchProgress(total: requests.count)
    try await withThrowingTaskGroup(of: (URLRequest, PrefetchProgress.Result).self) { [engine] group in
      var rest = requests[...]
      while true {
        try Task.checkCancellation()
        while !rest.isEmpty, requests.count - rest.count - result.finished < max(1, limit) {
          let request = rest.removeFirst()
          group.addTask { (request, await engine.prefetch(request, registry, decided)) }
        }
        guard let (request, end) = try await group.next() else { return }
        try Task.checkCancellation()
        result.add(end, request)
        progress(result)
      }
    }
    return result
  }
}

/// The progress of ``ArchiveCache/prefetch(_:through:atMost:progress:)``.
public struct PrefetchProgress: Sendable {
  /// The number of requests.
  public let total: Int
  /// The number of responses loaded and stored.
  public private(set) var stored = 0
  /// The number of responses that were already stored: fresh, validated by the origin, or stale with an unreachable
  /// origin.
  public private(set) var present = 0
  /// The number of body bytes stored.
  public private(set) var bytes: Int64 = 0
  /// The requests that could not be loaded or stored, each with the load's error or an ``ArchiveError`` with
  /// `ArchiveError.notPrefetched`.
  public private(set) var failures: [(request: URLRequest, error: any Error)] = []

  /// The number of finished requests, including failed ones.
  public var finished: Int { stored + present + failures.count }

  typealias Result = Swift.Result<LoadOutcome.Kind, any Error>

  init(total: Int) { self.total = total }

  fileprivate mutating func add(_ result: Result, _ request: URLRequest) {
    switch result {
    case .success(.stored(let count)): (stored, bytes) = (stored + 1, bytes.saturating(adding: count))
    case .success(.present): present += 1
    case .success(.refused(let reason)):
      failures.append(
        (request, ArchiveError.notPrefetched("it is not stored: \(reason).", request)))
    case .failure(let error): failures.append((request, error))
    }
  }
}

extension ArchiveEngine {
  fileprivate func prefetch(
    _ request: URLRequest, _ registry: InterceptorRegistry, _ decided: Int64
  ) async -> PrefetchProgress.Result {
    let outcome = LoadOutcome(of: self, decided: decided)
    do {
      return try await LoadOutcome.$current.withValue(outcome) {
        let response = try await registry.load(request)
        for try await _ in response.body {}
        guard response.status.code < 400 else {
          throw ArchiveError.notPrefetched("the server answered with status \(response.status.code).", request)
        }
        guard let kind = outcome.kind else {
          throw ArchiveError.notPrefetched(
            "it did not pass through this archive: use a registry whose chains include it.", request)
        }
        return .success(kind)
      }
    } catch {
      return .failure(error)
    }
  }
}

extension ArchiveError {
  fileprivate static func notPrefetched(_ reason: String, _ request: URLRequest) -> ArchiveError {
    ArchiveError(.notPrefetched, "a request could not be prefetched: \(reason)", url: request.url)
  }
}
