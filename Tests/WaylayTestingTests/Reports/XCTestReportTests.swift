import Foundation
import TestSupport
import Testing

@Suite(
  "A report at a scope's end, in XCTest",
  .enabled(if: Program.tests != nil, "the bundle of tests is a program on Linux alone"),
  .timeLimit(.minutes(2)))
struct XCTestReportTests {
  let lines: Markers

  init() throws {
    lines = try Markers(in: "XCTest/MockedCases.swift")
  }

  @Test("a miss fails the test method that made it, in a scope round the whole case")
  func surrounded() async throws {
    let (failures, output) = try await run("SurroundedCase")
    #expect(failures.map(\.test) == ["SurroundedCase.testWaits"], "\(output)")
    #expect(failures.map(\.line) == [lines["surrounded"]])
    #expect(failures.first?.message.contains("https://api.example.com/users/2") == true)
    #expect(output.contains("'SurroundedCase.testDoesNotWait' passed"))
  }

  @Test("unused stubs and misses fail their test method, with withMock and with a tear-down block")
  func partly() async throws {
    let (failures, output) = try await run("PartlyMockedCase")
    #expect(
      Set(failures.map(\.test)) == [
        "PartlyMockedCase.testUnused", "PartlyMockedCase.testTearDown", "PartlyMockedCase.testOutside",
      ],
      "\(output)")
    #expect(failures.count == 3)
    #expect(failures.first { $0.test == "PartlyMockedCase.testUnused" }?.line == lines["unused"])
    #expect(failures.first { $0.test == "PartlyMockedCase.testTearDown" }?.line == lines["tear-down"])
    #expect(output.contains("'PartlyMockedCase.testIsFine' passed"))
  }

  private struct Failure {
    var line: Int
    var test: String
    var message: String
  }

  /// Runs a case with its mistakes and reads the failures, which are printed as `file:line: error: Case.test : failed -
  /// message`.
  private func run(_ name: String) async throws -> (failures: [Failure], output: String) {
    let bundle = try #require(Program.tests)
    let (code, output) = try await bundle.run(["WaylayTestingTests.\(name)"], environment: [Fixtures.variable: "1"])
    #expect(code != 0)
    #expect(!output.contains("host application"), "\(output)")
    let failures = output.matches(of: #/\S+\.swift:(\d+): error: (\S+) : failed - (.*)/#).map { match in
      Failure(line: Int(match.1) ?? 0, test: String(match.2), message: String(match.3))
    }
    return (failures, output)
  }
}
