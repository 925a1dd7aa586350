import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore
import WaylayHAR
import WaylayInspector

@Suite("Exchanges that are kept", .heavy, .timeLimit(.minutes(10)))
struct SearchTests {
  @Test("gives the exchanges that a closure selects, the newest in their order")
  func many() async throws {
    let inspector = Inspector(limits: Inspector.Limits(exchanges: 40_000, bytes: 1 << 30))
    let registry = inspected(inspector) { InterceptedResponse(to: $0, body: .text("\($0.url.path)")) }
    for number in 1...2_000 { _ = try await registry.load(URLRequest(url: url("https://a.test/\(number)/end"))) }
    func isFound(_ exchange: Inspector.Exchange) -> Bool { exchange.response?.body.text?.contains("77/end") ?? false }
    #expect(inspector.exchanges(where: isFound).count == 20 && inspector.har(where: isFound).entries.count == 20)
    let newest = inspector.exchanges(newest: 3, where: isFound)
    #expect(
      newest.map(\.request.url) == ["https://a.test/1777/end", "https://a.test/1877/end", "https://a.test/1977/end"])
  }

  @Test("counts by host, status and source, and lists the slowest")
  func statistics() async throws {
    try await withOrigin { origin in
      let inspector = Inspector()
      let registry = InterceptorRegistry(logger: .recording()) { inspector }
      for path in ["/hello", "/hello", "/status/404", "/bytes/1000", "/slow/200"] {
        _ = try await registry.data(for: URLRequest(url: origin.url(path)))
      }
      await #expect(throws: URLError.self) { try await registry.data(for: URLRequest(url: origin.url("/truncated"))) }
      let all = inspector.statistics(slowest: 2)
      #expect(
        all.count == 6 && all.failed == 1 && all.open == 0 && all.fromNetwork == 6 && all.archiveHits == 0
          && all.mocked == 0)
      #expect(all.statuses == [200: 5, 404: 1])
      #expect(all.newConnections + all.reusedConnections == 6 && all.reusedConnections >= 3)
      #expect(all.hosts.map(\.name) == ["127.0.0.1"] && all.hosts[0].count == 6 && all.hosts[0].errors == 2)
      #expect(all.bytesReceived == all.hosts[0].bytes && all.bytesReceived > 1000)
      #expect(
        all.slowest.count == 2 && all.slowest[0].duration >= all.slowest[1].duration
          && all.slowest[0].duration >= .milliseconds(200))
      #expect(all.median <= all.percentile95 && all.percentile95 >= .milliseconds(200))
      #expect(inspector.statistics { $0.response?.status == 404 }.count == 1)
      #expect(Inspector().statistics() == Inspector().statistics())
    }
  }
}
