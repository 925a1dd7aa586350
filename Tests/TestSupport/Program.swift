#if canImport(Subprocess)
  public import Foundation
  import Subprocess

  #if canImport(System)
    import System
  #else
    import SystemPackage
  #endif

  /// A program that was built beside the tests, run in a process of its own.
  ///
  /// Not by Foundation's `Process`: with some 1 350 descriptors open, as when a thousand tests run, it reads beyond the end of its buffer (U18).
  public struct Program: Sendable {
    public let url: URL

    /// The program of that name.
    public init(_ name: String) {
      url = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent(name)
    }

    private init(_ url: URL) {
      self.url = url
    }

    /// This very bundle of tests, where it is a program, as on Linux. On Apple platforms another program loads it.
    public static let tests: Program? = {
      let path = URL(fileURLWithPath: CommandLine.arguments[0])
      return path.pathExtension == "xctest" ? Program(path) : nil
    }()

    /// Runs it to its end, and returns how it ended and what it printed.
    public func run(_ arguments: [String] = [], environment: [String: String] = [:]) async throws -> (code: Int32, output: String) {
      let environment = Environment.inherit.updating(
        Dictionary(uniqueKeysWithValues: environment.map { (Environment.Key(stringLiteral: $0), $1) }))
      let result = try await Subprocess.run(
        .path(FilePath(url.path)), arguments: Arguments(arguments), environment: environment, output: .string(limit: 16 << 20),
        error: .combinedWithOutput)
      let code: Int32 =
        switch result.terminationStatus {
        case .exited(let code): Int32(code)
        case .signaled(let signal): Int32(signal)
        }
      return (code, result.standardOutput)
    }

    /// Gives a path to a file that is removed afterwards.
    public static func withTemporaryFile<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-testing-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: file) }
      return try await body(file)
    }
  }
#endif
