import Foundation

/// When something last happened in a load, in the nanoseconds of the registry's clock.
struct IdleClock {
  let startedAt: UInt64
  var lastActivity: UInt64
  /// Whether the load waits for somebody else: an interceptor, a server. While the app is slow to read, it does not.
  var isWaiting = true
  var isPaused = false
}

extension Load {
  private var now: UInt64 { registry.clock.now() }

  /// Notes progress.
  func touch() {
    let now = now
    state.withLock { $0.clock.lastActivity = now }
  }

  /// Notes that a transport has sent so many bytes of a request's body, from its beginning.
  func sent(_ total: Int64) {
    touch()
    delegate?.sent(total)
  }

  /// Says whether the load waits for progress now.
  func setWaiting(_ isWaiting: Bool) {
    let now = now
    state.withLock { state in
      state.clock.isWaiting = isWaiting
      state.clock.lastActivity = now
    }
  }

  /// Stops the idle timeout while the app has suspended the task.
  func setPaused(_ isPaused: Bool) {
    let now = now
    state.withLock { state in
      state.clock.isPaused = isPaused
      state.clock.lastActivity = now
    }
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
    let idle = Self.nanoseconds(idleLimit)
    let resource = Self.nanoseconds(context.resourceTimeout)
    return state.withLock { state -> UInt64? in
      let clock = state.clock
      let resourceDeadline = clock.startedAt.saturating(adding: resource)
      guard resourceDeadline > now else { return nil }
      let idleDeadline =
        clock.isWaiting && !clock.isPaused
        ? clock.lastActivity.saturating(adding: idle) : now.saturating(adding: idle)
      guard idleDeadline > now else { return nil }
      return min(idleDeadline, resourceDeadline)
    }
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
    let (innermost, isTransferring, hasAnswered, startedAt) = state.withLock {
      ($0.innermost, $0.transfers > 0, $0.hasAnswered, $0.clock.startedAt)
    }
    let isOverall = startedAt.saturating(adding: Self.nanoseconds(context.resourceTimeout)) <= now
    let waitingFor = isTransferring || hasAnswered ? nil : innermost?.link.name
    let place =
      if let waitingFor { "\(waitingFor) was running" } else if hasAnswered {
        "the response's body was being read"
      } else { "the transport was waiting for an answer" }
    let reason =
      if isOverall {
        """
        the whole load took longer than \(Self.text(context.resourceTimeout)) s, while \(place): make it shorter, or \
        raise the configuration's timeoutIntervalForResource.
        """
      } else {
        """
        nothing happened for \(Self.text(idleLimit)) s, while \(place): answer sooner, or raise the timeoutInterval of \
        the request, or timeoutIntervalForRequest of the configuration.
        """
      }
    fail(
      WaylayError(
        .timedOut, reason,
        interceptor: waitingFor, url: url, requestID: id))
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
