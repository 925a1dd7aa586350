#if CommandLineTool
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing

  /// `waylay tunnel`.
  @Suite(
    "waylay tunnel",
    .enabled(
      if: FileManager.default.fileExists(atPath: "/usr/bin/curl"),
      "there is no curl, so nothing went through a tunnel (apt-get install curl)"),
    .enabled(if: Platform.isLinux, "there is no /proc"), .heavy, .timeLimit(.minutes(10)))
  struct TunnelTests {
    /// Runs a script of bash with job control: what it starts in the background has a group of its own, as in a terminal.
    private func script(
      _ waylay: Tool, _ text: String, _ port: Int, environment: [String: String] = [:]
    ) async throws -> Tool.End {
      let all = """
        set -m; dir=$1; route=api.test=127.0.0.1:$2
        said() { for _ in $(seq 600); do grep -q -- "$1" "$dir/out" && return; sleep 0.05; done; echo "never said: $1"; }
        \(text)
        """
      return try await waylay.run(
        ["-c", all, Program("waylay").path, waylay.folder.path, "\(port)"], environment: environment,
        by: Program(path: "/bin/bash"))
    }

    @Test("a command has its requests dialled where the list says, and the secret by its environment alone")
    func command() async throws {
      try await withOrigin { origin in
        origin.reply(to: "/where") { _ in .text("from the right place") }
        try await Tool.with { waylay in
          let end = try await script(
            waylay,
            """
            "$0" tunnel --route $route -- bash -c '/usr/bin/curl -s --max-time 20 http://api.test/where; echo
              /usr/bin/curl -s -o /dev/null -w "%{http_code}\\n" --max-time 20 http://other.test/
              for id in $$ $PPID; do tr "\\0" " " </proc/$id/cmdline; done >"$0"; env; exit 7' "$dir/arguments"
            echo "status $?"
            """, origin.port, environment: ["no_proxy": "*", "NO_PROXY": "*", "ALL_PROXY": "http://nowhere.invalid"])
          let lines = end.output.split(separator: "\n").map(String.init)
          #expect(lines.prefix(2) == ["from the right place", "403"], "\(end)")
          #expect(lines.last == "status 7", "\(end)")
          #expect(!lines.contains { $0.lowercased().hasPrefix("no_proxy=") }, "\(end)")
          for name in ["http_proxy", "https_proxy"] {
            for name in [name, name.uppercased()] {
              #expect(lines.contains { $0.hasPrefix("\(name)=http://rules:") }, "\(name)")
            }
          }
          for name in ["all_proxy", "ALL_PROXY"] {
            #expect(lines.contains { $0.hasPrefix("\(name)=socks5h://rules:") }, "\(name)")
          }
          let secret = lines.first { $0.hasPrefix("http_proxy=") }?.split(separator: ":")[2].prefix { $0 != "@" } ?? ""
          #expect(secret.count == 32)
          let arguments = try waylay.text("arguments")
          #expect(arguments.contains("tunnel --route") && !arguments.contains(secret), "\(arguments)")
          #expect(!end.errors.contains(secret))
        }
      }
    }

    @Test("--doh asks a server for addresses, and takes a private one of a public host only with --allow-private")
    func lookedUp() async throws {
      let authority = try TestAuthority()
      try await withOrigin(tls: .init(authority: authority, names: ["api.test", "dns.test"])) { origin in
        origin.reply(to: "/where") { request in .text(request["host"].joined()) }
        origin.reply(to: "/dns-query") { request in
          Reply(200, [("Content-Type", "application/dns-message")], .whole(Self.answer(to: request.target)))
        }
        try await Tool.with { waylay in
          try waylay.write(authority.pem, to: "ca.pem")
          try waylay.write(#"{"rules":[{"host":"api.test:\#(origin.port)"}]}"#, to: "list.json")
          let end = try await script(
            waylay,
            """
            lookup="--hosts $dir/list.json --doh https://dns.test:$2/dns-query --doh-address 127.0.0.1 --cacert $dir/ca.pem"
            get="/usr/bin/curl -s --max-time 20 --cacert $dir/ca.pem https://api.test:$2/where"
            "$0" tunnel $lookup --allow-private -- $get; echo " $?"
            "$0" tunnel $lookup -- $get -o /dev/null -w '%{http_connect}'; echo
            """, origin.port)
          #expect(end.output == "api.test:\(origin.port) 0\n502\n", "\(end)")
        }
      }
    }

    /// An answer to a question of DNS over HTTPS: 127.0.0.1 for any name.
    private static func answer(to target: String) -> Data {
      let text = (target.components(separatedBy: "dns=").last ?? "").replacing("-", with: "+").replacing("_", with: "/")
      let padded = text + String(repeating: "=", count: (4 - text.count % 4) % 4)
      let query = Array(Data(base64Encoded: padded) ?? Data())
      guard query.count > 16, let end = query[12...].firstIndex(of: 0), end + 4 < query.count else { return Data() }
      let isAddress = query[end + 1] == 0 && query[end + 2] == 1
      let head = query[..<2] + [0x81, 0x80, 0, 1, 0, isAddress ? 1 : 0, 0, 0, 0, 0]
      let record: [UInt8] = [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]
      return Data(head + query[12...(end + 4)] + (isAddress ? record : []))
    }

    @Test("Ctrl-C ends the command, whose own status is the program's; a signal's is 128 and its number")
    func interrupted() async throws {
      try await Tool.with { waylay in
        let end = try await script(
          waylay,
          """
          "$0" tunnel --route $route -- bash -c 'trap "exit 9" INT; echo ready; while :; do sleep 0.05; done' >"$dir/out" &
          said ready; kill -INT -- -$!; wait $!; echo "status $?"
          "$0" tunnel --route $route -- bash -c 'kill -TERM $$'; echo "status $?"
          "$0" tunnel --route $route -- /nowhere/nothing 2>/dev/null; echo "status $?"
          """, 9)
        #expect(end.output == "status 9\nstatus 143\nstatus 127\n", "\(end)")
      }
    }

    @Test("a command that leaves a process behind ends the tunnel when it ends itself")
    func daemon() async throws {
      try await Tool.with { waylay in
        let end = try await script(
          waylay,
          """
          "$0" tunnel --route $route -- bash -c 'sleep 1000 >/dev/null 2>&1 & echo $! >"$0"; exit 3' "$dir/daemon"
          echo "status $?"; kill "$(cat "$dir/daemon")" && echo "was alive"
          """, 9)
        #expect(end.output == "status 3\nwas alive\n", "\(end)")
      }
    }

    @Test("a command has no descriptor of the tunnel, and fails as it does where SIGCHLD is ignored")
    func descriptors() async throws {
      try await Tool.with { waylay in
        let end = try await script(
          waylay,
          """
          "$0" tunnel --watch --route $route -- bash -c 'ls -l /proc/$$/fd >"$0"' "$dir/open" 2>/dev/null
          grep -c -e socket: -e anon_inode "$dir/open"
          (trap "" CHLD; exec "$0" tunnel --route $route -- false); echo "status $?"
          """, 9)
        #expect(end.output == "0\nstatus 1\n", "\(end)")
      }
    }

    @Test(
      "standard error that is closed, full or unread changes no status",
      arguments: ["2>&-", "2>/dev/full", "2> >(exec true)"])
    func unwritableErrors(redirection: String) async throws {
      try await Tool.with { waylay in
        let end = try await script(
          waylay,
          """
          "$0" tunnel --json --route $route -- bash -c 'exit 5' \(redirection); echo "status $?"
          "$0" har to-curl "$dir/nothing.har" \(redirection); echo "status $?"
          """, 9)
        #expect(end.output == "status 5\nstatus 4\n", "\(end)")
      }
    }

    @Test("a standard stream that is closed is no connection's descriptor, and output that is asked for fails")
    func closedStreams() async throws {
      try await Tool.with { waylay in
        let end = try await script(
          waylay,
          """
          for stream in 0 1 2; do
            (exec {stream}>&-; exec "$0" tunnel --watch --route $route -- \\
              bash -c 'readlink /proc/$PPID/fd/'$stream' >"$0"' "$dir/open")
            cat "$dir/open"
          done
          "$0" hosts explain --route $route http://api.test/ >&-; echo "status $?"
          """, 9)
        #expect(end.output == "/dev/null\n/dev/null\n/dev/null\nstatus 4\n", "\(end)")
      }
    }

    @Test("without a command the variables are in a file for their owner alone, which goes with the tunnel")
    func file() async throws {
      try await withOrigin { origin in
        origin.reply(to: "/where") { _ in .text("from the right place") }
        try await Tool.with { waylay in
          let end = try await script(
            waylay,
            """
            umask 0; touch "$dir/taken"
            "$0" tunnel --json --route $route --file "$dir/variables" >"$dir/out" &
            said '"event":"ready"'; stat -c %a "$dir/variables"
            (export no_proxy='*'; . "$dir/variables"; /usr/bin/curl -s --max-time 20 http://api.test/where; echo)
            kill -INT -- -$!; wait $!; echo "status $?"
            test -e "$dir/variables" || echo gone
            "$0" tunnel --route $route --file "$dir/taken"; echo "status $?"
            "$0" tunnel 2>/dev/null; echo "status $?"
            """, origin.port)
          #expect(end.output == "600\nfrom the right place\nstatus 0\ngone\nstatus 4\nstatus 64\n", "\(end)")
          #expect(end.errors.contains("name a new file"), "\(end)")
          #expect(try !waylay.text("out").contains("rules:"))
        }
      }
    }
  }
#endif
