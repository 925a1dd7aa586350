/// Which hosts a pattern is for.
enum HostPattern: Sendable {
  case any
  case exact(String)
  /// Every host that ends in this text, which begins with a dot.
  case below(String)
  case glob(TextRegex, String)

  init(_ text: Substring, of pattern: String) throws(MockError) {
    if text == "*" || text == "**" {
      self = .any
    } else if text.hasPrefix("*."), !text.dropFirst(2).contains("*") {
      self = .below("." + HostName.normalized(String(text.dropFirst(2))))
    } else if text.contains("*") {
      let parts = HostName.normalized(String(text)).split(separator: "*", omittingEmptySubsequences: false)
      let regex = TextRegex("^" + parts.map { NSRegularExpression.escapedPattern(for: String($0)) }.joined(separator: "[^.]*") + "$")
      if let problem = regex.problem { throw problem }
      self = .glob(regex, String(text))
    } else {
      let host = HostName.normalized(String(text))
      guard !host.contains(where: { $0.isWhitespace || "<>\"\\^`{|}".contains($0) }) else {
        throw URLPattern.invalid(pattern, "\"\(text)\" is no host.")
      }
      self = .exact(host)
    }
  }

  func matches(_ host: String) -> Bool {
    switch self {
    case .any: true
    case .exact(let name): name == host
    case .below(let suffix): host.hasSuffix(suffix) && host.utf8.count > suffix.utf8.count
    case .glob(let regex, _): regex.matches(host)
    }
  }
}

extension HostPattern: CustomStringConvertible {
  var description: String {
    switch self {
    case .any: "*"
    case .exact(let name): name
    case .below(let suffix): "*" + suffix
    case .glob(_, let text): text
    }
  }
}
