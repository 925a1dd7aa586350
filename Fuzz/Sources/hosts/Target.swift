import Crypto
import Driver
import Foundation

@testable import WaylayCore
@testable import WaylayHosts

@main
enum Target {
  static func main() { fuzz(test) }
}

// A key that is made for each process: nobody guesses a signature.
private let signer = try? HostListSigner.random("fuzz")
private let names = ["www.example.com", "example.com", "a.b.example.com", "127.0.0.1", "::1", "localhost", "xn--bcher-kva.example"].compactMap {
  try? HostName($0)
}

/// One input: rules, a list with somebody else's signature, or rules that are signed well.
@_cdecl("LLVMFuzzerTestOneInput")
func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeBufferPointer(start: start, count: count)
  guard let kind = bytes.first, let signer else { return 0 }
  let rest = Data(bytes.dropFirst())
  switch kind % 4 {
  case 0: if let rules = try? HostRules(json: rest) { use(rules) }
  case 1:
    // The text of one pattern and one address, without JSON round it.
    let parts = String(decoding: rest, as: UTF8.self).split(separator: "\n", maxSplits: 1).map(String.init)
    guard let pattern = parts.first.flatMap({ try? HostPattern($0) }) else { return 0 }
    require((try? HostPattern(pattern.description)) == pattern, "\(pattern) became something else")
    let endpoint = parts.dropFirst().first.flatMap { try? HostEndpoint($0) }
    if let endpoint { require((try? HostEndpoint(endpoint.description)) == endpoint, "\(endpoint) became something else") }
    if let rules = try? HostRules([HostRule(pattern, endpoints: [endpoint].compactMap { $0 })]) { use(rules) }
  case 2: require((try? SignedHostList(rest, keys: [signer.key])) == nil, "a list that nobody signed")
  default:
    guard let file = try? SignedHostList.sign(rest, serial: 7, expires: Date(timeIntervalSince1970: 2e9), by: [signer]) else { return 0 }
    guard let list = try? SignedHostList(file, keys: [signer.key]) else { preconditionFailure("what was signed is not read") }
    use(list.rules)
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
