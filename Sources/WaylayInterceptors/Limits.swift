public import WaylayCore

/// An interceptor that limits the number of concurrent requests per host.
///
/// ```swift
/// ConcurrencyLimit(perHost: 4)
/// ```
///
/// Further requests wait in a FIFO queue; a cancelled request leaves it. A request occupies its slot until the body of
/// its response has been read or dropped. Waiting does not count as idle time.
public struct ConcurrencyLimit: OrderedInterceptor {
  private struct Host {
    var running = 0
    var queue: [Promise<Void>] = []
  }

  private let limit: Int
  private let hosts = Locked<[Authority: Host]>([:])

  /// Makes the interceptor.
  ///
  /// - Parameter limit: The number of requests for each host and port, at least 1.
  public init(perHost limit: Int) {
    self.limit = max(1, limit)
  }

  /// Waits for a slot, and passes the request on.
  public func startLoading(
    _ request: InterceptedRequest, next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    let host = request.url.authority
    try await enter(host, next)
    var response: InterceptedResponse
    do {
      response = try await next(request)
    } catch {
      leave(host)
      throw error
    }
    guard response.body.inMemory == nil else {
      leave(host)
      return response
    }
    let place = Place { leave(host) }
    response.body = response.body.observed({ _ in }, atEnd: { _ in place.leave() })
    return response
  }

  private func enter(_ host: Authority, _ next: InterceptorChain.Next) async throws {
    let waiter = hosts.withLock { hosts -> Promise<Void>? in
      guard hosts[host, default: Host()].running >= limit else {
        hosts[host, default: Host()].running += 1
        return nil
      }
      let waiter = Promise<Void>()
      hosts[host]?.queue.append(waiter)
      return waiter
    }
    guard let waiter else { return }
    do {
      try await next.waiting { try await waiter.valueUnlessCancelled() }
    } catch {
      hosts.withLock { $0[host]?.queue.removeAll { $0 === waiter } }
      throw error
    }
  }

  /// Passes the slot on to the next waiting request that was not cancelled.
  private func leave(_ host: Authority) {
    while true {
      let heir = hosts.withLock { hosts -> Promise<Void>? in
        guard var entry = hosts[host] else { return nil }
        let heir = entry.queue.isEmpty ? nil : entry.queue.removeFirst()
        if heir == nil { entry.running -= 1 }
        hosts[host] = entry.running == 0 ? nil : entry
        return heir
      }
      guard let heir, !heir.settle(.success(())) else { return }
    }
  }

  /// A slot, released once: when the body ends, or when its last reference is released.
  private final class Place: Sendable {
    private let onLeave: Locked<(@Sendable () -> Void)?>

    init(_ onLeave: @escaping @Sendable () -> Void) { self.onLeave = Locked(onLeave) }

    deinit { leave() }

    func leave() {
      let onLeave = onLeave.withLock { onLeave in
        defer { onLeave = nil }
        return onLeave
      }
      onLeave?()
    }
  }
}

/// An interceptor that limits the rate of requests per host.
///
/// ```swift
/// RateLimit(perHost: 10, every: .seconds(1))
/// ```
///
/// The first requests, up to the limit, are sent at once; later ones at an even rate (a token bucket), in FIFO order.
/// Waiting does not count as idle time; a request that is cancelled while it waits returns its token.
public struct RateLimit: OrderedInterceptor {
  private let interval: Duration
  private let time: Duration
  private let stopwatch: Stopwatch
  /// When each host's bucket is full again.
  private let full = Locked<[Authority: Duration]>([:])

  /// Makes the interceptor.
  ///
  /// - Parameters:
  ///   - limit: The number of requests for each host and port, at least 1.
  ///   - time: The period that the limit applies to.
  ///   - clock: The clock for the waits.
  public init(perHost limit: Int, every time: Duration, clock: any Clock<Duration> = ContinuousClock()) {
    self.time = time
    interval = time / max(1, limit)
    stopwatch = Stopwatch(clock)
  }

  /// Waits for a token, and passes the request on.
  public func startLoading(
    _ request: InterceptedRequest, next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    let (host, now) = (request.url.authority, stopwatch.elapsed())
    let turn = full.withLock { full -> Duration in
      // A full bucket equals a missing one: remove it.
      if full.count > 1000 { full = full.filter { $0.value > now } }
      let then = max(full[host] ?? now, now) + interval
      full[host] = then
      return then - time
    }
    if turn > now {
      do {
        try await next.waiting { try await stopwatch.sleep(until: turn) }
      } catch {
        full.withLock { full in full[host] = full[host].map { $0 - interval } }
        throw error
      }
    }
    return try await next(request)
  }
}
