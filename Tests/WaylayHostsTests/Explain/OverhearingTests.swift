import Foundation
import TestSupport
import Testing
import WaylayCore
import WaylayHosts

@Suite("What a rewriter without a logger says", .timeLimit(.minutes(5)))
struct OverhearingTests {
  @Test("is searched for planted secrets too")
  func rewriter() async throws {
    let host = "\(UUID().uuidString.lowercased()).test"
    let count = try await Recording.count(of: host) {
      let network = FakeNetwork(["203.0.113.1": .fails(.rogue), "203.0.113.2": .answers()])
      let rewriter = HostRewriter(rules: try HostRules(["\(host)": ["203.0.113.1", "203.0.113.2"]]))
      let request = InterceptedRequest(URLRequest(url: try #require(URL(string: "https://\(host)/"))))
      _ = try await rewriter.startLoading(request, next: network.next)
    }
    #expect(count >= 2)
  }
}
