#if CommandLineTool
  import ArgumentParser
  import Foundation
  import WaylayArchive
  import WaylayCore

  /// `waylay archive`.
  struct ArchiveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "archive", abstract: "Inspect and change an app's archive.",
      discussion:
        "ls, show, explain and verify only read. All of them work while the app runs.",
      subcommands: [List.self, Show.self, Explain.self, Remove.self, Verify.self])
  }

  extension ArchiveCommand {
    struct List: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "ls", abstract: "List the stored responses, oldest first.",
        discussion: """
          With --json: {"entries": [{"id", "url", "host", "status", "mediaType", "bytes", "storedBytes", "stored", \
          "hits", "tags", "isPinned", \
          "partition", "isFresh", "isWhole"}], "count", "bytes", "unreadable"}.
          """)
      @OptionGroup var archive: ArchiveOptions
      @OptionGroup var filter: FilterOptions
      @OptionGroup var common: CommonOptions

      func run() async throws {
        let store = try archive.forReading()
        let damaged = Locked(0)
        store.observe { event in if event.kind == .damaged { damaged.withLock { $0 += 1 } } }
        let now = Date()
        let totals = Locked((count: 0, bytes: Int64(0)))
        let list = Locked(common.json ? JSONList("entries") : nil)
        try await store.visit(filter.filter()) { entry in
          guard !entry.isNote else { return true }
          totals.withLock { $0 = ($0.count + 1, $0.bytes.addingReportingOverflow(entry.storedBytes).partialValue) }
          let row = EntryRow(entry, now)
          if common.json { try list.withLock { try $0?.append(row) } } else { try Output.line(row.text) }
          return true
        }
        let (count, bytes) = totals.withLock { $0 }
        if let list = list.withLock({ $0 }) {
          try list.end(["count": Int64(count), "bytes": bytes, "unreadable": Int64(damaged.withLock { $0 })])
        } else {
          let unreadable = damaged.withLock { $0 }
          try Output.line(
            "\(Output.entries(count)), \(bytes) bytes"
              + (unreadable == 0 ? "." : "; \(unreadable) could not be read: see waylay archive verify."))
        }
        await store.close()
      }
    }

    struct Show: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        abstract: "Show the stored responses for a URL: header fields, freshness, and with --body one body.",
        discussion: """
          With --json: {"entries": [as in ls, with "fields": [{"name", "value"}] and "metadata": [{"name", \
          "value"}]]}. \
          Status 1 when nothing is stored.
          """)
      @OptionGroup var archive: ArchiveOptions
      @Argument(help: "The URL, or the number of an entry as ls shows it.") var what: String
      @Flag(help: "Print the body of the newest entry, and nothing else.") var body = false
      @OptionGroup var target: FileOptions
      @OptionGroup var common: CommonOptions

      func run() async throws {
        let output = target.file
        let store = try archive.forReading()
        let entries = try await store.list(
          UInt64(what).map { number in .entries { $0.id.number == number } } ?? .url(Addresses.url(what))
        ).filter { !$0.isNote }
        guard let newest = entries.last else {
          throw ToolFailure(
            .failed, "nothingStored", "nothing is stored for \(what) in \(archive.directory): see waylay archive ls.")
        }
        if body || output != nil {
          try await BodyPrinter.print(newest.body(), to: output)
        } else if common.json {
          try Output.json(["entries": entries.map { EntryRow($0, Date(), isWhole: true) }])
        } else {
          try Output.line(entries.map { EntryRow($0, Date(), isWhole: true).details }.joined(separator: "\n\n"))
        }
        await store.close()
      }
    }

    struct Explain: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        abstract: "Explain what the archive would do with a request now.",
        discussion: """
          An app with its own key rules, lifetimes or partitions may decide otherwise: the tool does not know its \
          configuration. With --json: {"rows": [{"name", "text"}], "stored": ["…"]}; \
          "decision" and "reason" are among the names.
          """)
      @OptionGroup var archive: ArchiveOptions
      @Argument(help: "The URL.") var url: String
      @Option(
        name: [.customShort("H"), .long], help: ArgumentHelp("A header field of the request.", valueName: "name: value")
      )
      var header: [String] = []
      @Option(help: "online, preferArchive or offline.") var mode: Mode = .online
      @Option(help: ArgumentHelp("The partition that the request belongs to.", valueName: "name")) var partition:
        String?
      @OptionGroup var common: CommonOptions

      enum Mode: String, ExpressibleByArgument, CaseIterable {
        case online, preferArchive, offline
      }

      func run() async throws {
        var request = URLRequest(url: try Addresses.url(url))
        for (name, value) in try Addresses.fields(header) { request.addValue(value, forHTTPHeaderField: name) }
        let store = try archive.forReading()
        let cache = ArchiveCache(store: store) { configuration in
          if let partition { configuration.partition = { _ in partition } }
        }
        cache.mode = ArchiveMode(rawValue: mode.rawValue) ?? .online
        let explanation = await cache.explain(request)
        if common.json {
          let members: JSONLiteral = [
            "rows": explanation.rows.map { ["name": $0.name, "text": $0.text] }, "stored": explanation.variants,
          ]
          try Output.json(members.jsonValue)
        } else {
          try Output.line(explanation.description)
        }
        await cache.close()
      }
    }

    struct Remove: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "rm", abstract: "Remove entries.",
        discussion: """
          An app that has the archive open no longer finds them. Status 1 when there was nothing to remove. With \
          --json: {"removed": 3}.
          """)
      @OptionGroup var archive: ArchiveOptions
      @Argument(help: "Entries of this URL.") var target: String?
      @OptionGroup var filter: FilterOptions
      @Flag(help: "Remove every entry.") var all = false
      @OptionGroup var common: CommonOptions

      func validate() throws {
        if (filter.isEmpty && target == nil) != all {
          throw ValidationError(
            all ? "--all excludes a selection: leave one out." : "Select entries, or pass --all.")
        }
      }

      func run() async throws {
        let selection = try target.map { try filter.filter().and(.url(Addresses.url($0))) } ?? filter.filter()
        let store = try await archive.forWriting()
        let count = try await store.removeAll(selection)
        try await store.flush()
        await store.close()
        if common.json { try Output.json(["removed": count]) } else { try Output.line("\(count) removed.") }
        if count == 0 { throw ExitCode(ExitStatus.failed.rawValue) }
      }
    }
  }
#endif
