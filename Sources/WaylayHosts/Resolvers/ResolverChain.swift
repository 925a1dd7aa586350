/// Asks resolvers in turn until one answers.
///
/// ```swift
/// let resolver = ResolverChain([doh, try HostRules(shippedAddresses), SystemResolver()])
/// ```
///
/// The chain asks the next resolver if one does not list the host, fails, times out, or gives an answer that the cache
/// in front of the chain rejects. The answer that a host does not exist ends the search, unless you pass
/// `trustsAbsence: false` to ``init(_:timeout:trustsAbsence:clock:)``: a name in an office network may exist only for
/// the system's resolver.
public struct ResolverChain: HostResolver {
  /// The names of its resolvers, in order.
  public let name: String
  private let resolvers: [any HostResolver]
  private let timeout: Duration
  private let trustsAbsence: Bool
  private let clock: HostClock

  /// Makes a chain.
  ///
  /// - Parameters:
  ///   - resolvers: The resolvers, in the order to ask them.
  ///   - timeout: The timeout for each resolver.
  ///   - trustsAbsence: Whether the search ends if a resolver says that the host does not exist.
  ///   - clock: The clock for the timeout.
  public init(
    _ resolvers: [any HostResolver], timeout: Duration = .seconds(5), trustsAbsence: Bool = true,
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    name = resolvers.map(\.name).joined(separator: ", ")
    self.resolvers = resolvers
    self.timeout = timeout
    self.trustsAbsence = trustsAbsence
    self.clock = HostClock(clock)
  }

  /// Returns the first answer.
  ///
  /// - Throws: `HostError.noSuchHost` if a trusted resolver says so, `HostError.notListed` if no resolver lists the
  ///   host, otherwise `HostError.resolverFailed` with the error of each.
  public func resolve(_ host: HostName, port: Int) async throws -> HostResolution {
    try await resolve(HostAuthority(host, port: port)) { $0 }
  }

  /// Returns the first answer that passes a check.
  fileprivate func resolve(
    _ query: HostAuthority, _ check: @escaping @Sendable (HostResolution) throws -> HostResolution
  ) async throws -> HostResolution {
    var failures: [(name: String, error: HostError)] = []
    for resolver in resolvers {
      do {
        return try await withTimeLimit(
          timeout, on: clock, else: HostError(.resolverTimedOut, "no response within \(timeout).")
        ) {
          try await resolver.resolve(query, checkedBy: check)
        }
      } catch {
        try Task.checkCancellation()
        let failure = error as? HostError ?? HostError(.resolverFailed, "\(error.redacted)", underlying: error)
        if failure.code == .noSuchHost, trustsAbsence { throw failure }
        failures.append((resolver.name, failure))
      }
    }
    throw Self.failure(failures, query)
  }

  /// Passes the network change on to all resolvers.
  public func networkChanged() {
    for resolver in resolvers { resolver.networkChanged() }
  }

  private static func failure(_ failures: [(name: String, error: HostError)], _ query: HostAuthority) -> HostError {
    let host = query.host.description
    guard failures.contains(where: { $0.error.code != .notListed }) else {
      return HostError(.notListed, "no resolver of the chain lists the host.", host: host)
    }
    if let absence = failures.last(where: { $0.error.code != .notListed })?.error, absence.code == .noSuchHost {
      return absence
    }
    let story = failures.map { "\($0.name): \($0.error.message)" }.joined(separator: " ")
    return HostError(.resolverFailed, "no resolver answered. \(story)", host: host, underlying: failures.last?.error)
  }
}

extension HostResolver {
  /// Returns the answer if it passes a check; a chain returns its first answer that does.
  func resolve(
    _ query: HostAuthority, checkedBy check: @escaping @Sendable (HostResolution) throws -> HostResolution
  ) async throws -> HostResolution {
    guard let chain = self as? ResolverChain else { return try check(await resolve(query)) }
    return try await chain.resolve(query, check)
  }
}
