import Foundation
import TestSupport
import Testing
import WaylayCore
import WaylayHosts

@Suite("HostRewriter", .timeLimit(.minutes(5)))
struct HostRewriterTests {
  /// A resolver that answers what it was told to, and counts.
  private final class Book: HostResolver {
    let name = "book"
    private let answers: Locked<[String: Result<[String], HostError>]>
    private let count = Locked(0)

    init(_ answers: [String: Result<[String], HostError>]) { self.answers = Locked(answers) }

    var lookups: Int { count.withLock { $0 } }

    func resolve(_ host: HostName, port: Int) async throws -> HostResolution {
      count.withLock { $0 += 1 }
      let answer = try answers.withLock { $0[host.description] }?.get()
      guard let answer else { throw HostError(.noSuchHost, "not in the book") }
      return HostResolution(try answer.map { try HostAddress($0) }, timeToLive: .seconds(60), source: name)
    }
  }

  private func request(_ text: String) throws -> InterceptedRequest {
    InterceptedRequest(.get, try #require(URL(string: text)))
  }

  private func answer(_ rewriter: HostRewriter, _ url: String, over network: FakeNetwork) async throws -> String {
    let response = try await rewriter.startLoading(try request(url), next: network.next)
    return String(decoding: try await response.body.collect(upTo: 100), as: UTF8.self)
  }

  @Test("a table of hosts and addresses is all that it takes; the URL stays as it is")
  func simple() async throws {
    let rewriter = HostRewriter(["api.example.com": ["203.0.113.7", "2001:db8::7"]])
    let network = FakeNetwork(["203.0.113.7": .answers()])
    #expect(try await answer(rewriter, "https://user@API.example.com:443/a?b#c", over: network) == "203.0.113.7")
    let sent = try #require(network.visits.first?.request)
    #expect(sent.url.absoluteString == "https://user@API.example.com:443/a?b#c")
    #expect(sent.fields.isEmpty)
    #expect(sent.route?.port == 443)
  }

  @Test(
    "takes part in the loads of its rules' hosts only",
    arguments: [
      ("https://api.test/", true), ("http://API.test:8080/", true), ("https://a.b.test/", true),
      ("https://old.test/", false),
      ("https://example.com/", false), ("https://203.0.113.7/", false), ("ftp://api.test/", false), ("data:,x", false),
    ])
  func scope(url: String, isRouted: Bool) throws {
    let rules = try HostRules([
      HostRule("api.test", endpoints: ["203.0.113.7"]), HostRule("*.test", endpoints: ["203.0.113.7"]),
      HostRule(excluding: "old.test"),
    ])
    let rewriter = HostRewriter(rules: rules)
    #expect(rewriter.canInit(with: URLRequest(url: try #require(URL(string: url)))) == isRouted)
  }

  @Test(
    "an entry that cannot be used is an error that names it and keeps the secrets of its URL",
    arguments: [
      ("api.test", "203.0.113.700", "203.0.113.700"), ("bad host", "203.0.113.7", "bad host"),
      ("https://url.test/v1?key=s3cret", "203.0.113.7", "write only its host, \"url.test\""),
      ("path.test/v1", "203.0.113.7", "\"path.test\""), ("there.test", "https://203.0.113.7", "\"203.0.113.7\""),
    ])
  func badEntries(host: String, address: String, wanted: String) throws {
    let error = try #require(throws: HostError.self) { try HostRules([host: [address], "*.ok.test": ["203.0.113.7"]]) }
    #expect(error.message.contains(wanted), "\(error.message)")
    #expect(!"\(error)".contains("s3cret"))
  }

  @Test(
    "a table of the program that has such an entry ends the process; a host without addresses asks the resolver",
    .exitTest)
  func badTable() async throws {
    await #expect(processExitsWith: .failure) {
      _ = HostRewriter(["api.test": ["203.0.113.700"]])
    }
    let rewriter = HostRewriter(["empty.test": []])
    let network = FakeNetwork(["system": .answers()])
    let error = await failure { try await answer(rewriter, "https://empty.test/", over: network) }
    #expect(hostError(error)?.code == .noResolver)
    #expect(network.visited.isEmpty)
  }

  @Test("rules can be replaced while requests run: the next request goes by the new ones")
  func replacement() async throws {
    let rewriter = HostRewriter(rules: try HostRules(["api.test": ["203.0.113.1"]]))
    let network = FakeNetwork(["203.0.113.1": .answers(), "203.0.113.2": .answers()])
    #expect(try await answer(rewriter, "https://api.test/", over: network) == "203.0.113.1")
    rewriter.ruleSource.replace(with: try HostRules(["api.test": ["203.0.113.2:8443"]]))
    #expect(try await answer(rewriter, "https://api.test/", over: network) == "203.0.113.2")
    #expect(network.visits.last?.request.route?.port == 8443)
  }

  @Test("a rule without addresses asks the resolver; an event says who has answered")
  func resolver() async throws {
    let book = Book(["a.test": .success(["203.0.113.1", "203.0.113.2"])])
    let rewriter = HostRewriter(rules: try HostRules(["*.test": []]), resolver: book, policy: .require)
    var events = rewriter.events().makeAsyncIterator()
    let network = FakeNetwork(["203.0.113.1": .fails(.refused), "203.0.113.2": .answers()])
    #expect(try await answer(rewriter, "https://a.test/", over: network) == "203.0.113.2")
    let attempts = [await events.next()?.attempt, await events.next()?.attempt]
    #expect(attempts.map { $0?.candidate?.source } == ["book", "book"])
    #expect(attempts.map { $0?.outcome } == [.refused, .responded])
    #expect(attempts.allSatisfy { $0?.candidate?.isStale == false && $0?.candidate?.age != nil })
  }

  @Test("when no resolver knows the host, .require fails and dials nothing, .prefer goes the system's way and says so")
  func unresolved() async throws {
    let network = FakeNetwork(["system": .answers()])
    let closed = HostRewriter(rules: try HostRules(["*.test": []]), resolver: Book([:]), policy: .require)
    let error = await failure { try await answer(closed, "https://a.test/", over: network) }
    #expect(hostError(error)?.code == .noSuchHost)
    #expect((error as? URLError)?.code == .cannotFindHost)
    #expect(network.visited.isEmpty)
    let open = HostRewriter(rules: try HostRules(["*.test": []]), resolver: Book([:]), policy: .prefer)
    var events = open.events().makeAsyncIterator()
    #expect(try await answer(open, "https://a.test/", over: network) == "system")
    let kinds = [await events.next()?.kind, await events.next()?.kind]
    #expect(kinds == [.unresolved, .fellBackToSystem])
  }

  @Test("a rule that needs a resolver fails where there is none, under either policy", arguments: [true, false])
  func noResolver(isOpen: Bool) async throws {
    let rewriter = HostRewriter(rules: try HostRules(["*.test": []]), policy: isOpen ? .prefer : .require)
    let network = FakeNetwork(["system": .answers()])
    let error = await failure { try await answer(rewriter, "https://a.test/", over: network) }
    #expect(hostError(error)?.code == .noResolver)
    #expect(network.visited.isEmpty)
  }

  @Test("a route that another interceptor has set stays")
  func ownRoute() async throws {
    let rewriter = HostRewriter(["api.test": ["203.0.113.1"]])
    let network = FakeNetwork(["203.0.113.9": .answers()])
    var request = try request("https://api.test/")
    request.route = try Route("203.0.113.9")
    let response = try await rewriter.startLoading(request, next: network.next)
    #expect(String(decoding: try await response.body.collect(upTo: 100), as: UTF8.self) == "203.0.113.9")
  }
}
