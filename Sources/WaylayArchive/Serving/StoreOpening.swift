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
      case .failure(let error)?: guard now &- state.begun >= Self.pause, error.mayPass else { return false }
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

  /// Publishes the result, unless the limits have changed since: then returns the new ones.
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
  /// Whether opening may succeed later without any change in this process.
  fileprivate var mayPass: Bool {
    guard let code = (self as? ArchiveError)?.code else { return true }
    return ![.wrongKey, .invalidKey, .foreignFormat].contains(code)
  }
}

/// The disk stores of this process: archives in the same directory share one, because only one store at a time may
/// write.
///
/// The table is process-wide, like the lock of a directory.
enum SharedStores {
  private struct State {
    /// The open stores, with the number of archives that use each.
    var stores: [ObjectIdentifier: (store: DiskStore, users: Int)] = [:]
    /// The paths that are being opened.
    var busy: Set<String> = []
    /// The stores that are being closed, until their directories are unlocked.
    var closing: [ObjectIdentifier: Task<Void, Never>] = [:]
    /// The number of completed closings.
    var closings = 0
    /// Threads that wait for an opening or closing to end.
    var waiting: [DispatchSemaphore] = []
  }

  private static let state = Locked(State())
  /// The maximum wait for other openings and closings.
  private static let patience = DispatchTimeInterval.seconds(10)

  /// Opens a store, or returns the one that another archive uses in the same directory. Blocks.
  static func open(_ directory: URL, _ options: DiskStore.Options, secret: [UInt8]?) throws -> DiskStore {
    guard directory.isFileURL, !options.isReadOnly else {
      return try DiskStore(at: directory, options: options, secret: secret)
    }
    let path = directory.standardizedFileURL.path
    var refusal: any Error = ArchiveError(.locked, "the archive in \(path) is being opened: try again.")
    repeat {
      let closings = state.withLock { $0.closings }
      if state.withLock({ $0.busy.insert(path).inserted }) {
        defer { change { $0.busy.remove(path) } }
        do {
          return try openNow(directory, path, options, secret)
        } catch let error as ArchiveError where error.code == .locked {
          // Retry if the directory is locked by a store that is being closed.
          guard state.withLock({ !$0.closing.isEmpty || $0.closings != closings }) else { throw error }
          refusal = error
        }
      }
      let changed = DispatchSemaphore(value: 0)
      state.withLock { state in
        if state.busy.contains(path) || !state.closing.isEmpty && state.closings == closings {
          state.waiting.append(changed)
        } else {
          changed.signal()
        }
      }
      guard changed.wait(timeout: .now() + patience) == .success else { throw refusal }
    } while true
  }

  /// Changes the state, and wakes the waiting threads.
  private static func change(_ change: (inout State) -> Void) {
    let waiting = state.withLock { state in
      change(&state)
      defer { state.waiting = [] }
      return state.waiting
    }
    for one in waiting { one.signal() }
  }

  private static func openNow(
    _ directory: URL, _ path: String, _ options: DiskStore.Options, _ secret: [UInt8]?
  ) throws -> DiskStore {
    if let known = try known(path, options) { return known }
    let store = try DiskStore(at: directory, options: options, secret: secret)
    state.withLock { $0.stores[ObjectIdentifier(store)] = (store, 1) }
    return store
  }

  /// The open store in a directory, whatever path leads there.
  private static func known(_ path: String, _ options: DiskStore.Options) throws -> DiskStore? {
    guard let directory = try? ArchiveDirectory(path: path, FileSystem(options.system)) else { return nil }
    let store = state.withLock { state -> DiskStore? in
      // Skip a store whose directory was replaced: it may still be in the table.
      let found = state.stores.first { $0.value.store.isOpen && $0.value.store.archive.isSame(as: directory) }
      guard let (id, found) = found else { return nil }
      state.stores[id]?.users += 1
      return found.store
    }
    guard let store else { return nil }
    do {
      _ = try store.identity.sealing(options.encryptionKey?().longEnough(), directory: path)
      return store
    } catch {
      release(store)
      throw error
    }
  }

  /// Releases a store; the last release closes it. A store that was not opened here belongs to its caller.
  ///
  /// - Returns: The task that closes the store, which stays in the table until the directory is unlocked; `nil` if the
  ///   store remains in use.
  @discardableResult
  static func release(_ store: any ArchiveStore) -> Task<Void, Never>? {
    guard let store = store as? DiskStore else { return nil }
    let id = ObjectIdentifier(store)
    return state.withLock { state in
      guard let users = state.stores[id]?.users else { return nil }
      state.stores[id]?.users -= 1
      guard users == 1 else { return nil }
      state.stores[id] = nil
      let closing = Task {
        await store.close()
        change {
          $0.closing[id] = nil
          $0.closings += 1
        }
      }
      state.closing[id] = closing
      return closing
    }
  }

  /// Releases a store, and waits until everything is written and, after the last release, the directory is unlocked.
  static func close(_ store: any ArchiveStore) async {
    let known = (store as? DiskStore).flatMap { store in
      state.withLock { $0.stores[ObjectIdentifier(store)]?.store }
    }
    guard let known else { return await store.close() }
    if let closing = release(known) { await closing.value } else { try? await known.perform { _ in } }
  }
}
