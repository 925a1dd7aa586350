import Foundation
import Logging
import TestSupport
import Testing
import WaylayCore
@testable import WaylayHosts

@Suite("What the rewriter tells", .timeLimit(.minutes(5)))
struct ExplanationTests {
  @Test("an explanation is a table: rank, address, source, what is known, time, ban")
  func table() async throws {
    let rig = try Rig(
      ["203.0.113.7": .fails(.rogue), "203.0.113.8": .answers()], policy: .prefer)
    try await rig.load()
    rig.rewriter.ruleSource.replace(with: try HostRules(["api.test": ["203.0.113.7", "203.0.113.8", "2001:db8::7"]]))
    let url = try #require(URL(string: "https://api.test/x"))
    #expect(
      await rig.rewriter.explain(url).description == """
        api.test:443, rule "api.test: 203.0.113.7, 203.0.113.8, 2001:db8::7", then the system's resolver
        1  203.0.113.8:443    rule  proven                       0.0 ms
        2  [2001:db8::7]:443  rule  untried
        3  203.0.113.7:443    rule  banned: certificate refused          for 3600 s
        """)
  }

  @Test("an explanation says why a request is left alone, and why there is no address")
  func leftAlone() async throws {
    let rewriter = HostRewriter(
      rules: try HostRules([HostRule(excluding: "old.test"), HostRule("*.test")]), policy: .require)
    for (url, text) in [
      ("https://old.test/", "old.test:443, rule \"old.test: left alone\": the request is left alone"),
      ("https://example.com/", "example.com:443, no rule: the request is left alone"),
      ("data:,x", "left alone"), ("ws://a.test/", "left alone"), ("ftp://a.test/", "left alone"),
      ("https://a.test/", "no resolver"),
    ] {
      let explanation = await rewriter.explain(try #require(URL(string: url)))
      #expect(explanation.description.contains(text), "\(explanation)")
    }
  }

  @Test(
    """
    each attempt is an event with its address, resolver, outcome and times; subscribers have bounded buffers of their \
    own
    """
  )
  func events() async throws {
    let rig = try Rig(["127.0.0.1": .fails(.rogue), "127.0.0.2": .answers()])
    var all = rig.rewriter.events().makeAsyncIterator()
    let small = rig.rewriter.events(bufferingNewest: 1)
    try await rig.load()
    let first = try #require(await all.next())
    #expect(first.kind == .attempted && first.host.description == "api.test")
    #expect(first.attempt?.isSuspectedHijack == true && first.ban == .seconds(3600))
    #expect(await all.next()?.attempt?.outcome == .responded)
    var iterator = small.makeAsyncIterator()
    #expect(await iterator.next()?.attempt?.outcome == .responded)
  }

  @Test("counters say what was done")
  func counters() async throws {
    let rig = try Rig(["127.0.0.1": .fails(.rogue), "127.0.0.2": .answers()])
    try await rig.load()
    try await rig.load()
    let counters = rig.rewriter.counters
    #expect(counters.requests == 2 && counters.attempts == 3 && counters.faults == 1)
    #expect(counters.suspectedHijacks == 1 && counters.bans == 1 && counters.failures == 0)
  }

  @Test("a suspected hijack is logged as a warning, other attempts as details, and no URL is")
  func log() async throws {
    let lines = Log<String>()
    let network = FakeNetwork(["203.0.113.1": .fails(.rogue), "203.0.113.2": .answers()])
    let rewriter = HostRewriter(
      rules: try HostRules(["api.test": ["203.0.113.1", "203.0.113.2"]]), logger: .recording(lines))
    let request = InterceptedRequest(.get, try #require(URL(string: "https://api.test/secret?token=pl4nted")))
    _ = try await rewriter.startLoading(request, next: network.next)
    let all = lines.all.filter { !$0.hasPrefix("trace") }
    #expect(all.count == 2)
    #expect(
      all.first?.hasPrefix("warning suspected hijack") == true && all.last?.hasPrefix("debug address attempted") == true
    )
    #expect(
      all.allSatisfy {
        $0.contains("waylay.host=api.test") && $0.contains("waylay.address.source=rule") && !$0.contains("secret")
      })
    #expect(all.first?.contains("waylay.address=203.0.113.1:443") == true)
  }
}
