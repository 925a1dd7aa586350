#if CommandLineTool
  import ArgumentParser
  import Foundation
  import WaylayCore
  import WaylayHAR
  import WaylayInspector
  import WaylayRemoteControl

  /// `waylay mcp`.
  struct MCPCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "mcp", abstract: "Show the traffic of a running app, or of a HAR file, to a coding agent.",
      usage: "waylay mcp [<file>] [options]",
      discussion: """
        Serves the Model Context Protocol (2025-06-18, 2025-11-25 and 2026-07-28) on standard input and output until the input ends. \
        An agent starts it. Without a file, it needs a debug build of the app that calls RemoteDoor.open and has the same \
        invitation: in WAYLAY_REMOTE of both, or from a file that is made for it: \
        WAYLAY_REMOTE=$(cat invitation) swift run App, or a variable of the scheme in Xcode.
        """)
    @Argument(help: "The archive; without one, the app that is invited.") var file: String?
    @Option(
      help: ArgumentHelp(
        "The file of the invitation, instead of WAYLAY_REMOTE; made, for its owner alone, if it is not there.",
        valueName: "file"))
    var invitation: String?
    @Flag(help: "Let the agent add stubs, and set the conditions of the network.") var allowChanges = false
    @OptionGroup var secrets: RedactionOptions

    func validate() throws {
      if file != nil, invitation != nil || allowChanges {
        throw ValidationError("A file is only read: --invitation and --allow-changes are for a running app.")
      }
    }

    func run() async throws {
      let source: any TrafficSource =
        if let file { try FileSource(file, secrets.redaction) } else { AppSource(try invited()) }
      let tools = MCPTool.all.filter { allowChanges || !$0.isChange }
      try await MCPServer(tools: MCPTools(source: source, redaction: secrets.redaction, all: tools)).run()
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
  }

  /// An app, by its door. It may end and start again between two calls.
  struct AppSource: TrafficSource {
    private let client: Locked<DoorClient>

    init(_ invitation: RemoteInvitation) { client = Locked(Self.client(invitation)) }

    private static func client(_ invitation: RemoteInvitation) -> DoorClient {
      DoorClient(invitation, launchTime: .seconds(2))
    }

    func call(_ name: String, _ members: [String: JSONValue]) async throws -> JSONValue {
      let known = client.withLock { $0 }
      do {
        return try await known.call(
          name,
          [
            "query": members["query"], "limit": members["limit"], "before": members["before"], "id": members["id"],
            "url": members["url"], "method": members["method"], "stubs": members["stubs"], "fault": members["fault"],
            "network": members["network"],
          ])
      } catch let error as WaylayError where error.code == .noRemoteDoor {
        // Its next door may be at another port.
        client.withLock { $0 = Self.client(known.invitation) }
        throw error
      }
    }
  }

  /// A HAR file, in memory and without credentials.
  struct FileSource: TrafficSource {
    private let inspector: Inspector

    init(_ file: String, _ redaction: Redaction) throws {
      inspector = Inspector(
        limits: Inspector.Limits(exchanges: 100_000, bytes: 512 << 20, bodyBytes: 1 << 20), redaction: redaction)
      try HARFile(file).forEach { _, entry in inspector.add(entry) }
    }

    func call(_ name: String, _ members: [String: JSONValue]) throws -> JSONValue {
      if name == "exchange" || name == "explain" {
        guard let exchange = members["id"]?.int.flatMap(inspector.exchange) else {
          throw ToolFailure(.usage, "id", "A HAR file has requests by the ids that search_requests returns.")
        }
        return name == "explain"
          ? ["explanation": JSONValue(exchange.text())] : ["exchange": try JSONValue(parsing: exchange.entry.data())]
      }
      let query = ExchangeQuery(members["query"]?.string ?? "")
      let limit = members["limit"]?.int ?? 100
      let mistakes = query.mistakes + ((1...1000).contains(limit) ? [] : ["limit: from 1 to 1000"])
      guard mistakes.isEmpty else { throw ToolFailure(.usage, "query", mistakes.joined(separator: "; ")) }
      var count = 0
      let found = inspector.exchanges { exchange in
        guard exchange.id < members["before"]?.int ?? .max, query.matches(exchange) else { return false }
        count += 1
        return count <= limit
      }
      let list =
        name == "exchanges"
        ? JSONValue(found.map(\.row)) : try JSONValue(parsing: HAR(entries: found.map(\.entry)).data(isPretty: false))
      return [name: list, "leftOut": JSONValue(count - found.count)]
    }
  }

  extension Inspector.Exchange {
    /// The exchange in a list.
    fileprivate var row: JSONValue {
      let members: JSONLiteral = [
        "id": id, "method": request.method, "url": request.url, "status": response?.status,
        "state": state.description, "source": source?.description, "type": response?.body.mediaType, "time": entry.time,
        "size": response.map { Int($0.body.size) }, "error": failure?.message,
      ]
      return members.jsonValue
    }
  }
#endif
