/// Which hosts are routed, and where to: a set of rules.
///
/// ```swift
/// let rules = try HostRules(["api.example.com": ["203.0.113.7", "2001:db8::7"]])
/// let rule = rules.match(try HostName("API.example.com"), port: 443)
/// ```
///
/// The longest pattern goes first: `api.example.com` before `*.example.com` before `*`, whether it routes or excludes;
/// of two that are equally long, the one with a port. The order of the list does not matter, and its length hardly
/// does: a lookup costs a hash for each label. Literals of addresses, single labels and names below `local` match only
/// patterns that name them; `*` does not.
///
/// A value: to replace the rules of a running rewriter, give its ``HostRuleSource`` others.
public struct HostRules: Sendable {
  /// The rules, as they were given.
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
  /// - Throws: ``HostError/Code/invalidRule`` when two have the same pattern.
  public init(_ rules: [HostRule]) throws {
    var table = SuffixTable(minimumCapacity: rules.count)
    for (index, rule) in rules.enumerated() {
      if let other = table.insert(rule.pattern, index: index) {
        throw HostError(
          .invalidRule,
          "entries \(other) and \(index) are both for \"\(rule.pattern)\": a pattern can have one rule only.",
          host: rule.pattern.description)
      }
    }
    self.init(rules: rules, table: table)
  }

  /// Makes rules from a table of patterns and endpoints: see `HostPattern` and ``HostEndpoint``. A pattern without
  /// endpoints asks the resolver.
  ///
  /// - Throws: ``HostError`` for a text that is neither, and for two spellings of one pattern.
  public init(_ table: [String: [String]]) throws {
    try self.init(table.sorted { $0.key < $1.key }.map { try HostRule($0.key, endpoints: $0.value) })
  }

  /// The rule for a host; it may be one that leaves the host alone. `nil`: no rule is for it.
  public func match(_ host: HostName, port: Int) -> HostRule? {
    table.find(host, port: port).map { rules[$0] }
  }
}

extension HostRules: Equatable {
  /// Whether both have the same rules in the same order.
  public static func == (one: HostRules, other: HostRules) -> Bool { one.rules == other.rules }
}
