import Testing
import WaylayCore
@testable import WaylayHosts

@Suite("A public name with a private address", .timeLimit(.minutes(5)))
struct PrivateAddressTests {
  /// A resolver that answers what it was told to.
  private struct Book: HostResolver {
    let addresses: [HostAddress]

    func resolve(_ host: HostName, port: Int) async throws -> HostResolution {
      HostResolution(addresses, timeToLive: .seconds(60), source: name)
    }
  }

  private func resolve(
    _ addresses: String, for host: String = "api.example.com", except exceptions: [String] = []
  ) async throws -> HostResolution {
    var options = ResolutionCache.Options()
    options.privateHosts = try exceptions.map { try HostPattern($0) }
    let book = Book(addresses: try addresses.split(separator: " ").map { try HostAddress(String($0)) })
    return try await ResolutionCache(book, options: options).resolve(HostAuthority(HostName(host)))
  }

  @Test(
    "is refused, and the reason is said",
    arguments: [
      ("0.0.0.0", "this network"), ("127.0.0.1", "loopback"), ("127.255.255.254", "loopback"), ("10.1.2.3", "private"),
      ("172.16.0.1", "private"), ("172.31.255.255", "private"), ("192.168.1.1", "private"),
      ("169.254.169.254", "link-local"),
      ("100.64.0.1", "shared"), ("192.0.0.8", "protocols"), ("198.19.0.1", "measurements"),
      ("224.0.0.251", "multicast"),
      ("255.255.255.255", "reserved"), ("::", "unspecified"), ("::1", "loopback"), ("fe80::1", "link-local"),
      ("fec0::1", "site-local"),
      ("fc00::1", "unique local"), ("fdff::1", "unique local"), ("ff02::fb", "multicast"),
      ("::ffff:127.0.0.1", "loopback"),
      ("::192.168.0.1", "private"), ("64:ff9b::10.0.0.1", "private"), ("2002:c0a8:101::1", "private"),
      ("64:ff9b:1::203.0.113.7", "translation"), ("64:ff9b:1:ffff::1", "translation"),
      ("::ffff:0:10.0.0.1", "private"), ("::ffff:0:127.0.0.1", "loopback"),
    ])
  func refused(address: String, reason: String) async {
    let error = await #expect(throws: HostError.self) { try await resolve(address) }
    #expect(error?.code == .resolutionRejected)
    #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
  }

  @Test(
    "is not what an address next to the private ones is",
    arguments: [
      "1.0.0.1", "9.255.255.255", "11.0.0.0", "126.255.255.255", "128.0.0.1", "172.15.255.255", "172.32.0.0",
      "192.167.255.255",
      "192.169.0.0", "169.253.255.255", "100.63.255.255", "100.128.0.0", "198.17.255.255", "198.20.0.0",
      "223.255.255.255",
      "2606:4700::1111", "64:ff9b::203.0.113.7", "::ffff:0:203.0.113.7", "64:ff9b:2::1", "2002:cb00:7107::1", "fbff::1",
      "fe00::1",
    ])
  func allowed(address: String) async throws {
    #expect(try await resolve(address).endpoints.map(\.address) == [HostAddress(address)])
  }

  @Test("loses its private addresses and keeps the others")
  func mixed() async throws {
    let resolution = try await resolve("192.168.1.1 203.0.113.7 ::1")
    #expect(resolution.endpoints.map(\.address.literal) == ["203.0.113.7"])
  }

  @Test("may have it when the cache's options say so, for all names or for some")
  func exceptions() async throws {
    #expect(try await resolve("127.0.0.1", except: ["*"]).endpoints.count == 1)
    let some = ["*.corp.example.com"]
    #expect(try await resolve("10.0.0.1", for: "wiki.corp.example.com", except: some).endpoints.count == 1)
    await #expect(throws: HostError.self) { try await resolve("10.0.0.1", for: "corp.example.com", except: some) }
    await #expect(throws: HostError.self) { try await resolve("10.0.0.1", for: "evilcorp.example.com", except: some) }
  }

  @Test("has a chain ask its next resolver, whatever kind of resolver has answered")
  func chain() async throws {
    let (bad, good) = (try HostAddress("192.168.1.1"), try HostAddress("203.0.113.7"))
    let rules = try HostRules(["api.example.com": ["10.0.0.1"]])
    let inner = ResolverChain([Book(addresses: [bad]), Book(addresses: [good])], timeout: .seconds(600))
    let chain = ResolverChain([rules, inner], timeout: .seconds(600))
    let rewriter = HostRewriter(rules: try HostRules(["*.example.com": []]), resolver: chain, policy: .require)
    let network = FakeNetwork(["203.0.113.7": .answers()])
    let request = InterceptedRequest(.get, try #require(URL(string: "https://api.example.com/")))
    _ = try await rewriter.startLoading(request, next: network.next)
    #expect(network.visited == ["203.0.113.7"])
  }

  @Test(
    "is a thing of public names only",
    arguments: ["printer", "printer.local", "db.internal", "nas.home.arpa", "a.localhost"])
  func local(host: String) async throws {
    #expect(try await resolve("192.168.1.9", for: host).endpoints.count == 1)
  }
}
