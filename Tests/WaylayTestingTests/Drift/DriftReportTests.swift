import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@Suite(
  "WAYLAY_RECORD=compare", .enabled(if: Program.tests != nil, "the bundle of tests is a program on Linux alone"),
  .heavy, .timeLimit(.minutes(10)))
struct DriftReportTests {
  @Test("asks the server, reports what its answers have lost, without secrets, and leaves the cassette as it is")
  func compares() async throws {
    let body = Locked(#"{"id":1,"name":"Ada","password":"pl4nted-old"}"#)
    let origin = try await TestOrigin.start()
    origin.reply(to: "/user") { _ in
      .text(body.withLock { $0 }, fields: [("Content-Type", "application/json")])
    }
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-drift-\(UUID().uuidString).har")
    defer { try? FileManager.default.removeItem(at: file) }
    let run = { (mode: String) in
      try await TestReport.running(
        "DriftFixtures",
        environment: [
          "WAYLAY_RECORD": mode, "WAYLAY_DRIFT_CASSETTE": file.path,
          "WAYLAY_DRIFT_ORIGIN": origin.url("/user").absoluteString,
        ])
    }
    #expect(try await run("once").issues.isEmpty)
    let recorded = try Data(contentsOf: file)

    let same = try await run("compare")
    #expect(same.issues.isEmpty && same.ended.contains("reads a user"))

    body.withLock { $0 = #"{"id":"1","nick":"A","password":"pl4nted-new"}"# }
    let drifted = try await run("compare")
    #expect(drifted.failed == ["reads a user"])
    let text = drifted.issues(of: "reads a user").map(\.message).joined(separator: "\n")
    for place in ["$.id", "$.name", "$.nick", file.lastPathComponent] { #expect(text.contains(place), "\(text)") }
    #expect(!drifted.output.contains("pl4nted"))
    #expect(try Data(contentsOf: file) == recorded)
    #expect(origin.requests.count == 3)
    await origin.stop()
  }
}
