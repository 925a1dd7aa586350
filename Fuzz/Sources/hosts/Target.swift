import Driver
import Foundation

@testable import WaylayCore
@testable import WaylayHosts

@main
enum Target {
  static func main() { fuzz(test) }
}

private let names = ["www.example.com", "example.com", "a.b.example.com", "127.0.0.1", "::1", "localhost", "xn--bcher-kva.example"].compactMap {
  try? HostName($0)
}

/// One input: a list of rules, or one pattern and one address.
@_cdecl("LLVMFuzzerTestOneInput")
func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeBufferPointer(start: start, count: count)
  guard let kind = bytes.first else { return 0 }
  let rest = Data(bytes.dropFirst())
  switch kind % 2 {
  case 0: if let rules = try? HostRules(json: rest) { use(rules) }
  default:
    // The text of one pattern and one address, without JSON round it.
    let parts = String(decoding: rest, as: UTF8.self).split(separator: "\n", maxSplits: 1).map(String.init)
    guard let pattern = parts.first.flatMap({ try? HostPattern($0) }) else { return 0 }
    require((try? HostPattern(pattern.description)) == pattern, "\(pattern) became something else")
    let endpoint = parts.dropFirst().first.flatMap { try? HostEndpoint($0) }
    if let endpoint { require((try? HostEndpoint(endpoint.description)) == endpoint, "\(endpoint) became something else") }
    if let rules = try? HostRules([HostRule(pattern, endpoints: [endpoint].compactMap { $0 })]) { use(rules) }
  }
  return 0
}

/// Whatever rules there are, asking for them is safe, and what is found says why.
private func use(_ rules: HostRules) {
  for name in names {
    for port in [1, 80, 443, 65_535] {
      guard let rule = rules.match(name, port: port) else { continue }
      require(rules.rules.contains(rule), "not what it was")
      require(rule.pattern.port == nil || rule.pattern.port == port, "a rule of another port")
      require(rule.pattern.isWildcard || rule.pattern.name == name, "a rule of another name")
      _ = rule.description
    }
  }
}
