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

  #if canImport(FoundationNetworking)
    @Test("hijack-lab: a plain session is caught by a lying resolver, routed requests survive every hijacker, and none of them leaks")
    func hijacks() async throws {
      let (code, output) = try await run("hijack-lab", "--runs", "20", "--without-times")
      #expect(code == 0, "\(output)")
      #expect(output.contains("plain URLSession     Welcome to the hotel"))
      #expect(output.components(separatedBy: "20 of 20 answered").count == 3)
      #expect(output.contains("leaks                0"))
    }
  #endif

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

  @Test("stress: hits, misses, validations, collapses and cancels through one archive, without a fault")
  func stressArchive() async throws {
    let (code, output) = try await run("stress", "--loads", "4000", "--only", "archive")
    #expect(code == 0, "\(output)")
    #expect(output.contains("wrong answers        0"))
  }

  @Test("offline-reader: a site is read after its server has gone, and in a later run")
  func offlineReader() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("offline-reader-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let (code, output) = try await run("offline-reader", folder)
    #expect(code == 0, "\(output)")
    #expect(output.contains("syncing 12/12") && output.contains("Offline: 12 articles."))
    let (again, later) = try await run("offline-reader", folder, "--read")
    #expect(again == 0 && later.contains("Offline: 12 articles.") && !later.contains("syncing"), "\(later)")
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
