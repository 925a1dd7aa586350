import Foundation
import Testing

/// Runs the programs of `Examples`, each in a process of its own: what they measure, descriptors and memory, belongs to a whole process.
@Suite("The example programs", .timeLimit(.minutes(3)))
struct ProgramTests {
  @Test("stress: loads of all kinds side by side, without a fault")
  func stress() async throws {
    let (code, output) = try await run("stress", "--loads", "4000")
    #expect(code == 0, "\(output)")
    #expect(output.contains("wrong answers        0"))
    #expect(output.hasSuffix("No faults.\n"))
  }

  @Test("stress fails when an answer is wrong or a load ends twice", arguments: ["planted: a wrong answer", "planted: a second end"])
  func planted(fault: String) async throws {
    let (code, output) = try await run("stress", "--loads", "100", "--only", fault)
    #expect(code == 1)
    #expect(output.contains("FAULT"))
  }

  @Test("stress says which kinds there are when it is asked for another one")
  func unknownKind() async throws {
    let (code, output) = try await run("stress", "--only", "unheard of")
    #expect(code != 0)
    #expect(output.contains("suspended and resumed"))
  }

  @Test("tour: every scene sees what it expects")
  func tour() async throws {
    let (code, output) = try await run("tour")
    #expect(code == 0, "\(output)")
    #expect(!output.contains("✗"))
  }

  @Test("archive-torture: what kill -9 leaves of an archive is whole")
  func torture() async throws {
    let (code, output) = try await run("archive-torture", "--kills", "20")
    #expect(code == 0, "\(output)")
    #expect(output.hasSuffix("No faults.\n"))
  }

  /// Runs a program that was built beside the tests, and returns how it ended and what it printed.
  private func run(_ name: String, _ arguments: String...) async throws -> (Int32, String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent(name)
    process.arguments = arguments
    let output = FileManager.default.temporaryDirectory.appendingPathComponent("\(name)-\(UUID().uuidString).txt")
    try Data().write(to: output)
    defer { try? FileManager.default.removeItem(at: output) }
    let file = try FileHandle(forWritingTo: output)
    process.standardOutput = file
    process.standardError = file
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in continuation.resume() }
      do {
        try process.run()
      } catch {
        process.terminationHandler = nil
        continuation.resume(throwing: error)
      }
    }
    try file.close()
    return (process.terminationStatus, try String(contentsOf: output, encoding: .utf8))
  }
}
