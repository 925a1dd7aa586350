#if CommandLineTool
  import Foundation
  import TestSupport
  import Testing

  /// What all commands have in common.
  @Suite("waylay", .heavy, .timeLimit(.minutes(10)))
  struct CommandTests {
    @Test("misuse ends with 64 and says how it is used; help and the version end with 0")
    func misuse() async throws {
      try await Tool.with { waylay in
        for words in [
          ["har"], ["har", "to-curl"], ["har", "redact", "a"], ["nonsense"], ["har", "to-curl", "a", "--entry", "0"],
        ] {
          let end = try await waylay.run(words)
          if words == ["har"] { continue }
          #expect(end.code == 64 && end.errors.contains("sage: waylay"), "\(words): \(end)")
        }
        #expect(try await waylay("--help").output.contains("Exit status: 0 done"))
        #expect(try await waylay("--version").code == 0)
      }
    }

    @Test("a reader that has had enough ends the program quietly")
    func closed() async throws {
      try await Tool.with { waylay in
        try waylay.write(
          "{\"log\":{\"version\":\"1.2\",\"creator\":{\"name\":\"a\",\"version\":\"1\"},\"entries\":["
            + Array(repeating: #"{"request":{"method":"GET","url":"http://a.test/"}}"#, count: 3000).joined(
              separator: ",") + "]}}",
          to: "many.har")
        let script = "\"$0\" har to-curl \"$1\" | head -n 1; echo ${PIPESTATUS[0]}"
        let end = try await waylay.shell(script, "/./many.har")
        let lines = end.output.split(separator: "\n")
        #expect(lines.count == 2 && lines.last == "0" && end.errors.isEmpty, "\(end)")
      }
    }

    @Test("a message has nothing that a terminal would act on, and JSON has it as JSON can write any character")
    func escapes() async throws {
      try await Tool.with { waylay in
        let name = "a\u{1B}[2J\u{9B}31m\u{202E}b"
        let end = try await waylay("har", "diff", "/./\(name)", "/./none", "--json")
        let error = end.json["error"] as? [String: Any]
        #expect((error?["message"] as? String)?.contains(name) == true, "\(end)")
        #expect(end.output.contains(#"a\u001b[2J\u009b31m\u202eb"#), "\(end)")
        #expect(end.errors.contains("a\u{FFFD}[2J\u{FFFD}31m\u{FFFD}b"), "\(end)")
      }
    }

    @Test("leaves no part of a file when it is ended while it writes one", arguments: ["INT", "TERM"])
    func interrupted(signal: String) async throws {
      try await Tool.with { waylay in
        // A pipe that nothing is written to: the file stays half-way.
        let script = """
          mkfifo "$1/pipe"; mkdir "$1/out"
          "$0" har to-curl "$1/pipe" -o "$1/out/a" & pid=$!
          exec 7>"$1/pipe"
          printf '{"log":{"entries":[{"request":{"method":"GET","url":"http://a.test/"}},' >&7
          for _ in $(seq 600); do [ "$(ls -A "$1/out")" ] && break; sleep 0.05; done
          ls -A "$1/out" | wc -l
          kill -\(signal) $pid; wait $pid; echo "ended $?"; ls -A "$1/out"
          """
        let end = try await waylay.shell(script, waylay.folder.path)
        #expect(end.output == "1\nended \(signal == "INT" ? 130 : 143)\n", "\(end)")
      }
    }

    @Test("completion for shells is made of the commands", arguments: ["bash", "zsh", "fish"])
    func completion(shell: String) async throws {
      try await Tool.with { waylay in
        let end = try await waylay("--generate-completion-script", shell)
        #expect(end.code == 0 && end.output.contains("to-stubs"))
      }
    }
  }

  /// The pages that describe the commands, against the commands.
  @Suite("The pages of waylay", .heavy, .timeLimit(.minutes(10)))
  struct ManualTests {
    private struct Dump: Decodable {
      let command: Command
    }

    private struct Command: Decodable {
      struct Argument: Decodable {
        struct Name: Decodable {
          let kind: String
          let name: String
        }

        let names: [Name]?
        let valueName: String?
        let shouldDisplay: Bool
      }

      let commandName: String
      let superCommands: [String]?
      let subcommands: [Command]?
      let arguments: [Argument]?

      /// This one and all below it.
      var all: [Command] { [self] + (subcommands ?? []).filter { $0.commandName != "help" }.flatMap(\.all) }
      var path: String { ((superCommands ?? []) + [commandName]).joined(separator: " ") }
    }

    @Test("the manual has every command with every option, and the guide every command")
    func complete() async throws {
      let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      let manual = try String(
        contentsOf: root.appendingPathComponent("Sources/WaylayTool/Manual/waylay.1"), encoding: .utf8
      )
      .replacing("\\-", with: "-")
      let guide = try String(
        contentsOf: root.appendingPathComponent("Documentation.docc/CommandLine.md"), encoding: .utf8)
      try await Tool.with { waylay in
        let dump = try await waylay("--experimental-dump-help")
        let commands = try JSONDecoder().decode(Dump.self, from: Data(dump.output.utf8)).command.all
        // The root, three groups, tunnel, watch and mcp, and what is in har, archive and hosts.
        #expect(commands.count == 17)
        for command in commands {
          let name = command.commandName
          #expect(manual.contains(name), "\(command.path) is not in the manual: Scripts/manual.sh writes it anew")
          if command.subcommands?.filter({ $0.commandName != "help" }).isEmpty ?? true, command.path != "waylay" {
            #expect(
              guide.contains(command.path) || guide.contains("`\(name) DIR"), "\(command.path) is not in the guide")
          }
          for argument in command.arguments ?? [] where argument.shouldDisplay {
            for option in argument.names ?? [] where option.kind == "long" {
              #expect(
                manual.contains("-" + option.name),
                "--\(option.name) of \(command.path) is not in the manual: Scripts/manual.sh writes it anew")
            }
          }
        }
      }
    }
  }
#endif
