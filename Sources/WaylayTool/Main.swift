#if CommandLineTool
  import ArgumentParser
  import Foundation

  /// The entry point: parses, runs, and exits with a status.
  @main
  enum Main {
    static func main() async {
      // Ignore SIGPIPE: `write` fails with EPIPE instead, and open files are closed.
      signal(SIGPIPE, SIG_IGN)
      // A connection must not get the number of a closed standard stream: text for that stream would go to its peer.
      var descriptor: Int32
      repeat { descriptor = open("/dev/null", O_RDONLY) } while (0..<3).contains(descriptor)
      close(descriptor)
      do {
        var command = try WaylayCommand.parseAsRoot()
        if var command = command as? any AsyncParsableCommand {
          try await command.run()
        } else {
          try command.run()
        }
      } catch is Output.Closed {
        exit(ExitStatus.done.rawValue)
      } catch {
        end(with: error)
      }
    }

    private static func end(with error: any Error) -> Never {
      // The argument parser handles help, version, misuse, and the exit codes of commands.
      let isParsers = WaylayCommand.exitCode(for: error) != .failure || error is ExitCode || error is ValidationError
      guard !isParsers || error is ToolFailure else { WaylayCommand.exit(withError: error) }
      let failure = ToolFailure(error)
      if CommandLine.arguments.contains("--json") { try? Output.json(["error": failure]) }
      Output.complain(failure.message)
      exit(failure.status.rawValue)
    }
  }

  /// All commands.
  struct WaylayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "waylay",
      abstract: "Inspect HAR files and archives, and run programs over trusted addresses.",
      discussion: """
        Exit status: 0 done; 1 the command failed (a check found something, nothing matched); 2 the network gave no \
        response; 4 a file or an archive cannot be used; 64 misuse.

        Every command takes --json, and then prints one JSON object; an error is one more: {"error": {"code": …, "message": …}}.
        """,
      version: "0.1.0",
      subcommands: [
        HARCommand.self, ArchiveCommand.self, HostsCommand.self, TunnelCommand.self, WatchCommand.self, MCPCommand.self,
      ])
  }
#else
  import Foundation

  /// The program without its trait: prints how to build it.
  @main
  enum Main {
    static func main() {
      let text = "waylay is built with the trait CommandLineTool: swift run --traits CommandLineTool waylay"
      try? FileHandle.standardError.write(contentsOf: Data("\(text)\n".utf8))
      exit(64)
    }
  }
#endif
