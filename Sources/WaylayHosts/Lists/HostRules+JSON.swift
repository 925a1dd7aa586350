import Foundation

extension HostRules {
  /// Parses a JSON list of rules, as an app downloads it from its server.
  ///
  /// ```json
  /// {"rules": [
  ///   {"host": "api.example.com", "addresses": ["203.0.113.7", "[2001:db8::7]:8443"]},
  ///   {"host": "*.example.com"},
  ///   {"host": "legacy.example.com", "exclude": true}
  /// ]}
  /// ```
  ///
  /// A rule without addresses uses the resolver. `host` is a `HostPattern`, each address a ``HostEndpoint``. Additional
  /// members next to `rules` are ignored; additional members of a rule are errors, because a misspelled `exclude` would
  /// route a host that must not be routed.
  ///
  /// To keep a downloaded list across launches, use a ``HostList``.
  ///
  /// - Throws: `HostError.invalidRule` with the zero-based index of the entry, and its host; such a list is
  ///   rejected as a whole.
  public init(json: Data) throws {
    try self.init(entries: HostListDocument(json).entries("rules"))
  }

  init(entries: [JSONValue]) throws {
    try self.init(entries.enumerated().map { try Self.rule($0.element, number: $0.offset) })
  }

  private static func rule(_ entry: JSONValue, number: Int) throws -> HostRule {
    guard let members = entry.object else {
      throw HostError(
        .invalidRule, "entry \(number) is not an object: write {\"host\": \"api.example.com\", \"addresses\": […]}.")
    }
    guard let host = members["host"]?.string else {
      throw HostError(.invalidRule, "entry \(number) has no \"host\", or one that is not a string.")
    }
    func invalid(_ problem: String, _ underlying: (any Error)? = nil) -> HostError {
      HostError(.invalidRule, "entry \(number) (\"\(host)\"): \(problem)", host: host, underlying: underlying)
    }
    if let unknown = members.keys.filter({ !["host", "addresses", "exclude"].contains($0) }).min() {
      throw invalid("\"\(unknown)\" is unknown: a rule has \"host\", \"addresses\" and \"exclude\".")
    }
    guard let isExclusion = members["exclude"].map(\.bool) ?? false else {
      throw invalid("\"exclude\" must be true or false.")
    }
    let listed = members["addresses"].map(\.array) ?? []
    guard let listed, case let addresses = listed.compactMap(\.string), addresses.count == listed.count else {
      throw invalid("\"addresses\" must be an array of strings.")
    }
    guard !isExclusion || addresses.isEmpty else { throw invalid("an excluded host has no addresses.") }
    do {
      return isExclusion ? try HostRule(excluding: host) : try HostRule(host, endpoints: addresses)
    } catch let error as HostError {
      throw invalid(error.message, error)
    }
  }
}

/// The top level of a list: a JSON object, read member by member.
struct HostListDocument {
  /// The maximum size in bytes: more than any list needs, and small enough to parse in memory.
  static let maximumSize = 16 << 20

  private let members: [String: JSONValue]

  init(_ data: Data) throws {
    guard data.count <= Self.maximumSize else {
      throw HostError(.invalidRule, "the list has \(data.count) bytes, and the limit is \(Self.maximumSize).")
    }
    let json: JSONValue
    do { json = try JSONValue(reading: data) } catch {
      throw HostError(.invalidRule, "the list is not JSON: \(error)", underlying: error)
    }
    guard let members = json.object else {
      throw HostError(.invalidRule, "the list is not a JSON object: write {\"rules\": […]}.")
    }
    self.members = members
  }

  func entries(_ name: String) throws -> [JSONValue] {
    guard let entries = members[name]?.array else {
      throw HostError(.invalidRule, "\"\(name)\" is missing, or is not an array.")
    }
    return entries
  }

  /// A whole number, not negative.
  func number(_ name: String) throws -> UInt64 {
    guard let number = members[name]?.int, let value = UInt64(exactly: number), value <= 1 << 53 else {
      throw HostError(.invalidRule, "\"\(name)\" is missing, or is not a whole number from 0 to 2^53.")
    }
    return value
  }

  /// A date; `nil` if the member is missing.
  func date(_ name: String) throws -> Date? {
    guard let member = members[name] else { return nil }
    guard let date = member.string.flatMap({ try? Date($0, strategy: .iso8601) }) else {
      throw HostError(.invalidRule, "\"\(name)\" is \(member): write a date as \"2027-01-31T00:00:00Z\" (RFC 3339).")
    }
    return date
  }
}
