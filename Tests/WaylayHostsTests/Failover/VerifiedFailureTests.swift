import Foundation
import TestSupport
import Testing
import WaylayCore
@testable import WaylayHosts

/// What an address teaches that has answered, or has been verified, and then fails.
@Suite("Addresses that fail after they were verified", .timeLimit(.minutes(5)))
struct VerifiedFailureTests {
  private let good = FakeNetwork.Behaviour.answers()

  @Test(
    "a request that is given up after a long silence has the next one go elsewhere, be its timeout ever so short",
    arguments: ["http", "https"])
  func givenUp(scheme: String) async throws {
    let rig = try Rig(["127.0.0.1": .takesAndIsSilent, "127.0.0.2": good])
    let url = try #require(URL(string: "\(scheme)://api.test/"))
    // A POST must not be sent twice: nobody else is asked.
    let load = Task {
      var request = URLRequest(url: url, timeoutInterval: 2)
      request.httpMethod = "POST"
      return try await rig.rewriter.startLoading(InterceptedRequest(request), next: rig.network.next)
    }
    await rig.network.visits(1)
    rig.network.time.advance(by: .milliseconds(1900))
    load.cancel()
    await #expect(throws: CancellationError.self) { try await load.value }
    #expect(try await rig.load("POST", url.absoluteString) == "127.0.0.2")
  }

  @Test(
    "only safe requests are with two servers at once: a PUT or DELETE waits for the one that has it",
    arguments: ["PUT", "DELETE", "POST"])
  func notHedged(method: String) async throws {
    let rig = try Rig(["127.0.0.1": .takesAndIsSilent, "127.0.0.2": good])
    await rig.check(waiting: method)
    #expect(rig.network.sent == ["127.0.0.1"])
  }

  @Test("a safe one is answered by the next address meanwhile", arguments: ["GET", "HEAD", "OPTIONS"])
  func hedged(method: String) async throws {
    let rig = try Rig(["127.0.0.1": .takesAndIsSilent, "127.0.0.2": good])
    #expect(try await rig.load(method, sleepingUntil: .seconds(3)) == "127.0.0.2")
  }

  @Test("with .prefer, late addresses are tried again for no longer than half of what the request's own timeout leaves")
  func shortTimeout() async throws {
    var policy = HostRewriter.Policy.prefer
    policy.initialDeadline = .seconds(3)
    let rig = try Rig(["127.0.0.1": .hangs, "system": good], policy: policy)
    let url = try #require(URL(string: "https://api.test/"))
    async let answer = rig.rewriter.startLoading(
      InterceptedRequest(URLRequest(url: url, timeoutInterval: 6)), next: rig.network.next)
    await rig.network.time.sleeper(until: .seconds(3))
    rig.network.time.advance(by: .seconds(3))
    // 3 of 6 seconds are left: half of them for the address, half for the system's way.
    await rig.network.time.sleeper(until: .milliseconds(4500))
    rig.network.time.advance(by: .milliseconds(1500))
    _ = try await answer
    #expect(rig.network.sent == ["system"])
  }

  @Test("what one host finds out of an address that does not answer, the others need not")
  func sharedAddress() async throws {
    let network = FakeNetwork(["127.0.0.1": .hangs, "127.0.0.2": good, "127.0.0.3": .fails(.rogue)])
    let hosts = (0..<30).map { "host\($0).test" }
    let table = Dictionary(uniqueKeysWithValues: hosts.map { ($0, ["127.0.0.1", "127.0.0.3", "127.0.0.2"]) })
    let rewriter = HostRewriter(rules: try HostRules(table), policy: .require, clock: network.time.clock)
    func load(_ host: String) async throws -> String {
      let url = try #require(URL(string: "https://\(host)/"))
      let response = try await rewriter.startLoading(InterceptedRequest(.get, url), next: network.next)
      return String(decoding: try await response.body.collect(upTo: 100), as: UTF8.self)
    }
    let host = hosts[0]
    async let first = load(host)
    await network.time.sleeper(until: .milliseconds(250))
    network.time.advance(by: .milliseconds(250))
    #expect(try await first == "127.0.0.2")
    // No time passes any more: what had to wait for the silent address would wait for ever.
    for host in hosts.dropFirst() { #expect(try await load(host) == "127.0.0.2") }
    let visited = network.visited
    let (silent, rogue) = (visited.filter { $0 == "127.0.0.1" }.count, visited.filter { $0 == "127.0.0.3" }.count)
    #expect(silent == 1)
    // A wrong certificate is wrong for its host.
    #expect(rogue == 30)
  }

  @Test("with .prefer, addresses that were late are tried again before the system's way: the network may be slow")
  func slowNetwork() async throws {
    let rig = try Rig(
      ["127.0.0.1": .answers(after: .seconds(4)), "127.0.0.2": .hangs, "system": good], policy: .prefer)
    async let answer = rig.load()
    await rig.network.time.sleep(until: .milliseconds(250))
    await rig.network.time.sleeper(until: .milliseconds(3250))
    for time in [3000, 3250, 7250] { await rig.network.time.sleep(until: .milliseconds(time)) }
    #expect(try await answer == "127.0.0.1")
    #expect(!rig.network.visited.contains("system"))
  }

  @Test(
    """
    neither a body nor a credential goes the system's way over plain http; a question without them does, and https \
    does
    """
  )
  func systemFallback() async throws {
    let rig = try Rig(["127.0.0.1": .fails(.refused), "system": good], policy: .prefer)
    let error = await rig.failure("POST", "http://api.test/", body: .text("pay"))
    #expect(hostError(error)?.message.contains("The system's resolver was not used") == true)
    let fields = [
      "Authorization", "cookie", "Proxy-Authorization", "X-Api-Key", "X-Auth-Token", "X-Amz-Security-Token",
      "X-Csrf-Token",
    ]
    for field in fields {
      var request = URLRequest(url: try #require(URL(string: "http://api.test/")))
      request.setValue("secret", forHTTPHeaderField: field)
      await #expect(throws: URLError.self) {
        try await rig.rewriter.startLoading(InterceptedRequest(request), next: rig.network.next)
      }
    }
    for target in ["?page=2&access_token=pl4nted", "?%61pi_key=pl4nted", "a;jsessionid=pl4nted/b?page=2"] {
      let error = await rig.failure("GET", "http://api.test/\(target)")
      #expect(hostError(error)?.message.contains("The system's resolver was not used") == true)
      #expect(hostError(error)?.message.contains("pl4nted") == false)
    }
    #expect(!rig.network.visited.contains("system"))
    #expect(try await rig.load("GET", "http://api.test/a;v=1?page=2&sort=key#token") == "system")
    #expect(try await rig.load("POST", "https://api.test/", body: .text("pay")) == "system")
  }
}
