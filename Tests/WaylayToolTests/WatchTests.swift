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
    "there is no curl, so nothing was sent by the proxy (apt-get install curl)"),
  .heavy, .timeLimit(.minutes(10)))
struct WatchTests {
  /// Begins to watch with what comes after the folder, runs a script beside it with `$page`, `$proxy` and `$port`, ends
  /// it by a signal, and says how it ended.
  private func watch(
    _ waylay: Tool, _ arguments: [String], _ script: String, _ words: [String] = []
  ) async throws
    -> (end: Tool.End, events: [[String: Any]])
  {
    let all = """
      tool=$0; dir=$1; shift
      said() { for _ in $(seq 600); do grep -q -- "$1" "$dir/out" && return; kill -0 $pid 2>/dev/null || return; \
      sleep 0.05; done; echo "never said: $1"; }
      curl() { /usr/bin/curl --silent --max-time 30 "$@"; }
      raw() { exec {raw}<>"/dev/tcp/127.0.0.1/$port"; printf "$1" >&$raw; timeout 20 cat <&$raw; exec {raw}>&-; }
      http_proxy= https_proxy= "$tool" watch --json \(arguments.joined(separator: " ")) >"$dir/out" 2>"$dir/errors" &
      pid=$!
      said '"event":"ready"'
      page=$(sed -n 's/.*"page":"\\([^"]*\\)".*/\\1/p' "$dir/out" | head -n 1)
      proxy=$(sed -n 's/.*"proxy":"\\([^"]*\\)".*/\\1/p' "$dir/out" | head -n 1)
      port=${proxy##*:}
      \(script)
      kill -TERM $pid 2>/dev/null
      wait $pid
      echo "ended $?"
      cat "$dir/errors"
      """
    let end = try await waylay.run(
      ["-c", all, Program("waylay").path, waylay.folder.path] + words, by: Program(path: "/bin/bash"))
    let lines = try waylay.text("out").split(separator: "\n")
    let events = lines.compactMap { (try? JSONSerialization.jsonObject(with: Data($0.utf8))) as? [String: Any] }
    #expect(lines.count == events.count, "each line is an object")
    return (end, events)
  }

