/// A set of rules that defines which hosts are routed, and to which addresses.
///
/// ```swift
/// let rules = try HostRules(["api.example.com": ["203.0.113.7", "2001:db8::7"]])
/// let rule = rules.match(try HostName("API.example.com"), port: 443)
/// ```
///
/// The longest pattern wins: `api.example.com` before `*.example.com` before `*`, whether it routes or excludes; of two
/// equally long patterns, the one with a port. The order of the list does not matter, and its length hardly does: a
/// match costs one lookup per label. Address literals, single labels and names below `local` match only patterns that
/// name them; `*` does not.
///
/// The set is a value: to replace the rules of a running rewriter, change its ``HostRuleSource``.
public struct HostRules: Sendable {
  /// The rules, as given.
  public let rules: [HostRule]
  private let table: Table

  /// No rules.
  public static let none = HostRules(rules: [], table: Table())
}

extension HostRules {
  /// Makes a set of rules.
  ///
  /// - Throws: `HostError.invalidRule` if two rules have the same pattern.
  public init(_ rules: [HostRule]) throws {
    var table = Table()
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

extension HostRules {
  /// The indices of rules by name or by suffix. The keys are substrings, so a lookup does not copy the host.
  private struct Table: Sendable {
    /// The rules of one name by port; the key `nil` matches any port.
    typealias Ports = [Int?: Int]

    private var exact: [Substring: Ports] = [:]
    private var below: [Substring: Ports] = [:]
    private var everything: Ports = [:]

    /// Adds a pattern. Returns the index of an existing equal pattern, if any.
    mutating func insert(_ pattern: HostPattern, index: Int) -> Int? {
      func insert(_ ports: inout Ports) -> Int? {
        if let other = ports[pattern.port] { return other }
        ports[pattern.port] = index
        return nil
      }
      guard let name = pattern.name?.description[...] else { return insert(&everything) }
      return pattern.isWildcard ? insert(&below[name, default: [:]]) : insert(&exact[name, default: [:]])
    }

    /// The index of the rule with the longest pattern for a name.
    func find(_ host: HostName, port: Int) -> Int? {
      func index(_ ports: Ports?) -> Int? { ports.flatMap { $0[port] ?? $0[nil] } }
      var rest = host.description[...]
      if let found = index(exact[rest]) { return found }
      // An address literal has no labels.
      while !below.isEmpty, !host.isAddress, let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
        rest = rest[rest.utf8.index(after: dot)...]
        if let found = index(below[rest]) { return found }
      }
      return host.isLeftAlone ? nil : index(everything)
    }
  }
}

extension HostName {
  /// Whether only rules that name the host apply: an address, a single label, or a name below `local` or `localhost`.
  fileprivate var isLeftAlone: Bool {
    isAddress || isSingleLabel || description.hasSuffix(".local") || description.hasSuffix(".localhost")
  }
}

extension HostRules: Equatable {
  /// Whether both sets have the same rules in the same order.
  public static func == (one: HostRules, other: HostRules) -> Bool { one.rules == other.rules }
}

extension HostRules: HostResolver {
  /// `rules`.
  public var name: String { "rules" }

  /// Returns the addresses of the longest pattern that matches the host, with a time to live of one minute.
  ///
  /// Rules are a resolver for addresses that ship with an app as a last resort, at the end of a ``ResolverChain``.
  /// Addresses that must be dialed belong in the rules of the rewriter.
  ///
  /// - Throws: `HostError.notListed` if no rule has addresses for the host.
  public func resolve(_ host: HostName, port: Int) async throws -> HostResolution {
    guard let rule = match(host, port: port), !rule.endpoints.isEmpty else {
      throw HostError(.notListed, "the rules have no addresses for the host.", host: host.description)
    }
    return HostResolution(rule.endpoints, timeToLive: .seconds(60), source: name)
  }
}

/// A rule for the hosts of a pattern: dial the given addresses, use the resolver, or leave the hosts alone.
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
  /// Whether the rule excludes the hosts from routing.
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
  /// - Throws: `HostError.invalidName` for an invalid pattern or address.
  public init(_ pattern: String, endpoints: [String] = []) throws {
    try self.init(HostPattern(rule: pattern), endpoints: endpoints.map { try HostEndpoint($0) })
  }

  /// Makes a rule that leaves hosts alone.
  ///
  /// - Throws: `HostError.invalidName` for text that is not a `HostPattern`.
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

/// An address to dial, and the port if it differs from the URL's.
///
/// ```swift
/// let plain = try HostEndpoint("203.0.113.7")
/// let other = try HostEndpoint("[2001:db8::7]:8443")
/// ```
public struct HostEndpoint: Hashable, Sendable, CustomStringConvertible {
  /// The address.
  public let address: HostAddress
  /// The port to dial; `nil` for the URL's.
  public let port: Int?

  /// Makes an endpoint at the URL's port.
  public init(_ address: HostAddress) {
    self.address = address
    port = nil
  }

  /// Makes an endpoint with a port that is known to be valid.
  init(_ address: HostAddress, dialing port: Int) {
    self.address = address
    self.port = port
  }

  /// Makes an endpoint.
  ///
  /// - Throws: `HostError.invalidName` for an invalid port: valid ones are 1 to 65535.
  public init(_ address: HostAddress, port: Int?) throws {
    if let port, !(1...65535).contains(port) {
      throw HostError(.invalidName, "\(port) is not a port: use 1 to 65535.", host: address.literal)
    }
    self.address = address
    self.port = port
  }

  /// Parses `203.0.113.7`, `203.0.113.7:8443`, `2001:db8::7`, `[2001:db8::7]` or `[2001:db8::7]:8443`.
  ///
  /// - Throws: `HostError.invalidName` for anything else.
  public init(_ text: String) throws {
    do throws(WaylayError) {
      let pattern = try HostPattern(text)
      let isName = pattern.isWildcard || !(pattern.name?.isAddress ?? false)
      (address, port) = (try HostAddress(isName ? text : pattern.name?.description ?? text), pattern.port)
    } catch {
      throw HostError(error, host: text)
    }
  }

  /// The text form, which `init(_:)` parses.
  public var description: String {
    guard let port else { return address.literal }
    return address.isIPv6 ? "[\(address)]:\(port)" : "\(address):\(port)"
  }
}

extension HostAddress {
  /// Reads the address of a server.
  init(server text: String) throws(HostError) {
    do throws(WaylayError) { try self.init(text) } catch { throw HostError(error, host: text) }
  }
}

/// The current rules, which you can replace while requests run.
///
/// ```swift
/// let source = HostRuleSource(try HostRules(["api.example.com": ["203.0.113.7"]]))
/// source.replace(with: try HostRules(["api.example.com": ["203.0.113.8"]]))
/// ```
///
/// A request sees one consistent set of rules: replacing them takes effect for the next request.
public final class HostRuleSource: Sendable {
  private let current: Locked<HostRules>
  /// The fallback for hosts without a current rule.
  private let bundled: HostRules

  /// Makes a source with its initial rules.
  public convenience init(_ rules: HostRules = .none) {
    self.init(rules, bundled: .none)
  }

  init(_ rules: HostRules, bundled: HostRules) {
    current = Locked(rules)
    self.bundled = bundled
  }

  /// The current rules.
  public var rules: HostRules { current.withLock { $0 } }

  /// Replaces the rules.
  public func replace(with rules: HostRules) {
    current.withLock { $0 = rules }
  }

  /// Returns the current rule for a host; `nil` if there is none.
  public func match(_ host: HostName, port: Int) -> HostRule? {
    rules.match(host, port: port) ?? bundled.match(host, port: port)
  }
}
