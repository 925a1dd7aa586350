#if CommandLineTool
  import ArgumentParser
  import Foundation
  import WaylayRecording
  import WaylayHAR
  import WaylayMocks

  /// `waylay har`.
  struct HARCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "har",
      abstract: "Redact and compare HTTP archives (HAR 1.2), and convert them to stubs or curl commands.",
      discussion: "Files are read entry by entry, so that they may have any size.",
      subcommands: [Redact.self, ToStubs.self, ToCurl.self, Diff.self])
  }

  extension HARCommand {
    struct Redact: ParsableCommand {
      static let configuration = CommandConfiguration(
        abstract: "Write a copy of an archive without credentials.",
        discussion: """
          Everything outside the entries is removed, except the creator and the page titles. A secret \
          in one entry is removed from all. Bodies in formats that are not read (scripts, GraphQL texts, CSV, YAML, property \
          lists, binary formats) are listed. With --json: {"entries": 12, "output": "…", "redacted": 38, "rules": {"…token": 38}, \
          "unread": ["GET https://…: YAML, kept"]}.

          With --only-known, the copy has nothing but this: \
          \(OnlyKnown.table.map(\.shows).joined(separator: "; ")). \(OnlyKnown.names) With --json: \
          {"entries": 12, "output": "…", "shown": ["…"]}.
          """)
      @Argument(help: "The archive.") var file: String
      @Option(name: .shortAndLong, help: ArgumentHelp("The copy.", valueName: "file")) var output: String
      @Flag(help: "Replace an existing file.") var force = false
      @Option(
        help: ArgumentHelp(
          "What becomes of a body that is not read: keep; remove it; or fail, write nothing, and exit with status 1.",
          valueName: "keep|remove|fail"),
        transform: { text in
          guard let unread = Redaction.Unread(rawValue: text) else {
            throw ValidationError("--unread is keep, remove or fail: \(text) is not valid.")
          }
          return unread
        })
      var unread: Redaction.Unread?
      @Flag(help: "Write only what is known: names, types, statuses, sizes and times; no values and bodies.")
      var onlyKnown = false
      @OptionGroup var common: CommonOptions
      @OptionGroup var secrets: RedactionOptions

      func validate() throws {
        if onlyKnown, secrets.noRedaction || !secrets.show.isEmpty || unread != nil {
          throw ValidationError("--only-known shows no values: --no-redaction, --show and --unread do not go with it.")
        }
        if secrets.noRedaction, unread != nil {
          throw ValidationError("--no-redaction reads no body: --unread does not go with it.")
        }
      }

      func run() throws {
        let target = OutputFile(output, mayReplace: force)
        var redaction = secrets.redaction
        redaction.unread = unread ?? .keep
        let (count, report) = try HARFile(file).write(to: target, redaction, onlyKnown: onlyKnown)
        guard !target.isStandardOutput else {
          if !onlyKnown, !report.unread.isEmpty {
            Output.complain("not read: \(report.unread.joined(separator: "; "))")
          }
          return
        }
        if onlyKnown {
          let shown = OnlyKnown.table.map(\.shows)
          let members: JSONLiteral = ["entries": count, "output": output, "shown": shown]
          if common.json { return try Output.json(members.jsonValue) }
          try Output.line("\(Output.entries(count)) in \(output). They show, and nothing else:")
          for line in shown { try Output.line("  \(line)") }
          try Output.line(OnlyKnown.names)
        } else if common.json {
          let members: JSONLiteral = [
            "entries": count, "output": output, "redacted": report.places,
            "rules": JSONValue(report.counts.mapValues { JSONValue($0) }), "unread": report.unread,
          ]
          try Output.json(members.jsonValue)
        } else {
          try Output.line("\(Output.entries(count)) in \(output).")
          for line in report.description.split(separator: "\n") { try Output.line(String(line)) }
        }
      }
    }

    struct ToStubs: ParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "to-stubs", abstract: "Write Swift stubs for a test that give the archive's responses.",
        discussion: """
          Requests without a response are left out, and counted on standard error. With --json: {"stubs": \
          [{"entry": 1, "source": "…", "stub": {"url": "…"}}], "count": 1, "leftOut": 0}, stubs as for a remote door.
          """)
      @OptionGroup var rendering: Rendering

      func run() throws {
        let showsSecrets = rendering.secrets.noRedaction
        try rendering.run(list: "stubs", name: "source") { entry in
          Stub.json(for: entry, showsSecrets: showsSecrets).map { ["stub": $0] } ?? [:]
        } render: {
          Stub.source(for: $0, showsSecrets: showsSecrets)
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
        try rendering.run(list: "commands", name: "command") { $0.request.curlCommand(isMultiline: !oneLine) }
      }
    }
  }

  /// Renders each selected entry as text, to standard output or a file.
  struct Rendering: ParsableArguments {
    @Argument(help: "The archive.") var file: String
    @OptionGroup var common: CommonOptions
    @OptionGroup var target: FileOptions
    @OptionGroup var entries: EntryOptions
    @OptionGroup var secrets: RedactionOptions

    /// - Parameters:
    ///   - list: The name of the JSON array.
    ///   - name: The name of the text in its elements.
    ///   - more: Returns further members of an element.
    ///   - render: Returns the text of a redacted entry; `nil` if the entry has none.
    func run(
      list: String, name: String, with more: (HAR.Entry) -> [String: JSONValue] = { _ in [:] },
      render: (HAR.Entry) -> String?
    ) throws {
      let output = target.file
      var writer = try output?.writer()
      do {
        let (count, all, leftOut) = try write(list, name, to: &writer, more, render)
        guard count + leftOut > 0 || all == 0 else { throw entries.nothing(in: file, of: all) }
        if leftOut > 0 { Output.complain("entries without a response are left out: \(leftOut) of \(all).") }
        try writer.take()?.commit()
      } catch let error as SystemError {
        throw output?.failure(error) ?? error
      }
    }

    private func write(
      _ list: String, _ name: String, to writer: inout AtomicFile.Writer?,
      _ more: (HAR.Entry) -> [String: JSONValue], _ render: (HAR.Entry) -> String?
    ) throws -> (count: Int, all: Int, leftOut: Int) {
      func put(_ text: String) throws {
        if writer != nil { try writer?.write(Data(text.utf8)) } else if !common.json { try Output.text(text) }
      }
      var json = common.json ? JSONList(list) : nil
      var (count, leftOut, report) = (0, 0, RedactionReport())
      let file = try HARFile(file)
      let known = try file.secrets(secrets.redaction)
      let all = try file.forEach { number, entry in
        guard entries.picks(number, entry) else { return }
        let entry = secrets.redaction.redacted(entry, report: &report) { _ in known }
        guard let text = render(entry) else {
          leftOut += 1
          return
        }
        try put((count == 0 ? "" : "\n") + text + "\n")
        count += 1
        try json?.append(more(entry).merging([name: JSONValue(text), "entry": JSONValue(number)]) { $1 })
      }
      try json?.end(["count": count, "leftOut": leftOut])
      return (count, all, leftOut)
    }
  }

  extension Redaction {
    /// The parts of a HAR file outside its entries, without secrets.
    func outline(of archive: HAR, knowing known: KnownSecrets) -> HAR {
      guard hides("authorization") else { return archive }
      func only(_ names: Set<String>, of json: JSONValue) -> JSONValue {
        JSONValue((json.object ?? [:]).filter { names.contains($0.key) })
      }
      var copy = HAR()
      copy.creator = only(["name", "version"], of: archive.creator)
      copy.browser = archive.browser.map { only(["name", "version"], of: $0) }
      copy.pages = archive.pages.map { only(["id", "title", "startedDateTime", "pageTimings"], of: $0) }
      return outlined(copy, knowing: known)
    }
  }
#endif
