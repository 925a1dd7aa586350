/// Asks the system (`getaddrinfo`), as everything that is not routed does.
///
/// What it says is what a hijacker of the network's DNS wants it to say: as the only resolver it protects from nothing.
/// It is of use as the last of a ``ResolverChain``.
///
/// The system does not say how long an answer holds, and a lookup cannot be called off: it runs on a thread of its
/// own, and whoever waits for it can stop waiting.
public struct SystemResolver: HostResolver {
  /// What events and logs call it.
  public let name = "system"
  private let timeToLive: Duration
  private let limit: Duration
  private let privateAddresses: PrivateAddressPolicy
  private let clock: HostClock
  private let lookups = SystemLookups()

  /// Makes a resolver.
  ///
  /// - Parameters:
  ///   - timeToLive: How long a cache keeps an answer.
  ///   - limit: How long the system is waited for.
  ///   - privateAddresses: Whether public names may have private addresses.
  ///   - clock: What the limit is measured on.
  public init(
    timeToLive: Duration = .seconds(60), limit: Duration = .seconds(10),
    privateAddresses: PrivateAddressPolicy = .refuse,
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.timeToLive = timeToLive
    self.limit = limit
    self.privateAddresses = privateAddresses
    self.clock = HostClock(clock)
  }

  /// The addresses in the system's order (RFC 6724).
  ///
  /// - Throws: ``HostError/Code/noSuchHost``, ``HostError/Code/resolverFailed``, ``HostError/Code/resolverTimedOut``,
  ///   ``HostError/Code/answerRefused``.
  public func resolve(_ query: HostQuery) async throws -> HostResolution {
    let host = query.host.description
    let error = HostError(.resolverTimedOut, "the system did not answer within \(limit).", host: host)
    let addresses = try await withTimeLimit(limit, on: clock, else: error) { [lookups] in
      try await lookups.addresses(of: host)
    }
    return try HostResolution(addresses.map { HostResolution.Candidate($0) }, timeToLive: timeToLive, source: name)
      .screened(for: query, by: privateAddresses)
  }
}

/// The lookups that the system is busy with.
private final class SystemLookups: Sendable {
  /// A lookup that hangs keeps its thread; more than so many would be a leak.
  private static let most = 32
  private let running = Locked(0)

  func addresses(of host: String) async throws -> [HostAddress] {
    let isFree = running.withLock { running in
      guard running < Self.most else { return false }
      running += 1
      return true
    }
    guard isFree else {
      throw HostError(
        .resolverFailed, "\(Self.most) lookups of the system hang already: is the network there?", host: host)
    }
    let promise = Promise<[HostAddress]>()
    return try await withTaskCancellationHandler {
      try await promise.value {
        Thread.detachNewThread { [running] in
          let result = Result { try SystemLookup.addresses(of: host) }
          running.withLock { $0 -= 1 }
          promise.settle(result)
        }
      }
    } onCancel: {
      promise.settle(.failure(CancellationError()))
    }
  }
}
