import Foundation
import TestSupport
import Testing
import WaylayTesting

/// What exploring finds in clients with one mistake each, read from the report of a process of its own.
@Suite(
  "Exploring faults", .enabled(if: Program.tests != nil, "the bundle of tests is a program on Linux alone"),
  .heavy, .timeLimit(.minutes(10)))
struct ExplorationTests {
  @Test("finds the mistake in each wrong client, with the smallest plan and a seed, and nothing in right ones")
  func clients() async throws {
    let report = try await TestReport.running("ExploredTests")
    let wrong: [String: String] = [
      "sends an order again after a reset": "was sent 2 times",
      "refreshes its token once for each request": "/token was sent",
      "asks again and again without a pause": "within a second",
      "swallows a cancellation and tries again": "cancel",
      "takes half a list for all of it": "treated as complete",
      "loses events that come together, or in parts": "chunks of other sizes",
      "resumes a byte too late": "treated as complete",
      "waits for ever for what has failed": "did not end",
      "waits for any number of seconds": "did not end",
      "gives up waiting, and leaves the load behind": "left alive",
      "keeps its turn when it fails": "did not end",
      "reads text chunk by chunk": "chunks of other sizes",
      "refreshes its token for ever": "within a second",
      "sends what it tells nobody about after the test": "left alive",
      "begins again from the order when the receipt fails": "was sent 2 times",
      "polls without a pause while nothing is new": "within a second",
      "takes a stream that was cut for one that has ended": "treated as complete",
      "shows events again when it connects again": "lost or repeated",
      "has no mock": "nothing to explore",
      "has a seed of another test": "stands for no fault",
    ]
    for (test, text) in wrong {
      let issues = report.issues(of: test)
      #expect(issues.count == 1, "\(test): \(issues)")
      #expect(issues.first?.message.contains(text) == true, "\(test): \(issues.first?.message ?? "")")
    }
    let others = report.failed.filter { name in name.map { wrong[$0] == nil } ?? true }
    #expect(others.isEmpty, "\(report.issues.filter { issue in others.contains(issue.test) })")
    #expect(report.ended.count >= 35)
    let cut = report.issues(of: "has more faults than runs")
    #expect(cut.map(\.isFailure) == [false] && cut.first?.message.contains("tried 4 of") == true, "\(cut)")
    let order = report.issues(of: "sends an order again after a reset").first?.message ?? ""
    #expect(
      order.contains(#"Stub(.post, "https://api.example.com/orders", .fault(.connectionReset)).once"#), "\(order)")
    #expect(order.contains(".exploringFaults(limit: 200, seed: "), "\(order)")
  }

  @Test(
    "runs a test with the fault of a seed alone", .mocked { Stub(.get, "https://a.test/x", .text("x")) },
    .exploringFaults(seed: 1))
  func seed() async throws {
    let (data, _) = try await URLSession.mocked.data(from: #require(URL(string: "https://a.test/x")))
    #expect(data == Data("x".utf8))
  }
}
