import Foundation

extension ArchiveCache {
  /// Loads what will be wanted later, and stores it: before the network goes, or for the next start.
  ///
  /// ```swift
  /// let result = try await archive.prefetch(pages.map { URLRequest(url: $0) }, through: registry) { progress in
  ///   print("\(progress.finished) of \(progress.total)")
  /// }
  /// for failure in result.failures { print(failure.request.url?.path ?? "", failure.error) }
  /// ```
  ///
  /// Each request is a direct load through the chains of `registry`, so that it has the token and takes the way that
  /// the app's requests have and take. What is fresh is not loaded again, and what is stale is validated, as the
  /// request's `cachePolicy` and the archive's mode say. Bodies pass through memory piece by piece.
  ///
  /// - Parameters:
  ///   - requests: The requests, as the app will make them later.
  ///   - registry: A registry in whose chains this archive is.
  ///   - limit: How many loads are under way at once, at most.
  ///   - progress: Called each time when one has come to its end, one call after the other.
  /// - Returns: How it went, with what could not be loaded or stored.
  /// - Throws: ``ArchiveError`` when the archive could not be opened; `CancellationError`. What was stored by then stays.
  @discardableResult
  public func prefetch(
    _ requests: [URLRequest], through registry: InterceptorRegistry, atMost limit: Int = 4,
    progress: (PrefetchProgress) -> Void = { _ in }
  ) async throws -> PrefetchProgress {
    _ = try await engine.opening.store()
    var result = PrefetchProgress(total: requests.count)
    try await withThrowingTaskGroup(of: (URLRequest, PrefetchProgress.Result).self) { [engine] group in
      var rest = requests[...]
      while true {
        try Task.checkCancellation()
        while !rest.isEmpty, requests.count - rest.count - result.finished < max(1, limit) {
          let request = rest.removeFirst()
          group.addTask { (request, await engine.prefetch(request, registry)) }
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

/// How far an ``ArchiveCache/prefetch(_:through:atMost:progress:)`` is.
public struct PrefetchProgress: Sendable {
  /// How many requests there are.
  public let total: Int
  /// How many were loaded and are stored now.
  public private(set) var stored = 0
  /// How many were there already: fresh, confirmed by the origin, or stale with an origin that cannot be reached.
  public private(set) var present = 0
  /// Bytes of the bodies that were stored.
  public private(set) var bytes: Int64 = 0
  /// What could not be loaded, or not be stored, and why.
  public private(set) var failures: [Failure] = []

  /// How many have come to their end.
  public var finished: Int { stored + present + failures.count }

  /// A request that brought nothing.
  public struct Failure: Sendable {
    /// The request.
    public let request: URLRequest
    /// What its load failed with, or an ``ArchiveError`` with ``ArchiveError/Code/notPrefetched``.
    public let error: any Error
  }

  typealias Result = Swift.Result<LoadOutcome.Kind, any Error>

  init(total: Int) {
    self.total = total
  }

  fileprivate mutating func add(_ result: Result, _ request: URLRequest) {
    switch result {
    case .success(.stored(let count)): (stored, bytes) = (stored + 1, bytes.addingSaturating(count))
    case .success(.present): present += 1
    case .success(.refused(let reason)):
      failures.append(
        Failure(request: request, error: ArchiveError.notPrefetched("it is not stored: \(reason).", request)))
    case .failure(let error): failures.append(Failure(request: request, error: error))
    }
  }
}

extension ArchiveEngine {
  fileprivate func prefetch(_ request: URLRequest, _ registry: InterceptorRegistry) async -> PrefetchProgress.Result {
    let outcome = LoadOutcome(of: self)
    do {
      return try await LoadOutcome.$current.withValue(outcome) {
        let response = try await registry.load(request)
        for try await _ in response.body {}
        guard response.status.code < 400 else {
          throw ArchiveError.notPrefetched("the server answered with status \(response.status.code).", request)
        }
        guard let kind = outcome.kind else {
          throw ArchiveError.notPrefetched("it did not come by this archive: give a registry that has it.", request)
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
    ArchiveError(.notPrefetched, "a request was prefetched in vain: \(reason)", url: request.url)
  }
}
