public import WaylayCore

/// An interceptor that lets no more than a number of requests to one host be under way at a time.
///
/// ```swift
/// ConcurrencyLimit(perHost: 4)
/// ```
///
/// The others wait for their turn, first come, first served; one that is cancelled leaves the queue. A request keeps its
/// place until the body of its response has been read or dropped. Waiting is not its idle time.
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

  /// Waits for a place, and passes the request on.
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

  /// Gives the place to the next in the queue that still wants it.
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

  /// A place among the requests of a host, which is given up once: when the body ends, or when all that knows it is gone.
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

/// An interceptor that sends no more than a number of requests to one host in a time.
///
/// ```swift
/// RateLimit(perHost: 10, every: .seconds(1))
/// ```
///
/// As many as the limit go at once, and then one in each part of the time ("token bucket"), first come, first served.
/// Waiting is not a request's idle time; one that is cancelled while it waits gives its turn back.
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
  ///   - time: The time in which they may be sent.
  ///   - clock: The clock of the waits.
  public init(perHost limit: Int, every time: Duration, clock: any Clock<Duration> = ContinuousClock()) {
    self.time = time
    interval = time / max(1, limit)
    stopwatch = Stopwatch(clock)
  }

  /// Waits for its turn, and passes the request on.
  public func startLoading(
    _ request: InterceptedRequest, next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    let (host, now) = (request.url.authority, stopwatch.elapsed())
    let turn = full.withLock { full -> Duration in
      // Hosts whose buckets are full are as good as unknown.
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
