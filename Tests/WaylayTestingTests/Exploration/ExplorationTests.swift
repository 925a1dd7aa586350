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
      "asks again and again without a pause": "Retry-After",
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
      "polls without a pause while nothing is new": "Retry-After",
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
    #expect(cut.map(\.isFailure) == [false] && cut.first?.message.contains("tried 3 of") == true, "\(cut)")
    let order = report.issues(of: "sends an order again after a reset").first?.message ?? ""
    #expect(
      order.contains(#"Stub(.post, "https://api.example.com/orders", .fault(.connectionReset)).once"#), "\(order)")
    #expect(order.contains(".exploringFaults(limit: 200, seed: "), "\(order)")
  }

  @Test("accuses a client of what it does wrong, whatever is generated in its requests, and a right one of nothing")
  func fairness() async throws {
    let report = try await TestReport.running("FairTests")
    let wrong = [
      "requests a page again before Retry-After, with another time": "Retry-After",
      "begins again from a cart with another identifier": "/carts was sent 2 times",
      "uploads again with another boundary": "/photos was sent 2 times",
      "reports each failure twice": "/log was sent 2 times",
      "sends an order to a second host after a timeout": "was sent 2 times",
      "pays again under another UUID": "was sent 2 times",
      "orders again with another time in the query": "/orders?at=",
      "repeats a mutation with another identifier": "/graphql was sent 2 times",
      "repeats a mutation because the next query failed": "/graphql was sent 2 times",
      "makes an Idempotency-Key for each attempt": "/orders was sent 2 times",
      "ignores Retry-After": "Retry-After",
      "takes half a list for all of it, with a time in the query": "treated as complete",
      "requests another item, and another path in each run": "differ",
    ]
    #expect(report.ended.count >= 25)
    for (test, text) in wrong where text != "differ" {
      let issues = report.issues(of: test)
      #expect(issues.count == 1 && issues.first?.isFailure == true, "\(test): \(issues)")
      #expect(issues.first?.message.contains(text) == true, "\(test): \(issues.first?.message ?? "")")
    }
    let others = report.issues.filter { $0.test.map { wrong[$0] == nil } ?? true }
    #expect(others.isEmpty, "\(others)")
    let unreached = report.issues(of: "requests another item, and another path in each run")
    #expect(unreached.map(\.isFailure) == [false], "\(unreached)")
    #expect(
      unreached.first?.message.contains("No fault reached GET https://api.example.com/all") == true, "\(unreached)")
  }

  @Test(
    "runs a test with the fault of a seed alone", .mocked { Stub(.get, "https://a.test/x", .text("x")) },
    .exploringFaults(seed: 1))
  func seed() async throws {
    let (data, _) = try await URLSession.mocked.data(from: #require(URL(string: "https://a.test/x")))
    #expect(data == Data("x".utf8))
  }
}
