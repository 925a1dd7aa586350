import Foundation
import Waylay

// The listings of `HostRewriting.md`. They compile here; the tests of the module run what they show.

private let url = URL(string: "https://api.example.com/v1")!

private func simple() async throws {
  let rewriter = HostRewriter(["api.example.com": ["203.0.113.7", "2001:db8::7"]])
  let registry = InterceptorRegistry { rewriter }
  let session = URLSession(configuration: .default.intercepted(by: registry))
  let (data, response) = try await session.data(from: url)
  _ = (data, response)
}

private func ruled(resolver: any HostResolver, downloadedRules: Data) throws {
  let rules = try HostRules([
    HostRule("api.example.com", endpoints: ["203.0.113.7", "[2001:db8::7]:8443"]),
    HostRule("*.example.com"),
    HostRule(excluding: "legacy.example.com"),
  ])
  let routed = HostRewriter(rules: rules, resolver: resolver)
  routed.ruleSource.replace(with: try HostRules(json: downloadedRules))
}

#if Cryptography
  private func signed(keys: [HostListKey], folder: URL, downloadedFile: Data) throws {
    let list = try TrustedHostList(
      keys: keys, storedAt: folder.appendingPathComponent("hosts.json"), whenExpired: .keep)
    let trusted = HostRewriter(rules: list.source, policy: .prefer)
    try list.update(with: downloadedFile)
    _ = trusted
  }
#endif

private func lookedUp(dohURL: URL) throws {
  let doh = try DoHResolver(dohURL, addresses: ["192.0.2.53", "2001:db8::53"])
  let looking = HostRewriter(
    rules: try HostRules(["*.example.com": []]), resolver: ResolutionCache(doh), policy: .require)
  _ = looking
}

struct ProviderDNS: HostResolver {
  struct Answer: Decodable { var ips: [String], ttl: Int }

  let registry = InterceptorRegistry { HostRewriter(["httpdns.example.net": ["203.0.113.53", "203.0.113.54"]]) }

  func resolve(_ host: HostName, port: Int) async throws -> HostResolution {
    guard let url = URL(string: "https://httpdns.example.net/d?host=\(host)") else { throw URLError(.badURL) }
    let (data, _) = try await registry.data(for: URLRequest(url: url))
    let answer = try JSONDecoder().decode(Answer.self, from: data)
    let addresses = try answer.ips.map { try HostAddress($0) }
    return HostResolution(addresses, timeToLive: .seconds(answer.ttl), source: name)
  }
}

private func closed(rules: HostRules, resolver: any HostResolver) throws {
  var policy = HostRewriter.Policy.require
  policy.responseCheck = .field("X-Served-By", equals: "example") && .noPortal(redirectsWithin: ["example.com"])
  let closed = HostRewriter(rules: rules, resolver: resolver, policy: policy)
  _ = closed
}

private func failing(session: URLSession) async throws {
  do {
    _ = try await session.data(from: url)
  } catch let error as URLError {
    if let cause = error.cause(as: HostError.self) { print(cause.attempts.table) }
  }
}

private func watched(rewriter: HostRewriter) async {
  print(await rewriter.explain(url))
  for await event in rewriter.events() where event.attempt?.isSuspectedHijack == true {
    print(event.host, event.attempt?.candidate?.address.literal ?? "")
  }
}

private func tested(rewriter: HostRewriter) async throws {
  let next = InterceptorChain.Next { request in
    InterceptedResponse(to: request, body: .text(request.route?.address ?? "the system's way"))
  }
  let answer = try await rewriter.startLoading(InterceptedRequest(.get, url), next: next)
  _ = answer
}
