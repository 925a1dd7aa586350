#if CommandLineTool
  import ArgumentParser
  import Foundation
  import WaylayArchive
  import WaylayCore

  extension ArchiveCommand {
    struct Verify: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        abstract: "Read every stored byte, and report damage.",
        discussion: """
          Reads the index, its rows and their bodies, and looks for files without a row. Status 1 if anything is \
          damaged. Nothing is removed: the app removes a damaged entry when it finds it. With --json: {"problems": \
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
        // Collect keys first, then read entry by entry: bodies are not held in memory together.
        let keys = Locked<(known: Set<ArchiveKey>, order: [ArchiveKey])>(([], []))
        let visited = Locked(0)
        try await store.visit(.all) { entry in
          visited.withLock { $0 += 1 }
          keys.withLock { if $0.known.insert(entry.key).inserted { $0.order.append(entry.key) } }
          return true
        }
        // A visit skips unreadable entries and keeps them; warnings on standard error give the reasons.
        let unread = store.usage.count - visited.withLock { $0 }
        if unread > 0 {
          let message =
            "\(Output.entries(unread)) could not be read now: see the warnings, and try again"
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
        for finding in try await store.findings() {
          damaged.withLock { $0.append(Problem(id: nil, url: nil, message: finding)) }
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
            "\(Output.entries(entries)), \(bytes) bytes: "
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
