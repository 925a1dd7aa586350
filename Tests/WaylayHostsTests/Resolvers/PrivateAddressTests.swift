import Testing
import WaylayHosts

@Suite("A public name with a private address", .timeLimit(.minutes(5)))
struct PrivateAddressTests {
  /// A vendor's service over a transport that answers by itself.
  private struct Saying: HTTPDNSService, Transport {
    let text: String
    var url: URL { URL(string: "https://192.0.2.53/d")! }
    var addresses: [HostAddress] { [] }
    var capabilities: TransportCapabilities { [] }

    func request(for query: HostQuery) throws -> URLRequest { URLRequest(url: url) }

    func answer(to query: HostQuery, from body: Data) throws -> HTTPDNSAnswer {
      let addresses = String(decoding: body, as: UTF8.self).split(separator: " ").map(String.init)
      return HTTPDNSAnswer(try addresses.map { try HostAddress($0) }, timeToLive: .seconds(60))
    }

    func load(_ request: InterceptedRequest) async throws -> InterceptedResponse {
      InterceptedResponse(to: request, body: .data(Data(text.utf8)), source: .network)
    }
  }

  private func resolve(
    _ addresses: String, for host: String = "api.example.com", policy: PrivateAddressPolicy = .refuse
  ) async throws -> HostResolution {
    let saying = Saying(text: addresses)
    return try await HTTPDNSResolver(saying, privateAddresses: policy, transport: saying).resolve(
      HostQuery(HostName(host)))
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
    ])
  func refused(address: String, reason: String) async {
    let error = await #expect(throws: HostError.self) { try await resolve(address) }
    #expect(error?.code == .answerRefused)
    #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
  }

  @Test(
    "is not what an address next to the private ones is",
    arguments: [
      "1.0.0.1", "9.255.255.255", "11.0.0.0", "126.255.255.255", "128.0.0.1", "172.15.255.255", "172.32.0.0",
      "192.167.255.255",
      "192.169.0.0", "169.253.255.255", "100.63.255.255", "100.128.0.0", "198.17.255.255", "198.20.0.0",
      "223.255.255.255",
      "2606:4700::1111", "64:ff9b::203.0.113.7", "2002:cb00:7107::1", "fbff::1", "fe00::1",
    ])
  func allowed(address: String) async throws {
    #expect(try await resolve(address).candidates.map(\.address) == [HostAddress(address)])
  }

  @Test("loses its private addresses and keeps the others")
  func mixed() async throws {
    let resolution = try await resolve("192.168.1.1 203.0.113.7 ::1")
    #expect(resolution.candidates.map(\.address.literal) == ["203.0.113.7"])
    #expect(resolution.refusals.map(\.address.literal) == ["192.168.1.1", "::1"])
  }

  @Test("may have it when the policy says so, for all names or for some")
  func policies() async throws {
    #expect(try await resolve("127.0.0.1", policy: .allow).candidates.count == 1)
    let some = PrivateAddressPolicy.allow(for: [try HostPattern("*.corp.example.com")])
    #expect(try await resolve("10.0.0.1", for: "wiki.corp.example.com", policy: some).candidates.count == 1)
    await #expect(throws: HostError.self) { try await resolve("10.0.0.1", for: "corp.example.com", policy: some) }
    await #expect(throws: HostError.self) { try await resolve("10.0.0.1", for: "evilcorp.example.com", policy: some) }
  }

  @Test(
    "is a thing of public names only",
    arguments: ["printer", "printer.local", "db.internal", "nas.home.arpa", "a.localhost"])
  func local(host: String) async throws {
    #expect(try await resolve("192.168.1.9", for: host).candidates.count == 1)
  }
}
