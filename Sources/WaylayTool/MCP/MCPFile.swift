#if CommandLineTool
  import Foundation
  import WaylayHAR
  import WaylayInspector
  import WaylayRecording

  /// A HAR file as the source of an agent's tools: in memory, without credentials, and reduced by ``OnlyKnown``
  /// unless bodies are shown.
  struct MCPFile: Sendable {
    private let file: HARFile
    private let redaction: Redaction
    private let onlyKnown: Bool
    private let inspector: Inspector

    init(_ path: String, _ redaction: Redaction, onlyKnown: Bool) throws {
      (file, self.redaction, self.onlyKnown) = (try HARFile(path), redaction, onlyKnown)
      // Redacted here: a secret of any entry goes from all of them.
      inspector = Inspector(
        limits: Inspector.Limits(exchanges: 100_000, bytes: 512 << 20, bodyBytes: 1 << 20), redaction: .none)
      try file.forEach(redaction) { [inspector] in inspector.add(onlyKnown ? OnlyKnown.entry($1) : $1) }
    }

    /// Responds to a call.
    func call(_ call: String, _ members: [String: JSONValue]) throws -> JSONValue {
      var members = try JSONMembers(members.jsonValue, refusing: "badMessage")
      return try JSONValue(reading: (inspector.perform(call, &members) ?? "{}").utf8)
    }

    /// How the responses of some exchanges differ from those in an older file. Requests are paired before they are
    /// reduced; differences are said in the reduced form.
    func drifts(since old: String, _ ids: Set<Int>) throws -> [Drift] {
      do {
        return Drift.between(
          try HARFile(old).recording(redaction, onlyKnown: onlyKnown),
          try file.recording(redaction, onlyKnown: onlyKnown) { ids.contains($0) })
      } catch let error as HARError where onlyKnown {
        // The message names members of the file.
        throw ToolFailure(.files, "har.\(error.code)", "The older file cannot be compared: \(error.code).")
      }
    }
  }
#endif
