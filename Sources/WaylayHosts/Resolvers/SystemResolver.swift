/// Resolves hosts with the system (`getaddrinfo`), as for requests without a route.
///
/// Its answers come from the network's DNS, which may be hijacked: as the only resolver it offers no protection. Use it
/// as the last resolver of a ``ResolverChain``.
///
/// The system does not report the lifetime of an answer, and a lookup cannot be cancelled: it runs on a separate
/// thread, and callers can stop waiting for it.
public struct SystemResolver: HostResolver {
  /// The name in events and logs.
  public let name = "system"
  private let timeToLive: Duration
  private let timeout: Duration
  private let clock: HostClock
  private let lookups = SystemLookups()

  /// Makes a resolver.
  ///
  /// - Parameters:
  ///   - timeToLive: How long a cache keeps an answer.
  ///   - timeout: The timeout for the system.
  ///   - clock: The clock for the timeout.
  public init(
    timeToLive: Duration = .seconds(60), timeout: Duration = .seconds(10),
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.timeToLive = timeToLive
    self.timeout = timeout
    self.clock = HostClock(clock)
  }

  /// Returns the addresses in the system's order (RFC 6724).
  ///
  /// - Throws: `HostError.noSuchHost`, `HostError.resolverFailed`, `HostError.resolverTimedOut`.
  public func resolve(_ host: HostName, port: Int) async throws -> HostResolution {
    let host = host.description
    let error = HostError(.resolverTimedOut, "the system did not answer within \(timeout).", host: host)
    let addresses = try await withTimeLimit(timeout, on: clock, else: error) { [lookups] in
      try await lookups.addresses(of: host)
    }
    return HostResolution(addresses, timeToLive: timeToLive, source: name)
  }
}

/// The running system lookups.
private final class SystemLookups: Sendable {
  /// The maximum number of concurrent lookups: one that hangs blocks its thread.
  private static let most = 32
  private let running = Locked(0)

  func addresses(of host: String) async throws -> [HostAddress] {
    let promise = Promise<[HostAddress]>()
    return try await promise.valueUnlessCancelled {
      let isFree = running.withLock { running in
        guard running < Self.most else { return false }
        running += 1
        return true
      }
      guard isFree else {
        let error = HostError(
          .resolverFailed, "\(Self.most) system lookups already hang: check the network.", host: host)
        promise.settle(.failure(error))
        return
      }
      Thread.detachNewThread { [running] in
        let result = Result { try SystemLookup.addresses(of: host) }
        running.withLock { $0 -= 1 }
        promise.settle(result)
      }
    }
  }
}