  @Test("plain requests go through the proxy as they are, and are shown whole")
  func plain() async throws {
    try await withOrigin { origin in
      origin.reply(to: "/hello") { request in
        Reply.text("hello \(request.method) \(request.body.count)", fields: [("X-Answer", "yes"), ("Keep-Alive", "9")])
      }
      origin.reply(to: "/away") { _ in Reply(302, [("Location", "/hello"), ("Set-Cookie", "a=b")], .whole(Data())) }
      origin.reply(to: "/pieces") { _ in Reply(200, [], .chunks([Data("one ".utf8), Data("two".utf8)], pause: 1)) }
      origin.reply(to: "/cut") { _ in Reply(200, [], .truncated(Data("only this".utf8), declared: 100)) }
      try await Tool.with { waylay in
        try Data(repeating: 0x61, count: 3_000_000).write(to: waylay.file("body"))
        let (end, events) = try await watch(
          waylay, ["--proxy-port", "0", "--har", "$dir/seen.har"],
          """
          curl -x $proxy "$1/hello?token=hunter2-4711" -H 'Connection: X-Hop' -H 'X-Hop: 1' -U user:hunter2-4711 -i
          echo; curl -x $proxy $1/hello -H 'Transfer-Encoding: chunked' --data-binary "@$dir/body"
          echo; curl -x $proxy $1/hello -H 'Expect: 100-continue' -T "$dir/body"
          echo; curl -x $proxy $1/away -i
          curl -x $proxy $1/pieces
          echo; curl -x $proxy $1/hello -I | head -n 1
          curl -x $proxy $1/cut; echo " status $?"
          curl -x $proxy $1/bytes/5000000 | wc -c
          said '/bytes/5000000'
          /usr/bin/curl -sN --max-time 2 ${page}events >"$dir/events"
          """, [origin.url("/").absoluteString.dropLast().description])
        let text = end.output
        #expect(text.contains("\r\n\r\nhello GET 0") && text.contains("X-Answer: yes"), "\(end)")
        #expect(!text.contains("Keep-Alive: 9") && text.contains("Via: 1.1 waylay-"))
        #expect(text.contains("hello POST 3000000") && text.contains("hello PUT 3000000"))
        #expect(
          text.contains("HTTP/1.1 302") && text.contains("Location: /hello\r\n") && text.contains("Set-Cookie: a=b"))
        #expect(text.contains("one two") && text.contains("only this status 18") && text.contains("5000000\n"))
        #expect(text.hasSuffix("ended 0\n"), "\(end)")
        let head = try #require(origin.requests(to: "/hello").first?.head.lowercased())
        #expect(!head.contains("x-hop") && !head.contains("proxy-") && head.contains("via: 1.1 waylay-"), "\(head)")
        // No request for where the redirect leads, and no cookie of another client.
        #expect(origin.requests(to: "/hello").count == 4)
        #expect(origin.requests.allSatisfy { !$0.head.lowercased().contains("\r\ncookie:") })
        #expect(events.filter { $0["event"] as? String == "exchange" }.count == 8, "\(events)")
        #expect(events.contains { $0["receivedBytes"] as? Int == 5_000_000 && $0["status"] as? Int == 200 })
        #expect(events.contains { $0["sentBytes"] as? Int == 3_000_000 && $0["method"] as? String == "PUT" })
        #expect(events.contains { $0["state"] as? String == "failed" && $0["error"] != nil })
        for name in ["out", "events", "seen.har"] {
          let text = try waylay.text(name)
          #expect(text.contains("/hello") && !text.contains("hunter2-4711"), "\(name)")
        }
        let archive = try Data(contentsOf: waylay.file("seen.har"))
        #expect(HAR.problems(in: archive).isEmpty)
        #expect(try HAR(data: archive).entries.contains { $0.response.body.text == "one two" })
      }
    }
  }

  @Test("a tunnel is passed on byte for byte, and shown by its host, its port and its bytes alone")
  func tunnel() async throws {
    let authority = try TestAuthority()
    try await withOrigin(tls: .init(authority: authority, names: ["localhost"])) { origin in
      origin.reply(to: "/private") { request in Reply.text("of nobody else \(request.body.count)") }
      try await Tool.with { waylay in
        try waylay.write(authority.pem, to: "ca.pem")
        try Data(repeating: 0x61, count: 2_000_000).write(to: waylay.file("body"))
        let (end, events) = try await watch(
          waylay, ["--proxy-port", "0", "--har", "$dir/seen.har"],
          """
          curl -p -x $proxy --cacert "$dir/ca.pem" https://localhost:$1/private --data-binary "@$dir/body"
          said '"event":"tunnel"'
          echo; curl -p -x $proxy --cacert "$dir/ca.pem" https://localhost:$1/bytes/4000000 | wc -c
          curl -p -x $proxy https://localhost:$1/private; echo "untrusted $?"
          said '"id":3'
          /usr/bin/curl -sN --max-time 2 ${page}events >"$dir/events"
          """, ["\(origin.port)"])
        #expect(end.output.contains("of nobody else 2000000\n4000000\nuntrusted 60"), "\(end)")
        #expect(end.output.hasSuffix("ended 0\n"), "\(end)")
        let tunnels = events.filter { $0["event"] as? String == "tunnel" }
        #expect(tunnels.count == 3 && events.count == 4, "\(events)")
        let first = try #require(tunnels.first)
        #expect(first["host"] as? String == "localhost" && first["port"] as? Int == origin.port, "\(first)")
        #expect((first["sentBytes"] as? Int ?? 0) > 2_000_000 && (first["receivedBytes"] as? Int ?? 0) > 500)
        #expect((first["note"] as? String)?.hasPrefix("encrypted: not seen; ") == true)
        #expect((first["milliseconds"] as? Double ?? 0) > 0)
        #expect(tunnels.contains { ($0["receivedBytes"] as? Int ?? 0) > 4_000_000 })
        for name in ["out", "events", "seen.har"] {
          let text = try waylay.text(name)
          #expect(text.contains("CONNECT") && !text.contains("/private") && !text.contains("of nobody else"), "\(name)")
        }
        #expect(try HAR.problems(in: Data(contentsOf: waylay.file("seen.har"))).isEmpty)
      }
    }
  }

  @Test("a tunnel passes on the end of one direction, and bytes of any kind")
  func halves() async throws {
    try await Tool.with { waylay in
      // An origin that answers when its client has said all: what is behind is `cat` of a connection's own bytes.
      try waylay.write(
        """
        import socket, sys
        listener = socket.socket(); listener.bind(("127.0.0.1", 0)); listener.listen(1); listener.settimeout(60)
        print(listener.getsockname()[1], flush=True)
        connection, _ = listener.accept(); data = b""
        while True:
            more = connection.recv(65536)
            if not more: break
            data += more
        connection.sendall(data[::-1]); connection.close()
        """, to: "origin.py")
      let (end, events) = try await watch(
        waylay, ["--proxy-port", "0"],
        """
        command -v python3 >/dev/null || { echo "no python3"; kill -TERM $pid; wait $pid; exit; }
        python3 "$dir/origin.py" >"$dir/port" & for _ in $(seq 200); do [ -s "$dir/port" ] && break; sleep 0.05; done
        python3 - $port $(cat "$dir/port") <<'PY'
        import socket, sys
        c = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=20)
        c.sendall(b"CONNECT 127.0.0.1:%s HTTP/1.1\\r\\nHost: a\\r\\n\\r\\nearly" % sys.argv[2].encode())
        c.sendall(bytes(range(256)) * 4000); c.shutdown(socket.SHUT_WR); data = b""
        while True:
            more = c.recv(65536)
            if not more: break
            data += more
        head, body = data.split(b"\\r\\n\\r\\n", 1)
        print(head.decode(), body == (b"early" + bytes(range(256)) * 4000)[::-1])
        PY
        said '"event":"tunnel"'
        """)
      guard !end.output.contains("no python3") else { return print("no python3: tunnels by halves were not tried") }
      #expect(end.output.contains("HTTP/1.1 200 Connection Established True"), "\(end)")
      let tunnel = try #require(events.last)
      #expect(tunnel["sentBytes"] as? Int == 1_024_005 && tunnel["receivedBytes"] as? Int == 1_024_005, "\(tunnel)")
      #expect((tunnel["note"] as? String)?.hasPrefix("a tunnel: not seen; ") == true)
    }
  }

  @Test("it refuses to relay to itself, what could be read in two ways, and one connection too many")
  func refusals() async throws {
    try await withOrigin { origin in
      try await Tool.with { waylay in
        let target = origin.url("/x").absoluteString
        let cases: [(String, String)] = [
          ("GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n", "400"),
          ("GET https://a.test/ HTTP/1.1\\r\\n\\r\\n", "400"),
          ("GET http://127.0.0.1:$port/ HTTP/1.1\\r\\n\\r\\n", "508"),
          ("GET http://localhost:$port/ HTTP/1.1\\r\\n\\r\\n", "508"),
          ("CONNECT localhost:$port HTTP/1.1\\r\\n\\r\\n", "508"),
          ("CONNECT localhost:1 HTTP/1.1\\r\\n\\r\\n", "502"),
          ("CONNECT no-such-host.invalid:443 HTTP/1.1\\r\\n\\r\\n", "502"),
          ("CONNECT localhost HTTP/1.1\\r\\n\\r\\n", "400"),
          ("POST \(target) HTTP/1.1\\r\\nContent-Length: 3\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n", "400"),
          ("POST \(target) HTTP/1.1\\r\\nContent-Length: 3\\r\\nContent-Length: 4\\r\\n\\r\\n", "400"),
          ("POST \(target) HTTP/1.1\\r\\nContent-Length: +3\\r\\n\\r\\nabc", "400"),
          ("POST \(target) HTTP/1.1\\r\\nTransfer-Encoding: gzip, chunked\\r\\n\\r\\n", "400"),
          ("GET \(target) HTTP/1.1\\r\\n folded: 1\\r\\n\\r\\n", "400"),
          ("GET \(target) HTTP/1.1\\r\\nA : 1\\r\\n\\r\\n", "400"),
          ("GET \(target) HTTP/1.1\\nA: 1\\r\\n\\r\\n", "400"),
          ("GET \(target) HTTP/2.0\\r\\n\\r\\n", "505"),
          ("nonsense\\r\\n\\r\\n", "400"),
        ]
        let script = cases.map { "raw \"\($0.0)\" | head -n 1" }.joined(separator: "\n")
        let (end, events) = try await watch(
          waylay, ["--proxy-port", "0"],
          script + """

            via=$(curl -x $proxy \(origin.url("/bytes/1").absoluteString) -D - -o /dev/null | sed -n 's/^Via: //p' | tr -d '\\r')
            curl -x $proxy \(target) -H "Via: 1.0 other, $via" -o /dev/null -w 'round %{http_code}\\n'
            raw "GET http://a/ HTTP/1.1\\r\\nA: $(head -c 70000 /dev/zero | tr '\\0' a)" | head -n 1
            for i in $(seq 64); do exec {held}<>/dev/tcp/127.0.0.1/$port; done
            curl -x $proxy \(target) -o /dev/null -w 'crowd %{http_code}\\n'
            """)
        let codes = end.output.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("HTTP/1.1 ") }
          .map { $0.dropFirst(9).prefix(3).description }
        #expect(codes == cases.map(\.1) + ["431"], "\(end)")
        #expect(end.output.contains("round 508") && end.output.contains("crowd 503"), "\(end)")
        #expect(end.output.hasSuffix("ended 0\n"), "\(end)")
        #expect(origin.requests.map(\.path) == ["/bytes/1"])
        #expect(events.filter { $0["event"] as? String == "tunnel" && $0["state"] as? String == "failed" }.count == 3)
      }
    }
  }

  @Test("a file is shown without secrets and without a proxy; one that cannot be read ends with 4")
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
      #expect(events.count == 1 && events[0]["proxy"] == nil, "\(events)")
      #expect(events[0]["exchanges"] as? Int == 2 && events[0]["leftOut"] as? Int == 1)
      let text = try waylay.text("events")
      #expect(text.components(separatedBy: "event: entry").count == 3 && text.contains("Ada"))
      #expect(!text.contains("hunter2-4711"))
      #expect(try await waylay("watch", "/./missing.har").code == 4)
      #expect(try await waylay("watch", "/./a.har", "--har", "/./b.har").code == 64)
    }
  }

  @Test("a port that is taken ends it with 1, and nobody's reading with 0")
  func ports() async throws {
    try await withOrigin { origin in
      try await Tool.with { waylay in
        for option in ["--proxy-port", "--port"] {
          let end = try await waylay("watch", option, "\(origin.port)", "--json")
          #expect(end.code == 1 && end.errors.contains("\(origin.port)"), "\(end)")
        }
      }
    }
  }
}
