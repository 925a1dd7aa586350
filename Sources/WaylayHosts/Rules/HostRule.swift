/// A rule for the hosts of a pattern: dial given addresses, use the resolver, or leave them alone.
///
/// ```swift
/// let rules = try HostRules([
///   HostRule("api.example.com", endpoints: ["203.0.113.7", "2001:db8::7"]),
///   HostRule("*.example.com"),
///   HostRule(excluding: "legacy.example.com"),
/// ])
/// ```
public struct HostRule: Hashable, Sendable {
  /// The hosts that the rule applies to.
  public let pattern: HostPattern
  /// The endpoints to dial, in order of preference; if empty, the addresses come from the resolver.
  public let endpoints: [HostEndpoint]
  /// Whether the hosts are left alone.
  public let isExclusion: Bool

  /// Makes a rule.
  public init(_ pattern: HostPattern, endpoints: [HostEndpoint] = []) {
    self.pattern = pattern
    self.endpoints = endpoints
    isExclusion = false
  }

  /// Makes a rule that leaves hosts alone.
  public init(excluding pattern: HostPattern) {
    self.pattern = pattern
    endpoints = []
    isExclusion = true
  }

  /// Makes a rule from text: see `HostPattern` and ``HostEndpoint``.
  ///
  /// - Throws: ``HostError/Code/invalidName`` for an invalid pattern or address.
  public init(_ pattern: String, endpoints: [String] = []) throws {
    try self.init(HostPattern(rule: pattern), endpoints: endpoints.map { try HostEndpoint($0) })
  }

  /// Makes a rule that leaves hosts alone.
  ///
  /// - Throws: ``HostError/Code/invalidName`` for text that is not a `HostPattern`.
  public init(excluding pattern: String) throws {
    try self.init(excluding: HostPattern(rule: pattern))
  }
}

extension HostPattern {
  /// Reads the pattern of a rule.
  init(rule text: String) throws(HostError) {
    do throws(WaylayError) { try self.init(text) } catch { throw HostError(error, host: text) }
  }
}

extension HostRule: CustomStringConvertible {
  /// The pattern and the action, on one line.
  public var description: String {
    if isExclusion { return "\(pattern): left alone" }
    return endpoints.isEmpty
      ? "\(pattern): resolver" : "\(pattern): \(endpoints.map(\.description).joined(separator: ", "))"
  }
}
