import Foundation

/// The attempts of one exchange, recorded by the last interceptor of the chain.
final class AttemptLog: Sendable {
  /// The maximum number of attempts: a request may be retried forever.
  private static let most = 100
  /// `nil` once the exchange is packed.
  private let attempts = Locked<[RawAttempt]?>([])

  /// The key under which a request carries the log of its exchange.
  enum Note: InterceptedRequest.Key {
    static let defaultValue: AttemptLog? = nil
  }

  /// Adds an attempt at its start.
  ///
  /// - Returns: Its index, for ``end(_:_:)``.
  func begin(_ attempt: RawAttempt) -> Int? {
    attempts.withLock { attempts in
      guard let count = attempts?.count, count < Self.most else { return nil }
      attempts?.append(attempt)
      return count
    }
  }

  func end(_ index: Int?, _ attempt: RawAttempt) {
    guard let index else { return }
    attempts.withLock { attempts in
      if let count = attempts?.count, index < count { attempts?[index] = attempt }
    }
  }

  /// Empties the log: the request that carries it may live longer.
  func close() {
    attempts.withLock { $0 = nil }
  }

  var all: [RawAttempt] { attempts.withLock { $0 ?? [] } }
}

/// One call of the transport.
struct RawAttempt: Sendable {
  /// The address of the route.
  var address: String?
  var began: UInt64
  var ended: UInt64?
  var status: Int?
  var metrics: LoadMetrics?
  var error: (any Error)?
}

extension Inspector {
  /// An interceptor that records each request to the network as an attempt of its exchange: put it last in the chain.
  ///
  /// The results appear in ``Exchange/attempts``: the addresses that an earlier interceptor has tried, in turn or
  /// concurrently, and the outcome of each. Without it, only the address of the response is known.
  public var attempts: some RequestInterceptor {
    memory.withLock { $0.watchesAttempts = true }
    return AttemptInterceptor(clock: clock)
  }
}

/// Records each request to the network.
private struct AttemptInterceptor: RequestInterceptor {
  let clock: TimerClock

  var name: String { "Inspector.attempts" }

  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    guard let log = request[AttemptLog.Note.self] else { return try await next(request) }
    var attempt = RawAttempt(address: Self.address(of: request), began: clock.now())
    let index = log.begin(attempt)
    defer { log.end(index, attempt) }
    do {
      let response = try await next(request)
      (attempt.status, attempt.metrics, attempt.ended) = (response.status.code, response.metrics, clock.now())
      return response
    } catch {
      (attempt.error, attempt.ended) = (error, clock.now())
      throw error
    }
  }

  /// The address of a request's route, in the format of the transports.
  private static func address(of request: InterceptedRequest) -> String? {
    guard let route = request.route else { return nil }
    let host = route.address.contains(":") ? "[\(route.address)]" : route.address
    return "\(host):\(route.port ?? request.url.portOrDefault ?? 80)"
  }
}
