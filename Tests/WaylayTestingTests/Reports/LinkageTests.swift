import Foundation
import TestSupport
import Testing

@Suite("What an app links that has a mock in it", .timeLimit(.minutes(10)))
struct LinkageTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  private static let testLibraries = ["XCTest", "Testing", "IssueReportingTestSupport", "WaylayTesting"]

  /// The dynamic linker is asked to write down every file it opens while the program runs: at its start and by
  /// `dlopen`.
  @Test(
    "a program with a mock loads neither XCTest nor Testing", .heavy,
    .enabled(if: Platform.isLinux && Program.tests != nil, "LD_DEBUG is the linker's of Linux"),
    arguments: ["tour", "stress"])
  func loaded(program: String) async throws {
    let arguments = program == "stress" ? ["--loads", "100"] : []
    let libraries = try await Self.libraries(loadedBy: Program(program), arguments)
    #expect(libraries.contains { $0.hasPrefix("libFoundation") })
    #expect(libraries.filter { library in Self.testLibraries.contains { library.contains($0) } } == [])
  }

  @Test(
    "the bundle of tests, looked at in the same way, does load them",
    .enabled(if: Platform.isLinux && Program.tests != nil, "LD_DEBUG is the linker's of Linux"))
  func control() async throws {
    let bundle = try #require(Program.tests)
    let libraries = try await Self.libraries(
      loadedBy: bundle, ["--testing-library", "swift-testing", "--filter", "^none$"])
    for name in ["libXCTest.so", "libTesting.so", "libIssueReportingTestSupport.so"] {
      #expect(libraries.contains(name))
    }
  }

  @Test("no library for apps imports a test library")
  func imports() throws {
    let sources = Self.root.appendingPathComponent("Sources")
    let modules = try FileManager.default.contentsOfDirectory(atPath: sources.path).filter { $0 != "WaylayTesting" }
    #expect(modules.contains("WaylayMocks"))
    let pattern =
      #/^\s*(@\S+\s+|public\s+|package\s+|internal\s+)*import\s+(XCTest|Testing|WaylayTesting|IssueReportingTestSupport)\b/#
      .anchorsMatchLineEndings()
    for module in modules {
      let files = FileManager.default.enumerator(
        at: sources.appendingPathComponent(module), includingPropertiesForKeys: nil)
      for case let file as URL in files ?? .init() where file.pathExtension == "swift" {
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.firstMatch(of: pattern) == nil, "\(module)/\(file.lastPathComponent)")
      }
    }
  }

  /// The names of the libraries that a program loads while it runs.
  private static func libraries(loadedBy program: Program, _ arguments: [String]) async throws -> Set<String> {
    try await Program.withTemporaryFile { folder in
      // A folder of its own: what other tests leave and remove meanwhile is not looked at.
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
      let (_, output) = try await program.run(
        arguments, environment: ["LD_DEBUG": "files", "LD_DEBUG_OUTPUT": folder.appendingPathComponent("log").path])
      // The linker appends the number of each process.
      let logs = try FileManager.default.contentsOfDirectory(atPath: folder.path).map(folder.appendingPathComponent)
      try #require(!logs.isEmpty, "\(output)")
      let text = try logs.map { try String(contentsOf: $0, encoding: .utf8) }.joined()
      return Set(text.matches(of: #/calling init: \S*?([^\/\s]+)\n/#).map { String($0.1) })
    }
  }
}
