/// Resolves hosts from a table.
///
/// ```swift
/// let resolver = try StaticResolver(["api.example.com": ["203.0.113.7", "2001:db8::7"], "*.cdn.example.com": ["203.0.113.9"]])
/// ```
///
/// Use it as the first or last resolver of a ``ResolverChain``, for example for addresses that ship with an app as a
/// last resort. Addresses that must be dialed belong in the endpoints of a ``HostRule``.
public struct StaticResolver: HostResolver {
  /// The name in events and logs.
  public let name: String
  private let rules: HostRules
  private let timeToLive: Duration

  /// Makes a resolver from the rules with endpoints; hosts of other rules are not listed.
  ///
  /// - Parameters:
  ///   - rules: The table.
  ///   - timeToLive: How long a cache keeps an answer.
  ///   - name: The name in events and logs.
  public init(_ rules: HostRules, timeToLive: Duration = .seconds(60), name: String = "static") {
    self.rules = rules
    self.timeToLive = timeToLive
    self.name = name
  }

  /// Makes a resolver from patterns and addresses, parsed like ``HostRules/init(_:)-([String:[String]])``.
  ///
  /// - Throws: ``HostError`` for invalid patterns and addresses.
  public init(_ table: [String: [String]], timeToLive: Duration = .seconds(60), name: String = "static") throws {
    self.init(try HostRules(table), timeToLive: timeToLive, name: name)
  }

  /// Returns the addresses of the longest pattern that matches the host.
  ///
  /// - Throws: ``HostError/Code/notListed``.
  public func resolve(_ query: HostQuery) async throws -> HostResolution {
    guard let rule = rules.match(query.host, port: query.port), !rule.isExclusion, !rule.endpoints.isEmpty else {
      throw HostError(.notListed, "the table has no addresses for the host.", host: query.host.description)
    }
    return HostResolution(
      rule.endpoints.map { HostResolution.Candidate($0.address, port: $0.port) }, timeToLive: timeToLive, source: name)
  }
}
