/// A set of rules that defines which hosts are routed, and to which addresses.
///
/// ```swift
/// let rules = try HostRules(["api.example.com": ["203.0.113.7", "2001:db8::7"]])
/// let rule = rules.match(try HostName("API.example.com"), port: 443)
/// ```
///
/// The longest pattern wins: `api.example.com` before `*.example.com` before `*`, whether it routes or excludes; of two
/// equally long patterns, the one with a port. The order of the list does not matter, and its length hardly does: a
/// lookup costs one hash per label. Address literals, single labels and names below `local` match only patterns that
/// name them; `*` does not.
///
/// The set is a value: to replace the rules of a running rewriter, change its ``HostRuleSource``.
public struct HostRules: Sendable {
  /// The rules, as given.
  public let rules: [HostRule]
  private let table: SuffixTable

  /// No rules.
  public static let none = HostRules(rules: [], table: SuffixTable())

  private init(rules: [HostRule], table: SuffixTable) {
    self.rules = rules
    self.table = table
  }

  /// Makes a set of rules.
  ///
  /// - Throws: ``HostError/Code/invalidRule`` if two rules have the same pattern.
  public init(_ rules: [HostRule]) throws {
    var table = SuffixTable(minimumCapacity: rules.count)
    for (index, rule) in rules.enumerated() {
      if let other = table.insert(rule.pattern, index: index) {
        throw HostError(
          .invalidRule,
          "entries \(other) and \(index) are both for \"\(rule.pattern)\": a pattern can have only one rule.",
          host: rule.pattern.description)
      }
    }
    self.init(rules: rules, table: table)
  }

  /// Makes rules from a table of patterns and endpoints: see `HostPattern` and ``HostEndpoint``. A pattern without
  /// endpoints uses the resolver.
  ///
  /// - Throws: ``HostError`` for invalid patterns and endpoints, and for two spellings of the same pattern.
  public init(_ table: [String: [String]]) throws {
    try self.init(table.sorted { $0.key < $1.key }.map { try HostRule($0.key, endpoints: $0.value) })
  }

  /// Returns the rule for a host, which may be an exclusion; `nil` if no rule matches.
  public func match(_ host: HostName, port: Int) -> HostRule? {
    table.find(host, port: port).map { rules[$0] }
  }
}

extension HostRules: Equatable {
  /// Whether both sets have the same rules in the same order.
  public static func == (one: HostRules, other: HostRules) -> Bool { one.rules == other.rules }
}
