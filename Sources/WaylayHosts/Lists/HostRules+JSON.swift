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
  /// members next to `rules` are for the app; additional members of a rule are errors, because a misspelled `exclude`
  /// would route what must not be routed.
  ///
  /// Sign lists that come over an untrusted connection: see ``SignedHostList``.
  ///
  /// - Throws: `HostError.invalidRule` with the zero-based index of the entry, and its host; such a list is
  ///   rejected as a whole.
  public init(json: Data) throws {
    try self.init(entries: JSONList(json).entries("rules"))
  }

  init(entries: [Any]) throws {
    try self.init(entries.enumerated().map { try Self.rule($0.element, number: $0.offset) })
  }

  private static func rule(_ entry: Any, number: Int) throws -> HostRule {
    guard let members = entry as? [String: Any] else {
      throw HostError(
        .invalidRule, "entry \(number) is not an object: write {\"host\": \"api.example.com\", \"addresses\": […]}.")
    }
    guard let host = members["host"] as? String else {
      throw HostError(.invalidRule, "entry \(number) has no \"host\", or one that is not a string.")
    }
    func invalid(_ problem: String, _ underlying: (any Error)? = nil) -> HostError {
      HostError(.invalidRule, "entry \(number) (\"\(host)\"): \(problem)", host: host, underlying: underlying)
    }
    let (listed, excluded) = (members["addresses"], members["exclude"])
    if members.count > 1 + (listed == nil ? 0 : 1) + (excluded == nil ? 0 : 1),
      let unknown = members.keys.filter({ !["host", "addresses", "exclude"].contains($0) }).min()
    {
      throw invalid("\"\(unknown)\" is unknown: a rule has \"host\", \"addresses\" and \"exclude\".")
    }
    let isExclusion: Bool
    switch excluded {
    case nil: isExclusion = false
    case let value as NSNumber where value.isBoolean: isExclusion = value.boolValue
    default: throw invalid("\"exclude\" must be true or false.")
    }
    let addresses: [String]
    switch listed {
    case nil: addresses = []
    case let values as [String]: addresses = values
    default: throw invalid("\"addresses\" must be an array of strings.")
    }
    guard !isExclusion || addresses.isEmpty else { throw invalid("an excluded host has no addresses.") }
    do {
      return isExclusion ? try HostRule(excluding: host) : try HostRule(host, endpoints: addresses)
    } catch let error as HostError {
      throw invalid(error.message, error)
    }
  }
}

extension NSNumber {
  /// Whether it is `true` or `false` in JSON, rather than 1 or 0, which a cast to `Bool` takes as well.
  fileprivate var isBoolean: Bool { String(cString: objCType) == "c" }
}

/// The top level of a list: an object, some of whose members are wanted.
struct JSONList {
  /// More than any list of hosts needs, and little enough to be parsed at once.
  static let maximumSize = 16 << 20

  private let members: [String: Any]

  init(_ data: Data) throws {
    guard data.count <= Self.maximumSize else {
      throw HostError(
        .invalidRule, "the list has \(data.count) bytes, and the limit is \(Self.maximumSize).")
    }
    let value: Any
    do {
      value = try JSONSerialization.jsonObject(with: data)
    } catch {
      throw HostError(.invalidRule, "the list is not JSON: \(Self.reason(error))", underlying: error)
    }
    guard let members = value as? [String: Any] else {
      throw HostError(.invalidRule, "the list is not a JSON object: write {\"rules\": […]}.")
    }
    self.members = members
  }

  func entries(_ name: String) throws -> [Any] {
    guard let entries = members[name] as? [Any] else {
      throw HostError(.invalidRule, "\"\(name)\" is missing, or is not an array.")
    }
    return entries
  }

  func text(_ name: String) throws -> String {
    guard let text = members[name] as? String else {
      throw HostError(.invalidRule, "\"\(name)\" is missing, or is not a string.")
    }
    return text
  }

  /// A whole number, not negative.
  func number(_ name: String) throws -> UInt64 {
    guard let number = members[name] as? NSNumber, !number.isBoolean, let value = UInt64(exactly: number.doubleValue),
      value <= 1 << 53
    else {
      throw HostError(.invalidRule, "\"\(name)\" is missing, or is not a whole number from 0 to 2^53.")
    }
    return value
  }

  private static func reason(_ error: any Error) -> String {
    (error as NSError).userInfo["NSDebugDescription"] as? String ?? "\(error.redacted)"
  }
}
