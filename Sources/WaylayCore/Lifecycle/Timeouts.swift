import Foundation

/// The time of the last activity of a load, in nanoseconds of the registry's clock.
struct IdleClock {
  let startedAt: UInt64
  var lastActivity: UInt64
  /// Whether the load waits for an interceptor or a server; `false` while a slow app delays the reading.
  var isWaiting = true
  var isPaused = false
  /// The number of interceptors that wait on purpose.
  var waits = 0
  /// The deadline of the whole load: the earliest that an interceptor has set.
  var deadline: ContinuousClock.Instant?
}

extension Load {
  private var now: UInt64 { registry.clock.now() }

  /// Records progress.
  func touch() { note { _ in } }

  /// Changes the clock, which counts as activity.
  private func note(_ change: (inout IdleClock) -> Void) {
    let now = now
    state.withLock { state in
      change(&state.clock)
      state.clock.lastActivity = now
    }
  }

  /// Records the total number of body bytes that a transport has sent.
  func sent(_ total: Int64) {
    touch()
    delegate?.sent(total)
  }

  /// Sets whether the load waits for progress.
  func setWaiting(_ isWaiting: Bool) { note { $0.isWaiting = isWaiting } }

  /// Stops the idle timeout while the app has suspended the task.
  func setPaused(_ isPaused: Bool) { note { $0.isPaused = isPaused } }

  /// Runs an interceptor's wait, which does not count as idle time.
  func waiting<Value>(_ wait: () async throws -> Value) async rethrows -> Value {
    note { $0.waits += 1 }
    defer { note { $0.waits -= 1 } }
    return try await wait()
  }

  /// Sets a deadline for the whole load, unless an earlier one is set.
  func end(by deadline: ContinuousClock.Instant) {
    let isEarlier = state.withLock { state in
      if let known = state.clock.deadline, known <= deadline { return false }
      state.clock.deadline = deadline
      return state.isWatched
    }
    if isEarlier { registry.watch.look(at: self) }
  }

  /// Starts the timeouts of the load, and registers it with the registry.
  ///
  /// - Parameter fail: Called at most once: for a timeout, or when the registry is invalidated; never after the load's
  ///   end.
  /// - Returns: `false` if the registry was already invalidated.
  func watch(fail: @escaping @Sendable (WaylayError) -> Void) -> Bool {
    state.withLock { state in
      state.isWatched = true
      state.onFailure = fail
    }
    guard registry.watch.add(self) else { return false }
    // The load may have ended meanwhile: remove it from the list here.
    if state.withLock({ $0.hasEnded }) { registry.watch.remove(self) }
    return true
  }

  private var idleLimit: TimeInterval { ownTimeout ?? context.requestTimeout }

  /// When to check this load again; `nil` if it has just expired, `.max` for never.
  func nextDeadline(now: UInt64) -> UInt64? {
    let clock = state.withLock { $0.clock }
    let isIdle = clock.isWaiting && !clock.isPaused && clock.waits == 0
    let earliest = min(
      (isIdle ? clock.lastActivity : now).saturating(adding: Self.nanoseconds(idleLimit)),
      clock.startedAt.saturating(adding: Self.nanoseconds(context.resourceTimeout)),
      now.saturating(adding: nanosecondsLeft(until: clock.deadline)))
    return earliest > now ? earliest : nil
  }

  /// The nanoseconds until a deadline; zero if it has passed.
  private func nanosecondsLeft(until deadline: ContinuousClock.Instant?) -> UInt64 {
    guard let deadline else { return .max }
    let left = registry.clock.instant().duration(to: deadline)
    return left > .zero ? Self.nanoseconds(left.inSeconds) : 0
  }

  /// Fails the load from outside.
  func fail(_ error: WaylayError) {
    state.withLock { $0.hasEnded ? nil : $0.onFailure.take() }?(error)
  }

