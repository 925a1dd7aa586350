import Foundation

/// When something last happened in a load, in the nanoseconds of the registry's clock.
struct IdleClock {
  let startedAt: UInt64
  var lastActivity: UInt64
  /// Whether the load waits for somebody else: an interceptor, a server. While the app is slow to read, it does not.
  var isWaiting = true
  var isPaused = false
  /// Interceptors that wait on purpose.
  var waits = 0
  /// When all of it has to be over: the earliest that an interceptor has said.
  var deadline: ContinuousClock.Instant?
}

extension Load {
  private var now: UInt64 { registry.clock.now() }

  /// Notes progress.
  func touch() { note { _ in } }

  /// Changes the clock, which counts as activity.
  private func note(_ change: (inout IdleClock) -> Void) {
    let now = now
    state.withLock { state in
      change(&state.clock)
      state.clock.lastActivity = now
    }
  }

  /// Notes that a transport has sent so many bytes of a request's body, from its beginning.
  func sent(_ total: Int64) {
    touch()
    delegate?.sent(total)
  }

  /// Says whether the load waits for progress now.
  func setWaiting(_ isWaiting: Bool) { note { $0.isWaiting = isWaiting } }

  /// Stops the idle timeout while the app has suspended the task.
  func setPaused(_ isPaused: Bool) { note { $0.isPaused = isPaused } }

  /// Runs a wait of an interceptor that is not the request's idle time.
  func waiting<Value>(_ wait: () async throws -> Value) async rethrows -> Value {
    note { $0.waits += 1 }
    defer { note { $0.waits -= 1 } }
    return try await wait()
  }

  /// Has the whole load be over by then, unless it has to be earlier.
  func end(by deadline: ContinuousClock.Instant) {
    let isEarlier = state.withLock { state in
      if let known = state.clock.deadline, known <= deadline { return false }
      state.clock.deadline = deadline
      return state.isWatched
    }
    if isEarlier { registry.watch.look(at: self) }
  }

  /// Puts the load under its timeouts and the registry's control.
  ///
  /// - Parameter fail: Called at most once: for a timeout, or when the registry is invalidated; not after the load's
  ///   end.
  /// - Returns: `false` when the registry has been invalidated already.
  func watch(fail: @escaping @Sendable (WaylayError) -> Void) -> Bool {
    state.withLock { state in
      state.isWatched = true
      state.onFailure = fail
    }
    guard registry.watch.add(self) else { return false }
    // The load may have ended meanwhile; then nobody else takes it off the list.
    if state.withLock({ $0.hasEnded }) { registry.watch.remove(self) }
    return true
  }

  private var idleLimit: TimeInterval { ownTimeout ?? context.requestTimeout }

  /// When to look at this load again, or `nil` when it has just expired. `.max` stands for never.
  func nextDeadline(now: UInt64) -> UInt64? {
    let clock = state.withLock { $0.clock }
    let isIdle = clock.isWaiting && !clock.isPaused && clock.waits == 0
    let earliest = min(
      (isIdle ? clock.lastActivity : now).saturating(adding: Self.nanoseconds(idleLimit)),
      clock.startedAt.saturating(adding: Self.nanoseconds(context.resourceTimeout)),
      now.saturating(adding: nanosecondsLeft(until: clock.deadline)))
    return earliest > now ? earliest : nil
  }

  /// The nanoseconds until a deadline, none when it is over.
  private func nanosecondsLeft(until deadline: ContinuousClock.Instant?) -> UInt64 {
    guard let deadline else { return .max }
    let left = registry.clock.instant().duration(to: deadline)
    return left > .zero ? Self.nanoseconds(left.inSeconds) : 0
  }

  /// Fails the load from outside.
  func fail(_ error: WaylayError) {
    let onFailure = state.withLock { state in
      defer { state.onFailure = nil }
      return state.hasEnded ? nil : state.onFailure
    }
    onFailure?(error)
  }

  /// Fails the load, because nothing happened for too long, or the whole of it took too long.
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
        "the load was not over by its deadline, while \(place): make it shorter, or set a later options.deadline."
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

  /// Seconds as people write them: 60, and 0.5.
  private static func text(_ seconds: TimeInterval) -> String {
    seconds == seconds.rounded() && abs(seconds) < 1e15 ? "\(Int64(seconds))" : "\(seconds)"
  }

  /// Zero, negative and unreasonable intervals mean "no timeout".
  private static func nanoseconds(_ seconds: TimeInterval) -> UInt64 {
    guard seconds > 0, seconds < 1e9 else { return .max }
    return UInt64(seconds * 1e9)
  }
}

/// The loads of a registry that are under way, with the timeouts of all of them on one timer.
///
/// A load that makes progress only writes down the time; the timer looks at what is due and sleeps until the next
/// deadline. So arming a timeout costs a dictionary entry, not a timer.
final class LoadWatch: Sendable {
  private struct State {
    var loads: [InterceptedRequest.ID: Load] = [:]
    /// When the timer fires next; `.max` when it is not armed.
    var wakeUp = UInt64.max
    var isClosed = false
  }

  private let state = Locked(State())
  private let clock: TimerClock

  init(clock: TimerClock) {
    self.clock = clock
  }

  /// Starts watching. `false` when the registry has been invalidated.
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

  /// Looks at a load that may be over its time, or have another deadline than before.
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

  /// Fails all loads, and accepts no others.
  func close() {
    let loads = state.withLock { state in
      state.isClosed = true
      defer { state.loads = [:] }
      return state.loads.values
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
      // An earlier deadline may have been armed after this one: then that one has looked already.
      guard state.wakeUp <= now else { return [] }
      state.wakeUp = .max
      return Array(state.loads.values)
    }
    for load in loads { look(at: load, now) }
  }
}
