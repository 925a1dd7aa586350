#if CommandLineTool
  import ArgumentParser
  import Foundation
  import WaylayRecording
  import WaylayHAR

  extension HARCommand {
    struct Diff: ParsableCommand {
      static let configuration = CommandConfiguration(
        abstract: "Report how the responses in a new recording differ in shape from those in an old one.",
        discussion: """
          Values do not matter: a member that is removed or has another type is an error, one that may now be null or \
          missing a warning, a new one a note. Both archives are redacted first. Status 1 if there are errors, with \
          --strict also for warnings and notes. With --json: {"drifts": [{"severity": "error", "request": "…", \
          "place": "$.id", "change": "…"}], "count": 1}.
          """)
      @Argument(help: "The old archive.") var old: String
      @Argument(help: "The new archive.") var new: String
      @Flag(help: "Exit with status 1 for warnings and notes too.") var strict = false
      @Option(
        help: ArgumentHelp(
          """
          Ignore this member and all in it: $.items[*].price. With .* at its end, the object is a map, and only the names \
          of its members are ignored: $.rates.*.
          """, valueName: "path"))
      var ignore: [String] = []
      @OptionGroup var common: CommonOptions
      @OptionGroup var secrets: RedactionOptions

      func run() throws {
        let drifts = Drift.between(
          try HARFile(old).recording(secrets.redaction), try HARFile(new).recording(secrets.redaction), ignoring: ignore
        )
        var json = common.json ? JSONList("drifts") : nil
        for drift in drifts {
          try json?.append([
            "severity": drift.severity.rawValue, "request": drift.request, "place": drift.place, "change": drift.change,
          ])
          if json == nil { try Output.line(drift.description) }
        }
        try json?.end(["count": drifts.count])
        if let worst = drifts.first?.severity, strict || worst == .error { throw ExitCode(ExitStatus.failed.rawValue) }
      }
    }
  }
#endif
