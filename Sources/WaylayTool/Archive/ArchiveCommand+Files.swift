#if CommandLineTool
  import ArgumentParser
  import Crypto
  import Foundation
  import WaylayArchive
  import WaylayCore

  /// What encrypts a file that an archive is exported to.
  struct ExportKeyOptions: ParsableArguments {
    @Option(
      help: ArgumentHelp(
        "What the exported file is encrypted with, in a file of its own, as --key-file. Or in WAYLAY_EXPORT_KEY.",
        valueName: "file"))
    var exportKeyFile: String?

    func key() throws -> SymmetricKey? { try KeyFile.key(exportKeyFile, variable: "WAYLAY_EXPORT_KEY") }
  }

  extension ArchiveCommand {
    struct Export: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        abstract: "Write entries to one file.",
        discussion: """
          The file has the key that the archive's digests are made under: it is as confidential as the archive. \
          With --json: {"entries": 3, "output": "…"}.
          """)
      @OptionGroup var archive: ArchiveOptions
      @Argument(help: "The file.") var file: String
      @Flag(help: "Replace a file that is there already.") var force = false
      @OptionGroup var filter: FilterOptions
      @OptionGroup var secret: ExportKeyOptions
      @OptionGroup var common: CommonOptions

      func run() async throws {
        let output = try OutputFile(file, mayReplace: force)
        let store = try archive.forReading()
        do {
          let count = try await store.export(filter.filter(), to: output.draft, encryptionKey: secret.key())
          try output.place()
          await store.close()
          if common.json {
            try Output.json(Report(entries: count, output: file))
          } else {
            try Output.line("\(count) entr\(count == 1 ? "y" : "ies") in \(file).")
          }
        } catch {
          output.discard()
          throw error
        }
      }

      private struct Report: Encodable {
        let entries: Int
        let output: String
      }
    }

    struct Import: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        abstract: "Add the entries of an exported file; makes the archive where there is none.",
        discussion: """
          Into an archive that is there already, responses that vary by request fields or belong to a user are added, but \
          not found again: \
          their digests are those of the other archive. Import into an empty directory where that matters. With --json: \
          {"added": 3}.
          """)
      @OptionGroup var archive: ArchiveOptions
      @Argument(help: "The file.") var file: String
      @OptionGroup var secret: ExportKeyOptions
      @OptionGroup var common: CommonOptions

      func run() async throws {
        let url = URL(fileURLWithPath: file)
        guard FileManager.default.isReadableFile(atPath: url.path) else {
          throw ToolFailure(.files, "file.unreadable", "\(file) cannot be read: check the path.")
        }
        let before: Int
        let store: any ArchiveStore
        if (try? FileManager.default.contentsOfDirectory(atPath: archive.directory))?.isEmpty ?? true {
          let key = try archive.key()
          var options = DiskStore.Options(limits: StoreLimits(bytes: .max, count: .max), logger: .toStandardError)
          if let key { options.encryptionKey = { key } }
          let directory = URL(fileURLWithPath: archive.directory, isDirectory: true)
          store = try await ArchiveCache.Storage.disk(at: directory, options: options).restored(
            from: url, encryptionKey: secret.key())
          before = store.usage.count
        } else {
          store = try await archive.forWriting(isMade: false)
          before = try await store.importEntries(from: url, encryptionKey: secret.key())
        }
        try await store.flush()
        await store.close()
        if common.json { try Output.json(["added": before]) } else { try Output.line("\(before) added.") }
      }
    }

    struct Verify: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        abstract: "Read every byte that is stored, and say what is not what was stored.",
        discussion: """
          Status 1 when something is damaged. Nothing is removed: the app does that when it comes upon it. With --json: \
          {"problems": \
          [{"id", "url", "message"}], "entries": 12, "bytes": 3456}.
          """)
      @OptionGroup var archive: ArchiveOptions
      @OptionGroup var common: CommonOptions

      func run() async throws {
        let store = try archive.forReading()
        let damaged = Locked<[Problem]>([])
        store.observe { event in
          guard event.kind == .damaged else { return }
          damaged.withLock { $0.append(Problem(id: event.id?.number, url: event.url, message: event.reason)) }
        }
        // Keys first, and their entries one after the other: bodies are not all held at once.
        let keys = Locked<(known: Set<ArchiveKey>, order: [ArchiveKey])>(([], []))
        let visited = Locked(0)
        try await store.visit(.all) { entry in
          visited.withLock { $0 += 1 }
          keys.withLock { if $0.known.insert(entry.key).inserted { $0.order.append(entry.key) } }
          return true
        }
        // What could not be read is left out of a visit, and stays: the warnings on standard error say why.
        let unread = store.usage.count - visited.withLock { $0 }
        if unread > 0 {
          let message =
            "\(unread) entr\(unread == 1 ? "y" : "ies") could not be read now: see the warnings, and try again"
          damaged.withLock { $0.append(Problem(id: nil, url: nil, message: message)) }
        }
        var (entries, bytes) = (0, Int64(0))
        for key in keys.withLock({ $0.order }) {
          for entry in try await store.entries(for: key) {
            entries += 1
            do {
              for try await chunk in try await entry.body() { bytes += Int64(chunk.count) }
              if ArchivedResponse(entry) == nil, !entry.isNote {
                damaged.withLock { $0.append(Problem(entry, "its head has another version and is not used")) }
              }
            } catch {
              damaged.withLock { $0.append(Problem(entry, ToolFailure(error).message)) }
            }
          }
        }
        await store.close()
        let problems = damaged.withLock { $0 }
        if common.json {
          try Output.json(Report(problems: problems, entries: entries, bytes: bytes))
        } else {
          for problem in problems {
            try Output.line("entry \(problem.id.map(String.init) ?? "?"): \(problem.message) \(problem.url ?? "")")
          }
          try Output.line(
            "\(entries) entr\(entries == 1 ? "y" : "ies"), \(bytes) bytes: "
              + "\(problems.isEmpty ? "all as stored" : "\(problems.count) damaged or unreadable")."
          )
        }
        if !problems.isEmpty { throw ExitCode(ExitStatus.failed.rawValue) }
      }

      private struct Problem: Encodable {
        let id: UInt64?
        let url: String?
        let message: String

        init(id: UInt64?, url: String?, message: String) {
          (self.id, self.url, self.message) = (id, url, message)
        }

        init(_ entry: StoredEntry, _ message: String) {
          self.init(id: entry.id.number, url: entry.details.url, message: message)
        }
      }

      private struct Report: Encodable {
        let problems: [Problem]
        let entries: Int
        let bytes: Int64
      }
    }
  }
#endif
