import Foundation

/// A store that is being opened in the background, and those who wait for it.
final class StoreOpening: Sendable {
  private struct State {
    var limits: StoreLimits
    var outcome: Result<any ArchiveStore, any Error>?
    var waiters = Waiters()
  }

  private let state: Locked<State>
  private let storage: ArchiveCache.Storage?

  init(_ store: any ArchiveStore) {
    state = Locked(State(limits: store.limits, outcome: .success(store)))
    storage = nil
  }

  init(_ storage: ArchiveCache.Storage) {
    state = Locked(State(limits: storage.limits))
    self.storage = storage
  }

  /// Opens the store, on a queue where waiting for a disk keeps nobody else.
  func start(_ done: @escaping @Sendable (Result<any ArchiveStore, any Error>) -> Void) {
    guard let storage else {
      if let outcome = state.withLock({ $0.outcome }) { done(outcome) }
      return
    }
    DispatchQueue.global(qos: .userInitiated).async { [self] in
      var limits = state.withLock { $0.limits }
      let outcome = Result { [limits] in try storage.open(limits) }
      done(outcome)
      // Limits that were set while it opened apply before anybody uses it.
      while let newer = publish(outcome, limits) {
        (try? outcome.get())?.limits = newer
        limits = newer
      }
    }
  }

  /// Hands out the store, unless its limits have changed since: then returns those.
  private func publish(_ outcome: Result<any ArchiveStore, any Error>, _ limits: StoreLimits) -> StoreLimits? {
    let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>]? in
      guard state.limits == limits else { return nil }
      state.outcome = outcome
      return state.waiters.takeAll()
    }
    waiters?.wake()
    return waiters == nil ? state.withLock { $0.limits } : nil
  }

  /// The limits of the store, or those that it will have.
  var limits: StoreLimits {
    get { ready?.limits ?? state.withLock { $0.limits } }
    set {
      state.withLock { $0.limits = newValue }
      ready?.limits = newValue
    }
  }

  /// The store, if it is open.
  var ready: (any ArchiveStore)? {
    state.withLock { state in if case .success(let store) = state.outcome { store } else { nil } }
  }

  /// The store, as soon as it is open.
  func store() async throws -> any ArchiveStore {
    if let store = ready { return store }
    await state.wait(at: \.waiters) { $0.outcome != nil }
    guard let outcome = state.withLock({ $0.outcome }) else { throw CancellationError() }
    return try outcome.get()
  }
}
