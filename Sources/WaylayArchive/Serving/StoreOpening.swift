import Foundation

/// Opens a store in the background, lets loads wait for it, and retries after a failure.
final class StoreOpening: Sendable {
  private struct State {
    var limits: StoreLimits
    var outcome: Result<any ArchiveStore, any Error>?
    /// The start of the last opening, in nanoseconds of the clock.
    var begun: UInt64 = 0
    var isOpening = false
    /// Whether the archive has released the store.
    var isReleased = false
    var waiters = Waiters()
  }

  private static let pause: UInt64 = 1_000_000_000

  private let state: Locked<State>
  private let storage: ArchiveCache.Storage?
  private let clock: TimerClock
  private let report: Locked<@Sendable (Result<any ArchiveStore, any Error>) -> Void> = Locked { _ in }

  /// - Parameters:
  ///   - storage: The storage to open and reopen; `nil` for a store owned by the caller.
  ///   - store: The store, if it is open.
  init(_ storage: ArchiveCache.Storage?, open store: (any ArchiveStore)?, _ clock: TimerClock) {
    let limits = store?.limits ?? storage?.limits ?? StoreLimits()
    state = Locked(State(limits: limits, outcome: store.map { .success($0) }))
    self.storage = storage
    self.clock = clock
  }

  /// Opens the store on a queue where disk I/O blocks no other work.
  ///
  /// - Parameter report: Called with each result.
  func start(_ report: @escaping @Sendable (Result<any ArchiveStore, any Error>) -> Void) {
    self.report.withLock { $0 = report }
    if let outcome = state.withLock({ $0.outcome }) { report(outcome) } else { open() }
  }

  /// Starts an opening, unless the store is open or opening, or the last failure is recent or permanent.
  private func open() {
    guard let storage else { return }
    let now = clock.now()
    var lost: (any ArchiveStore)?
    let starts = state.withLock { state in
      guard !state.isOpening, !state.isReleased else { return false }
      switch state.outcome {
      case nil: break
      case .failure(let error)?: guard now &- state.begun >= Self.pause, error.isTemporary else { return false }
      case .success(let store)?:
        guard now &- state.begun >= Self.pause, !store.isUsable else { return false }
        // The directory was removed, along with its entries.
        lost = store
      }
      (state.begun, state.isOpening, state.outcome) = (now, true, nil)
      return true
    }
    guard starts else { return }
    if let lost { SharedStores.release(lost) }
    DispatchQueue.global(qos: .userInitiated).async { [self] in
      var limits = state.withLock { $0.limits }
      let outcome = Result { [limits] in try storage.open(limits) }
      report.withLock { $0 }(outcome)
      // Apply limits set while the store was opening before any load uses it.
      while let newer = publish(outcome, limits) {
        (try? outcome.get())?.limits = newer
        limits = newer
      }
    }
  }

  /// Publishes the result; if the limits have changed meanwhile, returns the new ones instead.
  private func publish(_ outcome: Result<any ArchiveStore, any Error>, _ limits: StoreLimits) -> StoreLimits? {
    let (waiters, isReleased) = state.withLock { state -> ([CheckedContinuation<Void, Never>]?, Bool) in
      guard state.limits == limits else { return (nil, false) }
      (state.outcome, state.isOpening) = (outcome, false)
      return (state.waiters.takeAll(), state.isReleased)
    }
    waiters?.wake()
    if isReleased, let store = try? outcome.get() { SharedStores.release(store) }
    return waiters == nil ? state.withLock { $0.limits } : nil
  }

  /// The current or future limits of the store.
  var limits: StoreLimits {
    get { ready?.limits ?? state.withLock { $0.limits } }
    set {
      state.withLock { $0.limits = newValue }
      ready?.limits = newValue
    }
  }

  /// The store if it is open.
  var ready: (any ArchiveStore)? {
    state.withLock { state in
      guard case .success(let store) = state.outcome, !state.isReleased, store.isUsable else { return nil }
      return store
    }
  }

  /// Returns the store; waits until it is open.
  func store() async throws -> any ArchiveStore {
    if let store = ready { return store }
    open()
    await ended()
    guard let outcome = state.withLock({ $0.outcome }) else { throw CancellationError() }
    return try outcome.get()
  }

  /// Waits for the end of an opening.
  private func ended() async {
    await state.wait(at: \.waiters) { $0.outcome != nil || $0.isReleased && !$0.isOpening }
  }

  /// Releases the directory, at once if no other archive of this process uses it.
  func release() { if let store = takeReleased() { SharedStores.release(store) } }

  /// Releases the directory, and waits until it can be opened again.
  func close() async {
    // A store that is being opened is closed right after.
    await ended()
    if let store = takeReleased() { await SharedStores.close(store) }
  }

  private func takeReleased() -> (any ArchiveStore)? {
    state.withLock { state in
      guard !state.isReleased else { return nil }
      state.isReleased = true
      return try? state.outcome?.get()
    }
  }
}

extension ArchiveStore {
  /// Whether the store is usable: on disk, its directory must exist.
  fileprivate var isUsable: Bool { (self as? DiskStore)?.isOpen ?? true }
}

extension Error {
  /// Whether the failure is temporary: opening may succeed later without any change in this process.
  fileprivate var isTemporary: Bool {
    guard let code = (self as? ArchiveError)?.code else { return true }
    return ![.wrongKey, .invalidKey, .foreignFormat, .unavailable].contains(code)
  }
}
