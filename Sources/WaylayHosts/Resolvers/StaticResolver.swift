/// Answers from a table.
///
/// ```swift
/// let resolver = try StaticResolver(["api.example.com": ["203.0.113.7", "2001:db8::7"], "*.cdn.example.com": ["203.0.113.9"]])
/// ```
///
/// Of use as the first or the last of a ``ResolverChain``: addresses that an app ships with, for when nothing else
/// answers. Addresses that must be dialled belong into the endpoints of a ``HostRule``.
public struct StaticResolver: HostResolver {
  /// What events and logs call it.
  public let name: String
  private let rules: HostRules
  private let timeToLive: Duration

  /// Makes a resolver of rules that have endpoints; hosts of the others are not listed.
  ///
  /// - Parameters:
  ///   - rules: The table.
  ///   - timeToLive: How long a cache keeps an answer.
  ///   - name: What events and logs call it.
  public init(_ rules: HostRules, timeToLive: Duration = .seconds(60), name: String = "static") {
    self.rules = rules
    self.timeToLive = timeToLive
    self.name = name
  }

  /// Makes a resolver from patterns and addresses, as ``HostRules/init(_:)-([String:[String]])`` reads them.
  ///
  /// - Throws: ``HostError`` for a text that is neither.
  public init(_ table: [String: [String]], timeToLive: Duration = .seconds(60), name: String = "static") throws {
    self.init(try HostRules(table), timeToLive: timeToLive, name: name)
  }

  /// The addresses of the longest pattern that is for the host.
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
