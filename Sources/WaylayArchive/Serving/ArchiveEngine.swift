import Foundation
import Logging

/// What an archive consists of, apart from the handle that its owner has: loads hold this, and the owner's handle ends
/// it.
final class ArchiveEngine: Sendable {
  let configuration: ArchiveCache.Configuration
  let modes: Locked<ArchiveCache.Modes>
  let reporter: ArchiveReporter
  let opening: StoreOpening
  let flights = Flights<FlightKey>()
  let background = BackgroundWork<ArchiveKey>()
  let records = RecordCache()
  let cookies = ReceivedCookies()
  let changes = Changes()
  let isInvalidated = Locked(false)

  init(_ configuration: ArchiveCache.Configuration, store opening: StoreOpening) {
    self.configuration = configuration
    self.opening = opening
    modes = Locked(ArchiveCache.Modes(general: configuration.mode))
    reporter = ArchiveReporter(logger: configuration.logger ?? FallbackLogger.current)
  }

  /// Opens the store, and listens to it.
  ///
  /// - Parameter logger: Who hears that it cannot be opened, where the configuration names nobody.
  func start(_ logger: Logger? = nil) {
    opening.start { [weak self, reporter, configuration] outcome in
      switch outcome {
      case .success(let store): store.observe { [weak self] in self?.heard($0) }
      case .failure(let error):
        let reason = "the archive could not be opened: \(error.redacted)"
        reporter.report(ArchiveEvent(.storeFailed, reason: reason))
        if configuration.logger == nil { logger?.warning("\(reason) Requests go through as if there were none.") }
      }
    }
  }

  func invalidate() {
    let isFirst = isInvalidated.withLock { isInvalidated in
      defer { isInvalidated = true }
      return !isInvalidated
    }
    guard isFirst else { return }
    background.close()
    modes.withLock { modes -> Task<Void, Never>? in
      defer { modes.follower = nil }
      return modes.follower
    }?.cancel()
    reporter.close()
  }

  /// What the store does of its own accord.
  private func heard(_ event: StoreEvent) {
    let kind: ArchiveEvent.Kind =
      switch event.kind {
      case .evicted: .evicted
      case .refused: .refused
      default: .storeFailed
      }
    reporter.report(
      ArchiveEvent(kind, url: event.url.flatMap(URL.init(string:)), reason: event.reason, bytes: event.bytes))
  }

  /// The answer to a request, where it is in memory (rule 9); `nil` when ``load(_:_:)`` has to look further.
  func answerAtOnce(_ request: InterceptedRequest) throws -> InterceptedResponse? {
    guard !isInvalidated.withLock({ $0 }), let store = opening.ready,
      let load = ArchiveLoad(
        request, mode(of: request), self, store, InterceptorChain.Next { _ in throw CancellationError() })
    else { return nil }
    return try load.answerAtOnce()
  }

  /// Loads a request.
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
      let answer = try load.answerAtOnce()
    {
      return answer
    }
    let store: any ArchiveStore
    do {
      store = try await opening.store()
    } catch {
      try Task.checkCancellation()
      guard mode.allowsNetwork else {
        throw ArchiveError(
          .unavailable, "the archive could not be opened, and its mode is \(mode): see the underlying error.",
          url: request.url,
          requestID: request.id,
          underlying: error
        ).urlError()
      }
      reporter.report(
        ArchiveEvent(.bypassed, load: request.id, url: request.url, reason: "the archive could not be opened"))
      return try await next(request)
    }
    let load = try await ArchiveLoad(reading: request, mode, self, store, next)
    return try await load.run()
  }

  /// The mode of one request: its own, the configuration's for it, its host's, the archive's.
  func mode(of request: InterceptedRequest) -> ArchiveMode {
    if let mode = request[ArchiveModeKey.self] { return mode }
    if let modeFor = configuration.modeFor, let mode = modeFor(request.urlRequest) { return mode }
    let (general, scoped) = modes.withLock { ($0.general, $0.scoped) }
    guard !scoped.isEmpty else { return general }
    return scoped.last { $0.scope.covers(request.url) }?.mode ?? general
  }
}

extension ArchiveMode {
  /// Whether the mode lets a request out.
  var allowsNetwork: Bool { self != .offline && self != .replayOnly }
}

extension ArchiveEvent {
  init(
    _ kind: Kind, load: InterceptedRequest.ID? = nil, url: URL? = nil, reason: String? = nil, bytes: Int64? = nil,
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
