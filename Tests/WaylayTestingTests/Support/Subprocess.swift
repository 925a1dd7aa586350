import Foundation
import Testing

/// This very bundle of tests, run once more in a process of its own.
enum Subprocess {
  /// The bundle, where it is a program, as on Linux. On Apple platforms another program loads it.
  static let bundle: URL? = {
    let path = URL(fileURLWithPath: CommandLine.arguments[0])
    return path.pathExtension == "xctest" ? path : nil
  }()

  /// Runs a program that was built beside the tests and returns how it ended and what it printed.
  static func run(
    _ program: URL, _ arguments: [String], environment: [String: String] = [:]
  ) async throws -> (code: Int32, output: String) {
    try await withTemporaryFile { output in
      try Data().write(to: output)
      let file = try FileHandle(forWritingTo: output)
      let process = Process()
      process.executableURL = program
      process.arguments = arguments
      process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
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

  /// Gives a path to a file that is removed afterwards.
  static func withTemporaryFile<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-testing-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    return try await body(file)
  }
}
