import Foundation
import TestSupport
import Testing
import WaylayHAR
import WaylayTesting

@Suite(
  "The traffic of a test", .enabled(if: Program.tests != nil, "the bundle of tests is a program on Linux alone"),
  .heavy, .timeLimit(.minutes(10)))
struct TrafficTests {
  @Test("is attached when the test fails, as a HAR file and a text without secrets, and not when it passes")
  func attached() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-traffic-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let report = try await TestReport.running("TrafficFixtures/", "--attachments-path", folder.path)
    #expect(report.failed.subtracting(["knows its issue"]) == ["fails in the middle", "misses", "throws"])
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names.count { $0.hasSuffix(".har") } == 3, "\(names)")
    #expect(names.count { $0.hasSuffix(".txt") } == 3, "\(names)")
    let archives = try names.filter { $0.hasSuffix(".har") }.map {
      try HAR(contentsOf: folder.appendingPathComponent($0))
    }
    let middle = try #require(archives.first { $0.entries.count == 2 })
    #expect(middle.entries.map(\.response.body.text) == ["Ada", "Grace"])
    #expect(archives.contains { $0.entries.first?.extensions["_error"] != nil })
    let texts = try names.map { try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8) }
    for (name, text) in zip(names, texts) { #expect(!text.contains("pl4nted"), "\(name)") }
    let plain = try #require(zip(names, texts).first { $0.hasSuffix(".txt") && $1.contains("Grace") }?.1)
    #expect(plain.contains("curl ") && plain.contains("200 after ") && plain.contains("Ada"), "\(plain)")
    #expect(zip(names, texts).contains { $0.hasSuffix(".txt") && $1.contains("failed: ") })
    let text = report.issues(of: "fails in the middle").first?.message ?? ""
    #expect(text.contains("traffic.har"), "\(text)")
    let miss = report.issues(of: "misses").first?.message ?? ""
    #expect(miss.contains("curl --globoff --path-as-is --url 'https://api.example.com/users/3'"), "\(miss)")
  }

  @Test("is named with the flag that keeps it, where it is thrown away")
  func thrownAway() async throws {
    let report = try await TestReport.running("TrafficFixtures/failing")
    #expect(report.issues.contains { $0.message.contains("swift test --attachments-path") }, "\(report.issues)")
  }

  @Test("of one request is a command and an entry in one word", .mocked { Stub(.post, "/orders", .json(["id": 7])) })
  func oneWord() async throws {
    var request = URLRequest(url: URL(string: "https://a.test/orders?api_key=pl4nted-key&page=1")!)
    request.httpMethod = "POST"
    request.httpBody = Data("tea".utf8)
    _ = try await URLSession.mocked.data(for: request)
    let made = try MockInterceptor.current.requests(.post, "/orders").only()
    #expect(
      made.curlCommand(isMultiline: false).contains(
        "--url 'https://a.test/orders?api_key=REDACTED&page=1' --request 'POST'"))
    #expect(made.curlCommand().contains("--data-binary 'tea'"))
    #expect(made.harEntry.response.body.text == #"{"id":7}"#)
    #expect(made.harEntry.response.status == 200)
  }
}

@Suite(
  "An air gap", .enabled(if: Program.tests != nil, "the bundle of tests is a program on Linux alone"),
  .timeLimit(.minutes(2)))
struct AirGapTests {
  @Test("fails each test whose request would go to the network, and no other")
  func failures() async throws {
    let report = try await TestReport.running("AirGapFixtures")
    #expect(
      report.failed == [
        "uses the shared session", "uses the shared session in a detached task", "lets a request pass",
        "lets a request of a stub pass", "records",
      ])
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-airgap.har")
    #expect(!FileManager.default.fileExists(atPath: file.path))
    for name in report.failed {
      let text = report.issues(of: name).map(\.message).joined()
      #expect(text.contains("GET https://api.example.com/users/1"), "\(text)")
      #expect(text.contains("intercepting: [.shared]"), "\(text)")
    }
    #expect(report.ended.contains("asks nobody"))
  }
}
