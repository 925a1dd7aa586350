#if CommandLineTool
  import Foundation
  import TestSupport

  /// The program, in a process of its own, and a folder that it works in.
  struct Tool {
    /// How it ended, and what it said where.
    struct End {
      let code: Int32
      let output: String
      let errors: String

      /// The output as a JSON object.
      var json: [String: Any] { (try? JSONSerialization.jsonObject(with: Data(output.utf8))) as? [String: Any] ?? [:] }
    }

    let folder: URL

    /// Gives a tool with an empty folder, which is removed afterwards.
    static func with(_ body: (Tool) async throws -> Void) async throws {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-tool-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      try await body(Tool(folder: folder))
    }

    /// Runs a command; a word that begins with `/` and a dot, as `/./a.har`, is a file in the folder.
    func callAsFunction(_ arguments: String..., environment: [String: String] = [:]) async throws -> End {
      try await run(arguments, environment: environment)
    }

    /// Runs a script with the program's path in `$0`.
    func shell(_ script: String, _ arguments: String...) async throws -> End {
      try await run(["-c", script, Program("waylay").path] + arguments, by: Program(path: "/bin/bash"))
    }

    func run(
      _ arguments: [String], environment: [String: String] = [:], by program: Program = Program("waylay")
    ) async throws -> End {
      let errors = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-errors-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: errors) }
      let words = arguments.map { $0.replacingOccurrences(of: "/./", with: folder.path + "/") }
      let (code, output) = try await program.run(words, environment: environment, errors: errors, limit: .seconds(120))
      return End(code: code, output: output, errors: (try? String(contentsOf: errors, encoding: .utf8)) ?? "")
    }

    func file(_ name: String) -> URL { folder.appendingPathComponent(name) }

    func text(_ name: String) throws -> String { try String(contentsOf: file(name), encoding: .utf8) }

    func write(_ text: String, to name: String) throws { try Data(text.utf8).write(to: file(name)) }
  }
#endif
