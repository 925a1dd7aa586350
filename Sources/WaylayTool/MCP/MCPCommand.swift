#if CommandLineTool
  import ArgumentParser
  import Foundation
  import WaylayCore
  import WaylayHAR
  import WaylayInspector
  import WaylayRemoteControl

  /// `waylay mcp`.
  ///
  /// Of a file, only the parts that ``OnlyKnown`` lists are shown, unless `--bodies` is given: it may be the traffic of
  /// anybody, and an agent sends it to the maker of its model. A running app shows bodies, redacted, as its Inspector
  /// does: it is a debug build on this machine, and its developer has opened the door, and given this agent the
  /// invitation.
  struct MCPCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "mcp", abstract: "Show the traffic of a running app, or of a HAR file, to a coding agent.",
      usage: "waylay mcp [<file>] [options]",
      discussion: """
        Serves the Model Context Protocol (2025-06-18, 2025-11-25 and 2026-07-28) on standard input and output until the input ends. \
        An agent starts it. Without a file, it needs a debug build of the app that calls RemoteDoor.open and has the same \
        invitation: in WAYLAY_REMOTE of both, or from a file that is made for it: \
        WAYLAY_REMOTE=$(cat invitation) swift run App, or a variable of the scheme in Xcode. Of a file, the agent sees what \
        har redact --only-known writes, and searches that.
        """)
    @Argument(help: "The archive; without one, the app that is invited.") var file: String?
    @Option(
      help: ArgumentHelp(
        "The file of the invitation, instead of WAYLAY_REMOTE. Created, readable by its owner only, if it is missing.",
        valueName: "file"))
    var invitation: String?
    @Flag(
      help: """
        Show the values and bodies of a file too, without credentials, as those of an app. Then compare also reads XML and CSV.
        """)
    var bodies = false
    @Flag(help: "Let the agent add stubs, and set the conditions of the network.") var allowChanges = false
    @OptionGroup var secrets: RedactionOptions

    func validate() throws {
      if file != nil, invitation != nil || allowChanges {
        throw ValidationError("A file is only read: --invitation and --allow-changes are for a running app.")
      }
      if file == nil, secrets.noRedaction || !secrets.show.isEmpty || !secrets.hide.isEmpty {
        throw ValidationError("An app redacts what it shows: --hide, --show and --no-redaction are for a file.")
      }
      if file != nil, !bodies, secrets.noRedaction || !secrets.show.isEmpty {
        throw ValidationError("Values of a file are shown with --bodies alone: add it to --show or --no-redaction.")
      }
    }

    func run() async throws {
      let file = try file.map { try MCPFile($0, secrets.redaction, onlyKnown: !bodies) }
      let call: MCPTools.Door = if let file { { try file.call($0, $1) } } else { Self.call(to: try invited()) }
      let tools = MCPTool.all.filter { allowChanges || !$0.isChange }
      try await MCPServer(tools: MCPTools(door: call, file: file, all: tools)).run()
    }

    private func invited() throws -> RemoteInvitation {
      guard let invitation else {
        guard let text = ProcessInfo.processInfo.environment[RemoteInvitation.variable] else {
          throw ToolFailure(
            .usage, "noInvitation", "Name a HAR file, or the invitation of an app: waylay mcp --invitation invitation.")
        }
        return try RemoteInvitation(parsing: text)
      }
      if !FileManager.default.fileExists(atPath: invitation) {
        let file = OutputFile(invitation, mayReplace: false)
        do {
          var writer = try file.writer(mode: 0o600)
          try writer.write(Data(RemoteInvitation().text.utf8))
          try writer.commit()
        } catch let error as SystemError where error.code != EEXIST { throw file.failure(error) }
      }
      return try RemoteInvitation(parsing: String(decoding: try InputFile.data(invitation), as: UTF8.self))
    }

    /// The door of an app, which may end and start again between two calls.
    private static func call(to invitation: RemoteInvitation) -> MCPTools.Door {
      let client = DoorClient(invitation, launchTime: .seconds(2))
      return { try await client.call($0, $1) }
    }
  }
#endif
