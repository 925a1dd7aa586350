/// Which hosts a stub is for: a `HostPattern`, or what the URL patterns of stubs have beyond it.
enum StubHost: Sendable {
  case pattern(HostPattern)
  /// The host of a URL, in the form in which hosts are compared.
  case literal(String)
  /// Any text in place of each star, within a label.
  case glob(TextRegex, String)

  /// Parses the host of a pattern, without its port.
  init(_ text: Substring, of pattern: String) throws(MockError) {
    let stars = text.count { $0 == "*" }
    guard stars == 0 || text == "*" || text == "**" || stars == 1 && text.hasPrefix("*.") else {
      let labels = try text.split(separator: ".", omittingEmptySubsequences: false).map { label throws(MockError) in
        guard label.contains("*") else { return HostName.comparable(String(label)) }
        guard label.utf8.allSatisfy({ $0 < 0x80 }) else {
          throw URLPattern.invalid(
            pattern, "\"\(label)\" has a wildcard in a non-ASCII label: write \"*\" for the whole label.")
        }
        return label.lowercased()
      }
      let parts = labels.joined(separator: ".").split(separator: "*", omittingEmptySubsequences: false)
      let regex = TextRegex(
        "^" + parts.map { NSRegularExpression.escapedPattern(for: String($0)) }.joined(separator: "[^.]*") + "$")
      if let problem = regex.problem { throw problem }
      self = .glob(regex, String(text))
      return
    }
    do throws(WaylayError) {
      // As in a URL, octets may be percent-encoded; a star that is stands for itself, and no host has one.
      let host = text == "**" ? "*" : PercentCoding.decoded(String(text))
      self = .pattern(try HostPattern(stars == 0 && host.contains("*") ? String(text) : host))
    } catch {
      throw URLPattern.invalid(pattern, "the host is invalid: \(error.message)")
    }
  }

  /// Any host.
  static let any: StubHost = {
    guard let pattern = try? HostPattern("*") else { preconditionFailure("every host is a pattern") }
    return .pattern(pattern)
  }()

  /// The one host that it is for; `nil` where it is for many.
  var exactHost: String? {
    switch self {
    case .pattern(let pattern): pattern.exactHost
    case .literal(let host): host
    case .glob: nil
    }
  }

  /// Whether it is for a host, given in the form in which hosts are compared.
  func matches(_ host: String) -> Bool {
    switch self {
    case .pattern(let pattern): pattern.matches(comparable: host, port: nil)
    case .literal(let name): name == host
    case .glob(let regex, _): regex.matches(host)
    }
  }
}

extension StubHost: CustomStringConvertible {
  var description: String {
    switch self {
    case .pattern(let pattern): pattern.description
    case .literal(let name): name
    case .glob(_, let text): text
    }
  }
}
