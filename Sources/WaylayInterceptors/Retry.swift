public import WaylayCore

/// An interceptor that sends a request again after a transient failure.
///
/// ```swift
/// Retry(attempts: 4, initialDelay: .milliseconds(300))
/// ```
///
/// | failure or response | sent again |
/// |---|---|
/// | the network failed before anything was sent | any request whose body can be read again |
/// | the network failed later | idempotent ones: GET, HEAD, OPTIONS, TRACE, QUERY, PUT, DELETE, or with `Idempotency-Key` |
/// | 408, 425, 429, 500, 502, 503, 504 | idempotent ones |
/// | a certificate was not accepted, the load was cancelled | nothing |
/// | a stored response | nothing |
///
/// The wait follows `Retry-After` (RFC 9110, section 10.2.3, both forms); without it, it is a random time up to
/// `initialDelay`, doubled for each further attempt (full jitter). If the wait would exceed
/// `maximumDelay` or the request's `options.deadline`, the app gets the last response or error. Waiting does not count
/// as idle time.
///
/// An archive behind it sees the attempt number, and does not serve a stored failure to a retry.
///
/// All requests of one `Retry` share a budget: ten retries at once, then one per five requests, which prevents a retry
/// storm when a server is down. The `LoadEvent` of the kind `retried` counts retries. A failure in the middle of a
/// response's body reaches the app: the bytes already read cannot be revoked.
public struct Retry: OrderedInterceptor {
  private let attempts: Int
  private let initialDelay: Duration
  private let maximumDelay: Duration
  private let clock: any Clock<Duration>
  private let budget = Locked(Retry.mostSaved)

  /// Makes the interceptor.
  ///
  /// - Parameters:
  ///   - attempts: The maximum number of attempts, the first one included.
  ///   - initialDelay: The maximum wait before the second attempt.
  ///   - maximumDelay: The maximum wait before any attempt, at most a year.
  ///   - clock: The clock for the waits.
  public init(
    attempts: Int = 3, initialDelay: Duration = .milliseconds(500), maximumDelay: Duration = .seconds(20),
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    (self.attempts, self.initialDelay) = (max(1, attempts), initialDelay.upToAYear)
    self.maximumDelay = maximumDelay.upToAYear
    self.clock = clock
  }

  /// Sends the request until it succeeds, or a retry is pointless.
  public func startLoading(
    _ request: InterceptedRequest, next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    budget.withLock { $0 = min($0 + Self.savedPerRequest, Self.mostSaved) }
    for attempt in 1..<attempts {
      let wait: Duration
      do {
        let response = try await next(request)
        guard Self.isTransient(response), Self.isRepeatable(request), request.body.isReplayable,
          let time = pause(after: attempt, response, for: request)
        else { return response }
        await response.body.discard()
        wait = time
      } catch let error as TransportError {
        guard Self.isTransient(error), error.requestBytesSent == 0 || Self.isRepeatable(request),
          request.body.isReplayable, let time = pause(after: attempt, nil, for: request)
        else { throw error }
        wait = time
      }
      try await next.waiting { try await clock.sleep(for: wait) }
    }
    return try await next(request)
  }

  private static let mostSaved = 10.0
  private static let savedPerRequest = 0.2
  private static let statuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

  /// Whether the request has no further effect if the server has seen it before.
  private static func isRepeatable(_ request: InterceptedRequest) -> Bool {
    request.isIdempotent || request.fields.contains { $0.name.canonicalName == "idempotency-key" }
  }

  private static func isTransient(_ response: InterceptedResponse) -> Bool {
    // A source that does not store cookies serves stored responses, such as an archive: do not retry them.
    response.source.storesCookies && statuses.contains(response.status.code)
  }

  private static func isTransient(_ error: TransportError) -> Bool {
    error.isNetworkFailure && !error.code.isCertificate
      && ![.clientCertificate, .notTLS, .limitExceeded, .cancelled].contains(error.code)
  }

  /// The wait before the next attempt; `nil` if a retry is pointless or the budget is spent.
  private func pause(
    after attempt: Int, _ response: InterceptedResponse?, for request: InterceptedRequest
  ) -> Duration? {
    let most = min(initialDelay * (1 << min(attempt - 1, 20)), maximumDelay)
    let chance = most * Double.random(in: 0...1)
    let wait = response.flatMap(\.retryAfter).map { $0 + chance / 4 } ?? chance
    guard wait <= maximumDelay else { return nil }
    if let deadline = request.options.deadline, .now + wait >= deadline { return nil }
    let isAffordable = budget.withLock { budget in
      guard budget >= 1 else { return false }
      budget -= 1
      return true
    }
    return isAffordable ? wait : nil
  }
}

extension InterceptedResponse {
  /// The value of `Retry-After`: seconds, or a date relative to the server's `Date`.
  var retryAfter: Duration? {
    guard let text = fields[.retryAfter] else { return nil }
    if !text.isEmpty, text.utf8.allSatisfy(\.isASCIIDigit) { return .seconds(min(Int64(text) ?? .max, 1 << 31)) }
    let now = Int64(Date().timeIntervalSince1970)
    guard let date = HTTPDate.seconds(text, now: now) else { return nil }
    return .seconds(max(0, date - (fields[.date].flatMap { HTTPDate.seconds($0, now: now) } ?? now)))
  }
}
