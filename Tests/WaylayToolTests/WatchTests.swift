#if CommandLineTool
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayHAR

  /// `waylay watch`.
  @Suite(
    "waylay watch",
    .enabled(
      if: FileManager.default.fileExists(atPath: "/usr/bin/curl"),
      "there is no curl, so no page was loaded (apt-get install curl)"),
    .heavy, .timeLimit(.minutes(10)))
  struct WatchTests {
    /// Begins to watch with these arguments, runs a script beside it with `$page`, ends it by a signal, and says how it
    /// ended.
    private func watch(
      _ waylay: Tool, _ arguments: [String], _ script: String
    ) async throws -> (end: Tool.End, events: [[String: Any]]) {
      let all = """
        tool=$0; dir=$1; shift
        said() { for _ in $(seq 600); do grep -q -- "$1" "$dir/out" && return; kill -0 $pid 2>/dev/null || return; \
        sleep 0.05; done; echo "never said: $1"; }
        "$tool" watch --json \(arguments.joined(separator: " ")) >"$dir/out" 2>"$dir/errors" &
        pid=$!
        said '"event":"ready"'
        page=$(sed -n 's/.*"page":"\\([^"]*\\)".*/\\1/p' "$dir/out" | head -n 1)
        \(script)
        kill -TERM $pid 2>/dev/null
        wait $pid
        ended=$?
        wait
        echo "ended $ended"
        cat "$dir/errors"
        """
      let end = try await waylay.run(
        ["-c", all, Program("waylay").path, waylay.folder.path], by: Program(path: "/bin/bash"))
      let lines = try waylay.text("out").split(separator: "\n")
      let events = lines.compactMap { (try? JSONSerialization.jsonObject(with: Data($0.utf8))) as? [String: Any] }
      #expect(lines.count == events.count, "each line is an object")
      return (end, events)
    }

    @Test("a file is shown without secrets; one that cannot be read ends with 4")
    func file() async throws {
      try await Tool.with { waylay in
        let entry = HAR.Entry(
          started: Date(timeIntervalSince1970: 1_700_000_000),
          request: HAR.Request(method: "GET", url: "https://api.example.com/users?token=hunter2-4711"),
          response: HAR.Response(
            status: 200, headers: [HAR.Field("Content-Type", "application/json")],
            body: HAR.Body(Data(#"{"name":"Ada","password":"hunter2-4711"}"#.utf8), mediaType: "application/json")))
        try HAR(entries: [entry, entry, entry]).write(to: waylay.file("a.har"))
        let (end, events) = try await watch(
          waylay, ["--keep", "2", "$dir/a.har"],
          """
          /usr/bin/curl -sN --max-time 2 ${page}events >"$dir/events"
          /usr/bin/curl -s --max-time 20 ${page}entries/3/stub
          echo; /usr/bin/curl -s --max-time 20 -X POST -H 'X-Waylay: 1' ${page}entries/3/repeat
          """)
        #expect(end.output.hasSuffix("ended 0\n"), "\(end)")
        #expect(end.output.contains("Stub(.get, ") && end.output.contains("without a session"), "\(end)")
        #expect(events.count == 1, "\(events)")
        #expect(events[0]["exchanges"] as? Int == 2 && events[0]["leftOut"] as? Int == 1)
        let text = try waylay.text("events")
        #expect(text.components(separatedBy: "event: entry").count == 3 && text.contains("Ada"))
        #expect(!text.contains("hunter2-4711"))
        #expect(try await waylay("watch", "/./missing.har").code == 4)
      }
    }

    @Test("it ends when it is told to, with a page that listens and with connections that say nothing")
    func ended() async throws {
      try await Tool.with { waylay in
        try HAR(entries: []).write(to: waylay.file("a.har"))
        let (end, _) = try await watch(
          waylay, ["$dir/a.har"],
          """
          /usr/bin/curl -sN --max-time 60 ${page}events >"$dir/events" & listening=$!
          for _ in $(seq 600); do grep -q complete "$dir/events" && break; sleep 0.05; done
          port=${page#*127.0.0.1:}; exec 7<>/dev/tcp/127.0.0.1/${port%%/*} 8<>/dev/tcp/127.0.0.1/${port%%/*}
          printf 'GET /' >&7
          """)
        #expect(end.output.hasSuffix("ended 0\n"), "\(end)")
        #expect(try waylay.text("events").hasSuffix("event: end\ndata: 1\n\n"))
      }
    }

    @Test("without a file it says which one to name, and ends with 64")
    func noFile() async throws {
      try await Tool.with { waylay in
        let end = try await waylay("watch")
        #expect(end.code == 64 && end.errors.contains("waylay watch traffic.har"), "\(end)")
        #expect(end.errors.contains("sage: waylay watch <file>"), "\(end)")
      }
    }

    @Test("a port that is taken ends it with 1")
    func ports() async throws {
      try await withOrigin { origin in
        try await Tool.with { waylay in
          try HAR(entries: []).write(to: waylay.file("a.har"))
          let end = try await waylay("watch", "/./a.har", "--port", "\(origin.port)", "--json")
          #expect(end.code == 1 && end.errors.contains("\(origin.port)"), "\(end)")
        }
      }
    }
  }
#endif
