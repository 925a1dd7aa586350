import Foundation
import TestSupport
import Testing

/// What a scope reports, and in which test: read from the report of a process that runs tests which fail on purpose.
@Suite(
  "A report at a scope's end", .enabled(if: Program.tests != nil, "the bundle of tests is a program on Linux alone"),
  .heavy, .timeLimit(.minutes(10)))
struct ReportTests {
  let lines: Markers

  init() throws {
    lines = try Markers(in: "Fixtures/FailingTests.swift")
  }

  @Test("a miss that the code swallowed fails the test that made it, and no other")
  func swallowedMisses() async throws {
    let report = try await TestReport.running("FailingTests/Swallowed")
    #expect(
      report.failed == [
        "swallowed miss", "a miss in one case of fifty", "a miss in a child task", "a miss in an unstructured task",
        "used up",
      ])
    #expect(report.ended.contains("its neighbour"))
    #expect(report.exitCode != 0)
    let miss = try #require(report.issues(of: "swallowed miss").first)
    #expect(report.issues(of: "swallowed miss").count == 1)
    #expect(miss.line == lines["swallowed miss"])
    #expect(miss.file == "WaylayTestingTests/FailingTests.swift")
    #expect(miss.message.contains("https://api.example.com/users/2"))
    #expect(report.issues(of: "a miss in one case of fifty").count == 1)
    #expect(report.issues(of: "a miss in one case of fifty").allSatisfy { $0.message.contains("/users/33") })
    #expect(report.issues(of: "used up").map(\.line) == [lines["used up"]])
    #expect(report.issues.count == 5)
  }

  @Test("a required stub that no request used fails its test at the stub's line")
  func unusedStubs() async throws {
    let report = try await TestReport.running("FailingTests/Unused")
    #expect(
      report.failed == [
        "unused stub", "unused stub of withMock", "miss in withMock", "unused stub of a test that throws",
      ])
    for test in ["unused stub", "unused stub of withMock", "miss in withMock"] {
      #expect(report.issues(of: test).map(\.line) == [lines[test]], "\(test)")
    }
    #expect(report.ended.contains("optional stub"))
    let thrown = report.issues(of: "unused stub of a test that throws")
    #expect(thrown.count == 1)
    #expect(thrown.first?.message.contains("Caught error") == true)
  }

  @Test("a miss that nobody caught is printed once")
  func uncaughtMisses() async throws {
    let report = try await TestReport.running("FailingTests/Uncaught")
    #expect(report.failed == ["uncaught miss", "uncaught miss in withMock", "miss that is caught outside of withMock"])
    for test in ["uncaught miss", "uncaught miss in withMock", "miss that is caught outside of withMock"] {
      let text = report.issues(of: test).map(\.message).joined(separator: "\n")
      #expect(text.components(separatedBy: "Suggested stub:").count == 2, "\(text)")
    }
  }

  @Test("a suite's stub fails the tests that must use it, and is a warning when nobody does")
  func stubsOfSuites() async throws {
    let report = try await TestReport.running("FailingTests/OfSuite")
    #expect(report.failed == ["misses the required one", "asks for another"])
    #expect(report.issues(of: "misses the required one").map(\.line) == [lines["required by the suite"]])
    #expect(report.issues(of: "asks for another").map(\.line) == [lines["asks for another"]])
    let warnings = report.issues.filter { !$0.isFailure }
    #expect(warnings.map(\.test) == ["A suite's stubs"])
    #expect(warnings.map(\.line) == [lines["used by no test"]])
  }

  @Test("the line of a stub is told even in an attribute, where the compiler gives only that of the declaration")
  func places() async throws {
    let report = try await TestReport.running("FailingTests/Places")
    #expect(report.issues(of: "on one line").map(\.line) == [lines["on one line"]])
    #expect(report.issues(of: "without braces").map(\.line) == [lines["without braces"]])
    let loop = Set(report.issues(of: "with constants and a loop").map(\.line))
    #expect(loop == [lines["with constants and a loop"], lines["the loop"]])
    let elsewhere = Set(report.issues(of: "in a trait made elsewhere").map(\.line))
    #expect(
      elsewhere == [lines["elsewhere, first"], lines["elsewhere, second"], lines["a miss in a trait made elsewhere"]])
  }

  @Test("where no scope is current, or it is over, the use of it is reported")
  func outside() async throws {
    let report = try await TestReport.running("FailingTests/Outside")
    #expect(report.issues(of: "outside of a scope").map(\.line) == [lines["outside of a scope"]])
    #expect(report.issues(of: "after the end").map(\.line) == [lines["after the end"]])
    #expect(report.issues(of: "after the end").first?.message.contains("after the end of its scope") == true)
    // One mock is open: the code outside every scope is its test's.
    #expect(report.issues(of: "a detached task").map(\.line) == [lines["a detached task"]])
    #expect(report.issues(of: "a detached task").first?.message.contains("detached") == true)
    #expect(report.issues(of: nil).isEmpty)
    #expect(report.exitCode != 0)
  }
}
