#if CommandLineTool
  import ArgumentParser
  import Foundation
  import WaylayHAR
  import WaylayInspector
  import WaylayInspectorServer

  /// `waylay watch`.
  struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "watch", abstract: "Show an HTTP archive in a browser.",
      usage: "waylay watch <file> [options]",
      discussion: """
        The page shows the archive's exchanges, without credentials; nothing goes to the network. To see the requests \
        of an app while it runs, use an InspectorServer in it.

        It runs until SIGINT (Ctrl-C) or SIGTERM, and then exits with status 0. With --json: one object, \
        {"event": "ready", "page", "exchanges", "leftOut"}.
        """)
    @Argument(help: "The archive.") var file: String?
    @Option(help: ArgumentHelp("The port of the page; 0 for a free one.", valueName: "number")) var port: UInt16 =
      0
    @Option(help: ArgumentHelp("How many of the newest exchanges are kept.", valueName: "count")) var keep = 10_000
    @OptionGroup var secrets: RedactionOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
      guard file != nil else {
        throw ValidationError(
          "Name an HTTP archive: waylay watch traffic.har. Browsers and an Inspector write one. To see the requests of an "
            + "app while it runs, use an InspectorServer in it.")
      }
      guard keep > 0 else { throw ValidationError("--keep must be 1 or more exchanges.") }
    }

    func run() async throws {
      guard let file else { return }
      let inspector = Inspector(
        limits: Inspector.Limits(exchanges: keep, bytes: 512 << 20, bodyBytes: 4 << 20), redaction: secrets.redaction)
      try HARFile(file).forEach(secrets.redaction) { inspector.add($1) }
      let stop = StopSignal()
      var options = InspectorServer.Options()
      (options.port, options.logger) = (port, nil)
      let server = InspectorServer(inspector, options: options)
      let page = try await server.start()
      do { try say(page, shown: inspector.count, leftOut: inspector.dropped) } catch {
        await server.stop()
        throw error
      }
      await stop.wait()
      await server.stop()
    }

    private func say(_ page: URL, shown: Int, leftOut: Int) throws {
      guard !common.json else {
        let members: JSONLiteral = [
          "event": "ready", "page": page.absoluteString, "exchanges": shown, "leftOut": leftOut,
        ]
        return try Output.json(members.jsonValue)
      }
      try Output.line("The page: \(page.absoluteString)")
      let rest = leftOut > 0 ? "; \(leftOut) older ones are left out, see --keep" : ""
      try Output.line("\(shown) exchange\(shown == 1 ? "" : "s")\(rest). Ctrl-C ends it.")
    }
  }
#endif
