import Foundation
import TestSupport
import Testing
import WaylayCore
@testable import WaylayHosts

@Suite("Policies of the rewriter", .timeLimit(.minutes(5)))
struct PolicyTests {
  @Test("under .prefer the system's way comes last, when every address has failed")
  func prefer() async throws {
    let rig = try Rig(
      ["127.0.0.1": .fails(.refused), "127.0.0.2": .fails(.rogue), "system": .answers()], policy: .prefer)
    #expect(try await rig.load("POST") == "system")
    #expect(rig.network.visited == ["127.0.0.1", "127.0.0.2", "system"])
    #expect(rig.rewriter.counters.systemFallbacks == 1)
  }

  @Test(
    """
    under .prefer addresses that hang are given up at their deadlines, and can send nothing once the system's way is \
    taken
    """
  )
  func preferWhenLate() async throws {
    let rig = try Rig(["127.0.0.1": .hangs, "system": .answers()], policy: .prefer)
    async let answer = rig.load("POST")
    await rig.network.time.sleeper(until: .seconds(3))
    rig.network.time.advance(by: .seconds(3))
    // It was late and has not failed: it is tried once more, for longer, before the system's way is taken.
    await rig.network.time.sleeper(until: .seconds(12))
    rig.network.time.advance(by: .seconds(9))
    #expect(try await answer == "system")
    #expect(rig.network.sent == ["system"])
  }

  @Test("under .require nothing goes anywhere but to the addresses of the rule")
  func require() async throws {
    let rig = try Rig(["127.0.0.1": .fails(.refused), "127.0.0.2": .fails(.rogue), "system": .answers()])
    let error = await rig.failure()
    #expect(hostError(error)?.code == .allAddressesFailed)
    #expect(rig.network.visits.allSatisfy { $0.request.route != nil })
  }

  @Test("over http an answer that the check rejects bans its address, and the request goes to the next")
  func responseCheck() async throws {
    var policy = HostRewriter.Policy.require
    policy.responseCheck = .succeeds
    let rig = try Rig(["127.0.0.1": .answers(status: 511), "127.0.0.2": .answers()], policy: policy)
    #expect(try await rig.load("GET", "http://api.test/") == "127.0.0.2")
    #expect(try await rig.states("http://api.test/") == ["127.0.0.2 proven", "127.0.0.1 banned: response rejected"])
    #expect(rig.rewriter.counters.suspectedHijacks == 1)
  }

  @Test("over https the check is not asked: the certificate was")
  func noCheckWithTLS() async throws {
    var policy = HostRewriter.Policy.require
    policy.responseCheck = ResponseCheck { _ in "never" }
    let rig = try Rig(["127.0.0.1": .answers()], policy: policy)
    #expect(try await rig.load() == "127.0.0.1")
  }

  @Test("a rejected answer to a POST fails the request: it is not sent twice")
  func rejectedPost() async throws {
    var policy = HostRewriter.Policy.require
    policy.responseCheck = .succeeds
    let rig = try Rig(["127.0.0.1": .answers(status: 511), "127.0.0.2": .answers()], policy: policy)
    let error = await rig.failure("POST", "http://api.test/")
    #expect(hostError(error)?.attempts.map(\.outcome) == [.responseRejected])
    #expect((error as? URLError)?.code == .badServerResponse)
    #expect(rig.network.visited == ["127.0.0.1"])
  }

  @Test("the system's answer has to pass the check too")
  func systemAnswer() async throws {
    var policy = HostRewriter.Policy.prefer
    policy.responseCheck = .succeeds
    let rig = try Rig(["127.0.0.1": .fails(.refused), "system": .answers(status: 302)], policy: policy)
    let error = await rig.failure("GET", "http://api.test/")
    #expect(hostError(error)?.attempts.map(\.outcome) == [.refused, .responseRejected])
  }