  /// Fails the load for its idle timeout or its deadline.
  func expire() {
    let (innermost, isTransferring, hasResponded, clock) = state.withLock {
      ($0.innermost, $0.transfers > 0, $0.hasResponded, $0.clock)
    }
    let isOverall = clock.startedAt.saturating(adding: Self.nanoseconds(context.resourceTimeout)) <= now
    let waitingFor = isTransferring || hasResponded ? nil : innermost?.interceptor.name
    let place: String
    if let waitingFor {
      place = "\(waitingFor) was running"
    } else {
      place = hasResponded ? "the response's body was being read" : "the transport was waiting for a response"
    }
    let reason: String
    if nanosecondsLeft(until: clock.deadline) == 0 {
      reason =
        "the load missed its deadline, while \(place): make it faster, or set a later options.deadline."
    } else if isOverall {
      reason = """
        the whole load took longer than \(Self.text(context.resourceTimeout)) s, while \(place): make it shorter, or \
        raise the configuration's timeoutIntervalForResource.
        """
    } else {
      reason = """
        nothing happened for \(Self.text(idleLimit)) s, while \(place): answer sooner, or raise the timeoutInterval of \
        the request, or timeoutIntervalForRequest of the configuration.
        """
    }
    fail(WaylayError(.timedOut, reason, interceptor: waitingFor, url: url, requestID: id))
  }

  /// Formats seconds without a needless fraction: `60`, `0.5`.
  private static func text(_ seconds: TimeInterval) -> String {
    seconds == seconds.rounded() && abs(seconds) < 1e15 ? "\(Int64(seconds))" : "\(seconds)"
  }

  /// Zero, negative and unreasonable intervals mean "no timeout".
  private static func nanoseconds(_ seconds: TimeInterval) -> UInt64 {
    guard seconds > 0, seconds < 1e9 else { return .max }
    return UInt64(seconds * 1e9)
  }
}

/// The loads in progress of a registry; one timer serves their timeouts.
///
/// A load that makes progress only writes down the time; the timer checks due loads and sleeps until the next deadline.
/// So a timeout costs a dictionary entry, not a timer.
final class LoadWatch: Sendable {
  private struct State {
    var loads: [InterceptedRequest.ID: Load] = [:]
    /// When the timer fires next; `.max` if it is not armed.
    var wakeUp = UInt64.max
    var isClosed = false
  }

  private let state = Locked(State())
  private let clock: TimerClock

  init(clock: TimerClock) {
    self.clock = clock
  }

  /// Starts watching a load. Returns `false` if the registry was invalidated.
  func add(_ load: Load) -> Bool {
    let deadline = load.nextDeadline(now: clock.now())
    let isAccepted = state.withLock { state in
      guard !state.isClosed else { return false }
      guard let deadline else { return true }
      state.loads[load.id] = load
      arm(for: deadline, &state)
      return true
    }
    if isAccepted, deadline == nil { load.expire() }
    return isAccepted
  }

  /// Checks a load, and updates its deadline.
  func look(at load: Load, _ now: UInt64? = nil) {
    guard let deadline = load.nextDeadline(now: now ?? clock.now()) else {
      remove(load)
      return load.expire()
    }
    state.withLock { state in
      if state.loads[load.id] != nil { arm(for: deadline, &state) }
    }
  }

  func remove(_ load: Load) {
    state.withLock { _ = $0.loads.removeValue(forKey: load.id) }
  }

  /// Fails all loads, and rejects new ones.
  func close() {
    let loads = state.withLock { state in
      state.isClosed = true
      return exchange(&state.loads, with: [:]).values
    }
    for load in loads { load.fail(InterceptorRegistry.invalidatedError(url: load.url)) }
  }

  private func arm(for deadline: UInt64, _ state: inout State) {
    guard deadline < state.wakeUp else { return }
    state.wakeUp = deadline
    clock.schedule(deadline) { [weak self] in self?.wake() }
  }

  private func wake() {
    let now = clock.now()
    let loads = state.withLock { state -> [Load] in
      // An earlier deadline may have been armed after this one: its timer has done the check.
      guard state.wakeUp <= now else { return [] }
      state.wakeUp = .max
      return Array(state.loads.values)
    }
    for load in loads { look(at: load, now) }
  }
}
