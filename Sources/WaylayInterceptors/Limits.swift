public import WaylayCore

/// An interceptor that limits the number of concurrent requests per host.
///
/// ```swift
/// ConcurrencyLimit(perHost: 4)
/// ```
///
/// Further requests wait in a FIFO queue; a cancelled request leaves it. A request occupies its slot until the body of
/// its response has been read or dropped. Waiting does not count as idle time.
///
/// A delegate that is asked about a redirect, and that first makes a request to the same host, needs a second slot if the
/// redirect's body is longer than 64 KiB or slow: with a limit of 1, set `longestWait`.
public struct ConcurrencyLimit: OrderedInterceptor {
  private struct Host {
    var running = 0
    var queue: [Promise<Void>] = []
  }

  private let limit: Int
  private let longestWait: Duration?
  private let clock: any Clock<Duration>
  private let hosts = Locked<[Authority: Host]>([:])

  /// Makes the interceptor.
  ///
  /// - Parameters:
  ///   - limit: The number of requests for each host and port, at least 1.
  ///   - longestWait: How long a request may wait for its slot before it fails with `URLError.timedOut`, at most a
  ///     year; `nil` for as long as its deadline allows.
  ///   - clock: The clock for the waits.
  public init(perHost limit: Int, longestWait: Duration? = nil, clock: any Clock<Duration> = ContinuousClock()) {
    (self.limit, self.longestWait, self.clock) = (max(1, limit), longestWait?.upToAYear, clock)
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
    // A body that can be read again comes from no connection.
    guard !response.body.isReplayable else {
      leave(host)
      return response
    }
    // At its end, or when its last reference is released.
    response.body = response.body.observed({ _ in }, atEnd: { _ in leave(host) })
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
    let timer = longestWait.map { wait in
      Task {
        guard (try? await clock.sleep(for: wait)) != nil else { return }
        let message = "a request waited longer than its longestWait: raise it, or send fewer at once."
        waiter.settle(.failure(WaylayError(.timedOut, message, interceptor: "ConcurrencyLimit")))
      }
    }
    defer { timer?.cancel() }
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
}

/// An interceptor that limits the rate of requests per host.
///
/// ```swift
/// RateLimit(perHost: 10, every: .seconds(1))
/// ```
///
/// The first requests, up to the limit, are sent at once; later ones at an even rate (a token bucket), in FIFO order.
/// Waiting does not count as idle time; the turn of a request that is cancelled goes to the next one that waits.
public struct RateLimit: OrderedInterceptor {
  private struct Host {
    /// When the bucket is full again.
    var full = Duration.zero
    var waiters: [Promise<Void>] = []
    /// One timer for each turn to come: as many as there are waiters.
    var turns: [Task<Void, Never>] = []
  }

  private let interval: Duration
  private let time: Duration
  private let stopwatch: Stopwatch
  private let hosts = Locked<[Authority: Host]>([:])

  /// Makes the interceptor.
  ///
  /// - Parameters:
  ///   - limit: The number of requests for each host and port, at least 1.
  ///   - time: The period that the limit applies to, at most a year.
  ///   - clock: The clock for the waits.
  public init(perHost limit: Int, every time: Duration, clock: any Clock<Duration> = ContinuousClock()) {
    self.time = time.upToAYear
    interval = self.time / max(1, limit)
    stopwatch = Stopwatch(clock)
  }

  /// Waits for a token, and passes the request on.
  public func startLoading(
    _ request: InterceptedRequest, next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    let (host, now, waiter) = (request.url.authority, stopwatch.elapsed(), Promise<Void>())
    let waits = hosts.withLock { hosts in
      // A full bucket equals a missing one: remove it.
      if hosts.count > 1000 { hosts = hosts.filter { $0.value.full > now } }
      var entry = hosts[host] ?? Host()
      entry.full = max(entry.full, now) + interval
      let turn = entry.full - time
      if turn > now {
        entry.waiters.append(waiter)
        entry.turns.append(Task { if (try? await stopwatch.sleep(until: turn)) != nil { serve(host) } })
      }
      hosts[host] = entry
      return turn > now
    }
    if waits {
      try await next.waiting { try await waiter.valueUnlessCancelled(onCancel: { giveBack(waiter, host) }) }
    }
    return try await next(request)
  }

  /// Gives a turn whose time has come to the first waiting request.
  private func serve(_ host: Authority) {
    let waiter = hosts.withLock { hosts -> Promise<Void>? in
      guard hosts[host]?.waiters.isEmpty == false else { return nil }
      hosts[host]?.turns.removeFirst()
      return hosts[host]?.waiters.removeFirst()
    }
    // A request that was cancelled meanwhile is no longer in the queue.
    if waiter?.settle(.success(())) == false { serve(host) }
  }

  /// Removes a cancelled request and the last turn: all requests behind it move up.
  private func giveBack(_ waiter: Promise<Void>, _ host: Authority) {
    let last = hosts.withLock { hosts -> Task<Void, Never>? in
      guard let place = hosts[host]?.waiters.firstIndex(where: { $0 === waiter }) else { return nil }
      hosts[host]?.waiters.remove(at: place)
      hosts[host]?.full -= interval
      return hosts[host]?.turns.popLast()
    }
    last?.cancel()
  }
}
