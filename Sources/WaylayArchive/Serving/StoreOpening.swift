import Foundation

/// A store that is being opened in the background, and those who wait for it.
final class StoreOpening: Sendable {
  private struct State {
    var outcome: Result<any ArchiveStore, any Error>?
    var waiters = Waiters()
  }

  private let state: Locked<State>
  private let open: (@Sendable () throws -> any ArchiveStore)?

  init(_ store: any ArchiveStore) {
    state = Locked(State(outcome: .success(store)))
    open = nil
  }

  init(_ open: @escaping @Sendable () throws -> any ArchiveStore) {
    state = Locked(State())
    self.open = open
  }

  /// Opens the store, on a queue where waiting for a disk keeps nobody else.
  func start(_ done: @escaping @Sendable (Result<any ArchiveStore, any Error>) -> Void) {
    guard let open else {
      if let outcome = state.withLock({ $0.outcome }) { done(outcome) }
      return
    }
    DispatchQueue.global(qos: .userInitiated).async {
      let outcome = Result { try open() }
      done(outcome)
      let waiters = self.state.withLock { state in
        state.outcome = outcome
        return state.waiters.takeAll()
      }
      waiters.wake()
    }
  }

  /// The store, if it is open.
  var ready: (any ArchiveStore)? {
    state.withLock { state in
      if case .success(let store) = state.outcome { store } else { nil }
    }
  }

  /// The store, as soon as it is open.
  func store() async throws -> any ArchiveStore {
    if let store = ready { return store }
    await state.wait(at: \.waiters) { $0.outcome != nil }
    guard let outcome = state.withLock({ $0.outcome }) else { throw CancellationError() }
    return try outcome.get()
  }
}
