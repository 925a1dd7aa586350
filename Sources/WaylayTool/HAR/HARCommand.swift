import ArgumentParser
import Foundation
import WaylayHAR
import WaylayMocks

/// `waylay har`.
struct HARCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "har", abstract: "Look at HTTP archives (HAR 1.2), and make something of them.",
    discussion: "Files are read entry by entry, so that they may have any size.",
    subcommands: [Lint.self, Stats.self, Redact.self, ToStubs.self, ToCurl.self])
}

extension HARCommand {
  struct Lint: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Say what is wrong with an archive by the rules of the format.",
      discussion: """
        Status 1 when something is. With --json: {"problems": [{"entry": 1, "path": "timings.ssl", "message": "…"}], \
        "count": 1, \
        "entries": 12, "isCut": false}.
        """)
    @Argument(help: "The archive.") var file: String
    @Option(help: ArgumentHelp("Stop after so many problems.", valueName: "count")) var limit = 1000
    @OptionGroup var common: CommonOptions

    func run() throws {
      var list = try common.json ? JSONList("problems") : nil
      var count = 0
      let entries = try HAR.problems(inFile: URL(fileURLWithPath: file)) { problem in
        guard count < limit else {
          count += 1
          return false
        }
        count += 1
        if common.json {
          try list?.append(Row(entry: problem.entry, path: problem.path, message: problem.message))
        } else {
          try Output.line(problem.description)
        }
        return true
      }
      let isCut = count > limit
      let shown = min(count, limit)
      try list?.end(Summary(count: shown, entries: entries, isCut: isCut))
      if list == nil {
        let found =
          count == 0
          ? "nothing is wrong" : "\(shown)\(isCut ? " and more" : "") problem\(shown == 1 && !isCut ? "" : "s")"
        try Output.line("\(entries) entr\(entries == 1 ? "y" : "ies"): \(found).")
      }
      if count > 0 { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    private struct Row: Encodable {
      let entry: Int?
      let path: String
      let message: String
    }

    private struct Summary: Encodable {
      let count: Int
      let entries: Int
      let isCut: Bool
    }
  }

  struct Stats: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Count what an archive holds: hosts, statuses, types, bytes, the slowest.",
      discussion: """
        With --json: {"entries", "requestBytes", "responseBytes", "failed", "cutOff", "started", "ended", \
        "milliseconds", "hosts", \
        "statuses", "methods", "types", "slowest"}; the lists hold {"name", "count", "bytes"}, "slowest" {"entry", \
        "url", "status", \
        "milliseconds"}. URLs are shown without credentials.
        """)
    @Argument(help: "The archive.") var file: String
    @Option(help: ArgumentHelp("How many of the slowest are named.", valueName: "count")) var slowest = 5
    @OptionGroup var common: CommonOptions
    @OptionGroup var secrets: RedactionOptions

    func run() throws {
      var statistics = Statistics(most: max(0, min(slowest, 1000)), redaction: secrets.redaction)
      try HARFile(file).forEach { number, entry in statistics.add(entry, number) }
      let report = statistics.report
      if common.json { try Output.json(report) } else { try Output.line(report.text) }
    }
  }

  struct Redact: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Write a copy of an archive without credentials.",
      discussion: """
        What the archive says beside its entries goes too, but for who wrote it and the titles of its pages. \
        With --json: {"entries": 12, "output": "…"}.
        """)
    @Argument(help: "The archive.") var file: String
    @Option(name: .shortAndLong, help: ArgumentHelp("The copy.", valueName: "file")) var output: String
    @Flag(help: "Replace a file that is there already.") var force = false
    @OptionGroup var common: CommonOptions
    @OptionGroup var secrets: RedactionOptions

    func run() throws {
      let target = try OutputFile(output, mayReplace: force)
      let count = try HARFile(file).write(to: target, secrets.redaction)
      if common.json {
        try Output.json(Report(entries: count, output: output))
      } else {
        try Output.line("\(count) entr\(count == 1 ? "y" : "ies") in \(output).")
      }
    }

    private struct Report: Encodable {
      let entries: Int
      let output: String
    }
  }

  struct ToStubs: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "to-stubs", abstract: "Write Swift stubs for a test that answer as the archive's servers did.",
      discussion: """
        What was not answered is left out, and said on standard error. With --json: {"stubs": [{"entry": 1, "source": \
        "…"}], "count": 1, \
        "leftOut": 0}.
        """)
    @OptionGroup var rendering: Rendering

    func run() throws {
      let secrets = rendering.secrets
      let redaction = secrets.redaction
      try rendering.run(list: "stubs", name: "source") { entry in
        Stub.source(for: redaction.redacted(entry), showsSecrets: secrets.noRedaction)
      }
    }
  }

  struct ToCurl: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "to-curl", abstract: "Write a curl command for each request, safe to paste into bash or zsh.",
      discussion: """
        With --json: {"commands": [{"entry": 1, "command": "…"}], "count": 1, "leftOut": 0}.
        """)
    @OptionGroup var rendering: Rendering
    @Flag(help: "Each command on one line.") var oneLine = false

    func run() throws {
      let redaction = rendering.secrets.redaction
      try rendering.run(list: "commands", name: "command") { entry in
        redaction.redacted(entry).request.curlCommand(isMultiline: !oneLine)
      }
    }
  }
}
