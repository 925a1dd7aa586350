import Foundation

/// A store that is being opened in the background, and those who wait for it; opened again when it could not be.
final class StoreOpening: Sendable {
  private struct State {
    var limits: StoreLimits
    var outcome: Result<any ArchiveStore, any Error>?
    /// When the last opening began, in nanoseconds of the clock.
    var begun: UInt64 = 0
    var isOpening = false
    /// Nobody needs it any more.
    var isReleased = false
    var waiters = Waiters()
  }

  private static let pause: UInt64 = 1_000_000_000

  private let state: Locked<State>
  private let storage: ArchiveCache.Storage?
  private let clock: TimerClock
  private let report: Locked<@Sendable (Result<any ArchiveStore, any Error>) -> Void> = Locked { _ in }

  /// - Parameters:
  ///   - storage: What is opened, and opened again; `nil` for a store that is its owner's.
  ///   - store: The store, where it is open.
  init(_ storage: ArchiveCache.Storage?, open store: (any ArchiveStore)?, _ clock: TimerClock) {
    let limits = store?.limits ?? storage?.limits ?? StoreLimits()
    state = Locked(State(limits: limits, outcome: store.map { .success($0) }))
    self.storage = storage
    self.clock = clock
  }

  /// Opens the store, on a queue where waiting for a disk keeps nobody else.
  ///
  /// - Parameter report: Told of each outcome.
  func start(_ report: @escaping @Sendable (Result<any ArchiveStore, any Error>) -> Void) {
    self.report.withLock { $0 = report }
    if let outcome = state.withLock({ $0.outcome }) { report(outcome) } else { open() }
  }

  /// Begins an opening, unless one is under way, was just made in vain, or is not to be tried again; or where it is open.
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
        // Its directory has gone, and with it everything that it had.
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
      // Limits that were set while it opened apply before anybody uses it.
      while let newer = publish(outcome, limits) {
        (try? outcome.get())?.limits = newer
        limits = newer
      }
    }
  }

  /// Hands out the store, unless its limits have changed since: then returns those.
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
    state.withLock { state in
      guard case .success(let store) = state.outcome, !state.isReleased, store.isUsable else { return nil }
      return store
    }
  }

  /// The store, as soon as it is open.
  func store() async throws -> any ArchiveStore {
    if let store = ready { return store }
    open()
    await ended()
    guard let outcome = state.withLock({ $0.outcome }) else { throw CancellationError() }
    return try outcome.get()
  }

  /// Waits until an opening that is under way has ended.
  private func ended() async {
    await state.wait(at: \.waiters) { $0.outcome != nil || $0.isReleased && !$0.isOpening }
  }

  /// Gives the directory back: at once where nobody else in this process has it.
  func release() { if let store = takeReleased() { SharedStores.release(store) } }

  /// The same, and waits until others can have it.
  func close() async {
    // What is being opened is closed as soon as it is open.
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
  /// Whether it may be used: the directory of one on disk is there.
  fileprivate var isUsable: Bool { (self as? DiskStore)?.isOpen ?? true }
}

extension Error {
  /// Whether an opening that failed for this reason may succeed later, with nothing else changed in this process.
  fileprivate var mayPass: Bool {
    guard let code = (self as? ArchiveError)?.code else { return true }
    return ![.wrongKey, .invalidKey, .foreignFormat].contains(code)
  }
}

/// The stores on disk of this process's archives: those in one directory share one, as the system lets only one write.
///
/// A process-wide table, because a directory is the whole process's.
enum SharedStores {
  private struct State {
    /// The stores that are open, and how many archives have each.
    var stores: [ObjectIdentifier: (store: DiskStore, users: Int)] = [:]
    /// The paths that somebody opens just now.
    var busy: Set<String> = []
    /// The stores that are being closed, each until its directory is free.
    var closing: [ObjectIdentifier: Task<Void, Never>] = [:]
    /// How many have been closed.
    var closings = 0
    /// Those that wait for an opening or a closing to end.
    var waiting: [DispatchSemaphore] = []
  }

  private static let state = Locked(State())
  /// How long none of the others may come to an end.
  private static let patience = DispatchTimeInterval.seconds(10)

  /// Opens a store, or returns the one that another archive has in the same directory. Blocks.
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
          // One that is just being closed is free in a moment.
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

  /// Changes the state, and wakes who waits for that.
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

  /// The store that somebody has in a directory, whatever path leads there.
  private static func known(_ path: String, _ options: DiskStore.Options) throws -> DiskStore? {
    guard let directory = try? ArchiveDirectory(path: path, FileSystem(options.system)) else { return nil }
    let store = state.withLock { state -> DiskStore? in
      // One whose contents were removed may be in the table beside the one that took its place.
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

  /// Gives a store back; the last one closes it. One that was not opened here is its owner's.
  ///
  /// - Returns: Its closing, which is in the table until the directory is free; `nil` where it goes on.
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

  /// Gives a store back, and waits until everything that it has is written, and the directory is free where this was
  /// the last one.
  static func close(_ store: any ArchiveStore) async {
    let known = (store as? DiskStore).flatMap { store in
      state.withLock { $0.stores[ObjectIdentifier(store)]?.store }
    }
    guard let known else { return await store.close() }
    if let closing = release(known) { await closing.value } else { try? await known.perform { _ in } }
  }
}
