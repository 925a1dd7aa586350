#if CommandLineTool
  import ArgumentParser
  import Foundation
  import WaylayCore
  import WaylayHosts

  /// `waylay hosts`.
  struct HostsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "hosts", abstract: "Try out lists of hosts and their addresses.",
      discussion: """
        A list is JSON: {"rules": [{"host": "api.example.com", "addresses": ["203.0.113.7"]}]}.
        """,
      subcommands: [Explain.self])
  }

  extension HostsCommand {
    struct Explain: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        abstract: "Explain where a request to a URL would go. Only a resolver is contacted.",
        discussion: """
          Status 2 when a resolver was asked and gave no response. With --json: {"host", "rule", "summary", "candidates": \
          [{"address", \
          "source", "state", "isStale"}], "error"}.
          """)
      @Argument(help: "The URL.") var url: String
      @Option(help: ArgumentHelp("A list of hosts.", valueName: "file")) var list: String?
      @OptionGroup var ways: RouteOptions
      @OptionGroup var common: CommonOptions

      func run() async throws {
        let url = try Addresses.url(url)
        let rules = try list.map { try HostRules(json: InputFile.data($0)).rules } ?? []
        guard let rewriter = try ways.rewriter(for: url, rules) else {
          throw ToolFailure(
            .usage, "usage.rules", "name the addresses of hosts: --list FILE, --route HOST=ADDRESS or --doh URL.")
        }
        let explanation = await rewriter.explain(url)
        let error = explanation.error.map { ToolFailure($0) }
        if common.json {
          let candidates = explanation.rows.map { row in
            let members: JSONLiteral = [
              "address": row.candidate.description, "source": row.candidate.source, "state": row.state,
              "isStale": row.candidate.isStale,
            ]
            return members.jsonValue
          }
          let members: JSONLiteral = [
            "host": explanation.host, "rule": explanation.rule?.description, "summary": explanation.summary,
            "candidates": candidates, "error": error?.message,
          ]
          try Output.json(members.jsonValue)
        } else {
          try Output.line(explanation.description)
        }
        if let error { throw ExitCode(error.status.rawValue) }
      }
    }
  }
#endif
