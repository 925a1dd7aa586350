#if CommandLineTool
  import ArgumentParser
  import Foundation
  import WaylayHAR

  /// Options of every command.
  struct CommonOptions: ParsableArguments {
    @Flag(help: "Print one JSON object, for programs.") var json = false
  }

  /// Options for writing a file instead of standard output.
  struct FileOptions: ParsableArguments {
    @Option(
      name: .shortAndLong,
      help: ArgumentHelp("Write to this file, atomically; - is standard output.", valueName: "file"))
    var output: String?
    @Flag(help: "Replace existing files.") var force = false

    /// The output file, if given.
    var file: OutputFile? { output.map { OutputFile($0, mayReplace: force) } }
  }

  /// Options for redacting traffic before it is printed or written.
  struct RedactionOptions: ParsableArguments {
    @Option(
      help: ArgumentHelp(
        "Hide the values of this name too: a header field, a query item, a JSON member.", valueName: "name"))
    var hide: [String] = []
    @Option(help: ArgumentHelp("Show the values of this name, though it sounds secret.", valueName: "name")) var show:
      [String] = []
    @Flag(help: "Redact nothing: credentials are printed and written unchanged.") var noRedaction = false

    func validate() throws {
      if noRedaction, !hide.isEmpty || !show.isEmpty {
        throw ValidationError("--no-redaction hides nothing: --hide and --show do not go with it.")
      }
    }

    var redaction: Redaction {
      guard !noRedaction else { return .none }
      var redaction = Redaction.standard
      for name in hide { redaction.hide(name) }
      for name in show { redaction.show(name) }
      return redaction
    }
  }

  /// Options that select entries of a file.
  struct EntryOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only this entry, counted from 1. May be given several times.", valueName: "number"))
    var entry: [Int] = []
    @Option(help: ArgumentHelp("Only entries whose URL contains this text.", valueName: "text")) var url: String?

    func validate() throws {
      if let wrong = entry.first(where: { $0 < 1 }) {
        throw ValidationError("--entry counts from 1: \(wrong) is not valid.")
      }
    }

    func picks(_ number: Int, _ entry: HAR.Entry) -> Bool {
      (self.entry.isEmpty || self.entry.contains(number)) && (url.map { entry.request.url.contains($0) } ?? true)
    }

    /// The failure for a selection without entries.
    func nothing(in file: String, of count: Int) -> ToolFailure {
      ToolFailure(
        .failed, "nothingMatched", "no entry of \(file) matches (of \(count)): check --entry and --url.")
    }
  }

  /// Reads a whole file.
  enum InputFile {
    static func data(_ path: String) throws -> Data {
      do { return try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
        throw ToolFailure(
          .files, "file.unreadable", "\(path) cannot be read: \((error as NSError).localizedDescription)")
      }
    }
  }
#endif