  @Test("checks look at status, fields and the target of a redirect, and can be combined")
  func checks() throws {
    func response(_ status: Int, _ fields: HTTPFields = [:]) throws -> InterceptedResponse {
      InterceptedResponse(
        status: .init(code: status), fields: fields, url: try #require(URL(string: "http://api.test/x")))
    }
    let served = try #require(HTTPField.Name("x-served-by"))
    let header = ResponseCheck.field("X-Served-By", equals: "good")
    #expect(try header.rejection(of: response(200, [served: "good"])) == nil)
    #expect(try header.rejection(of: response(200)) != nil)
    let request = InterceptedRequest(.get, try #require(URL(string: "http://api.test/x")))
    let stays = ResponseCheck.noPortal(redirectsWithin: ["example.com"])
    for (target, isTaken) in [
      ("/y", true), ("http://API.test/", true), ("https://example.com/", true), ("http://a.example.com/", true),
      ("http://badexample.com/", false), ("http://portal.hotel/login", false), ("//portal.hotel", false),
    ] {
      #expect(try (stays.rejection(of: response(302, [.location: target]), to: request) == nil) == isTaken, "\(target)")
    }
    #expect(
      try (header && stays).rejection(
        of: response(302, [served: "good", .location: "http://portal.hotel/"]), to: request) != nil)
    #expect(try (header || .succeeds).rejection(of: response(200)) == nil)
  }

  /// A transport that dials no addresses.
  private struct Incapable: Transport {
    let capabilities: TransportCapabilities = []

    func load(_ request: InterceptedRequest) async throws -> InterceptedResponse {
      InterceptedResponse(to: request, body: .text("system"))
    }
  }

  @Test(
    """
    over a transport that cannot dial addresses .require fails with an error that explains, .prefer goes the system's \
    way with an event
    """
  )
  func incapable() async throws {
    let url = try #require(URL(string: "https://api.test/"))
    for policy in [HostRewriter.Policy.require, .prefer] {
      let rewriter = HostRewriter(rules: try HostRules(["api.test": ["203.0.113.7"]]), policy: policy)
      var events = rewriter.events().makeAsyncIterator()
      let registry = InterceptorRegistry(transport: Incapable(), configuration: .ephemeral) { rewriter }
      if policy.allowsSystem {
        let (data, _) = try await registry.data(for: URLRequest(url: url))
        #expect(String(decoding: data, as: UTF8.self) == "system")
        #expect(await events.next()?.kind == .fellBackToSystem)
      } else {
        await #expect {
          try await registry.data(for: URLRequest(url: url))
        } throws: { error in
          hostError(error)?.code == .transportIncapable && hostError(error)?.message.contains("CurlTransport") == true
        }
        #expect(await events.next()?.kind == .failed)
      }
      registry.invalidate()
    }
  }

  /// Dials addresses, has no gates.
  private final class Gateless: Transport {
    let capabilities: TransportCapabilities = .routes
    let network: FakeNetwork

    init(_ network: FakeNetwork) { self.network = network }

    func load(_ request: InterceptedRequest) async throws -> InterceptedResponse { try await network.load(request) }
  }

  @Test("over a transport without gates it goes one by one, whatever the policy says")
  func gateless() async throws {
    let network = FakeNetwork(["203.0.113.1": .fails(.refused), "203.0.113.2": .answers()])
    let rewriter = HostRewriter(
      rules: try HostRules(["api.test": ["203.0.113.1", "203.0.113.2"]]), policy: .require, clock: network.time.clock)
    let registry = InterceptorRegistry(transport: Gateless(network), configuration: .ephemeral) { rewriter }
    let (data, _) = try await registry.data(for: URLRequest(url: try #require(URL(string: "https://api.test/"))))
    #expect(String(decoding: data, as: UTF8.self) == "203.0.113.2")
    #expect(network.visits.allSatisfy { $0.request.route?.gate == nil })
    registry.invalidate()
  }
}
