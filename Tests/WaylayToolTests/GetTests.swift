#if CommandLineTool
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayHAR

  /// `waylay get`.
  @Suite("waylay get", .heavy, .timeLimit(.minutes(10)))
  struct GetTests {
    @Test("prints the body, sends what it is told to, and with --json says what came")
    func body() async throws {
      try await withOrigin { origin in
        origin.reply(to: "/echo") { request in
          Reply.text(
            "\(request.method) \(request["x-a"].joined(separator: ",")) \(String(decoding: request.body, as: UTF8.self))",
            status: 201)
        }
        try await Tool.with { waylay in
          let plain = try await waylay("get", origin.url("/echo").absoluteString)
          #expect(plain.code == 0 && plain.output == "GET  " && plain.errors.isEmpty, "\(plain)")
          let posted = try await waylay(
            "get", origin.url("/echo").absoluteString, "-d", "a=1", "-H", "X-A: one", "-H", "X-A: two", "-i")
          #expect(
            posted.output.hasPrefix("HTTP/1.1 201") && posted.output.hasSuffix("\r\n\r\nPOST one,two a=1"), "\(posted)")
          try waylay.write("bytes of a file", to: "body")
          let json = try await waylay(
            "get", origin.url("/echo").absoluteString, "-X", "PUT", "-d", "@/./body", "--json"
          )
          .json
          #expect(json["status"] as? Int == 201 && json["body"] as? String == "PUT  bytes of a file", "\(json)")
          #expect(json["source"] as? String == "network" && json["bytes"] as? Int == 20)
        }
      }
    }

    @Test("writes a file whole or not at all, and takes no file's place unasked")
    func file() async throws {
      try await withOrigin { origin in
        origin.reply(to: "/short") { _ in Reply(200, [], .truncated(Data("only this".utf8), declared: 100)) }
        try await Tool.with { waylay in
          let end = try await waylay("get", origin.url("/bytes/3000000").absoluteString, "-o", "/./a")
          #expect(
            try end.code == 0 && end.output.isEmpty && (Data(contentsOf: waylay.file("a")).count) == 3_000_000, "\(end)"
          )
          let again = try await waylay("get", origin.url("/bytes/3").absoluteString, "-o", "/./a")
          #expect(again.code == 4 && again.errors.contains("--force"), "\(again)")
          #expect(try await waylay("get", origin.url("/bytes/3").absoluteString, "-o", "/./a", "--force").code == 0)
          #expect(try Data(contentsOf: waylay.file("a")).count == 3)
          let cut = try await waylay("get", origin.url("/short").absoluteString, "-o", "/./b")
          #expect(cut.code == 2 && !FileManager.default.fileExists(atPath: waylay.file("b").path), "\(cut)")
          #expect(try FileManager.default.contentsOfDirectory(atPath: waylay.folder.path) == ["a"])
        }
      }
    }

    @Test("shows on a terminal how far a long load has come, wipes it at its end, and shows nothing elsewhere")
    func progress() async throws {
      try await withOrigin { origin in
        try await Tool.with { waylay in
          let url = origin.url("/chunks/3?pause=400").absoluteString
          let script = """
            command -v script >/dev/null || { echo "no script"; exit; }
            script -qec "'$0' get '$1' -o '$2/onTerminal'" /dev/null
            """
          let shown = try await waylay.shell(script, url, waylay.folder.path)
          guard !shown.output.hasPrefix("no script") else { return print("no script: there is no terminal to look at") }
          #expect(shown.code == 0 && shown.output.contains("/s"), "\(shown)")
          #expect(shown.output.trimmingCharacters(in: .newlines).hasSuffix("\r\u{1B}[K"), "\(shown)")
          let elsewhere = try await waylay("get", url, "-o", "/./elsewhere")
          #expect(elsewhere.code == 0 && elsewhere.output.isEmpty && elsewhere.errors.isEmpty, "\(elsewhere)")
          #expect(try waylay.text("onTerminal") == waylay.text("elsewhere"))
        }
      }
    }

    @Test("shows a terminal nothing that it would act on, and writes the bytes as they are elsewhere")
    func escapes() async throws {
      let body = "\u{1B}[2J\u{1B}]0;title\u{7} 0\u{9B}31m\u{202E}abc\u{200F}\rover\r\n\tüber 😀 end\r\n"
      try await withOrigin { origin in
        // In pieces of one byte: characters and ends of lines are cut apart.
        origin.reply(to: "/text") { _ in Reply(200, [], .chunks(body.utf8.map { Data([$0]) }, pause: 1)) }
        try await Tool.with { waylay in
          let url = origin.url("/text").absoluteString
          let script = """
            command -v script >/dev/null || { echo "no script"; exit; }
            script -qec "'$0' get '$1'" /dev/null
            """
          let shown = try await waylay.shell(script, url)
          if shown.output.hasPrefix("no script") {
            print("no script: there is no terminal to look at")
          } else {
            let mark = "\u{FFFD}"
            #expect(
              shown.output.replacing("\r\n", with: "\n")
                == "\(mark)[2J\(mark)]0;title\(mark) 0\(mark)31m\(mark)abc\(mark)\(mark)over\n\tüber 😀 end\n")
          }
          #expect(try await waylay("get", url).output == body)
          let json = try await waylay("get", url, "--json")
          #expect(json.json["body"] as? String == body)
          #expect(
            json.output.contains(#"\u009b31m\u202eabc\u200f"#)
              && !json.output.dropLast().unicodeScalars.contains {
                $0.properties.generalCategory == .control || $0.properties.isBidiControl
              }, "\(json)")
        }
      }
    }

    @Test("leaves no part of a file when it is ended while it writes one", arguments: ["INT", "TERM"])
    func interrupted(signal: String) async throws {
      try await withOrigin { origin in
        try await Tool.with { waylay in
          let script = """
            "$0" get "$1" -o "$2/a" --har "$2/a.har" & pid=$!
            for _ in $(seq 600); do [ "$(ls -A "$2")" ] && break; sleep 0.05; done
            ls -A "$2" | wc -l
            kill -\(signal) $pid; wait $pid; echo "ended $?"; ls -A "$2"
            """
          let end = try await waylay.shell(
            script, origin.url("/chunks/1000?pause=100").absoluteString, waylay.folder.path)
          #expect(end.output == "1\nended \(signal == "INT" ? 130 : 143)\n", "\(end)")
        }
      }
    }

    @Test(
      "ends with 2 when nobody answers, with 1 for a bad status where --fail is given, and with 64 for what is no URL")
    func failures() async throws {
      try await withOrigin { origin in
        origin.reply(to: "/gone") { _ in Reply.text("gone", status: 410) }
        try await Tool.with { waylay in
          #expect(try await waylay("get", origin.url("/gone").absoluteString).code == 0)
          let failed = try await waylay("get", origin.url("/gone").absoluteString, "--fail")
          #expect(failed.code == 1 && failed.output == "gone" && failed.errors.contains("410"), "\(failed)")
          await origin.stop()
          let dead = try await waylay("get", origin.url("/gone").absoluteString, "--json")
          #expect(dead.code == 2, "\(dead)")
          #expect((dead.json["error"] as? [String: Any])?["status"] as? Int == 2, "\(dead)")
          for url in ["file:///etc/passwd", "nonsense", "https://", "ftp://example.com/"] {
            #expect(try await waylay("get", url).code == 64, "\(url)")
          }
          #expect(try await waylay("get", "http://127.0.0.1/", "-H", "no field").code == 64)
          #expect(try await waylay("get", "http://127.0.0.1/", "--route", "nonsense").code == 64)
          #expect(try await waylay("get", "http://127.0.0.1/", "--offline").code == 64)
        }
      }
    }

    @Test("keeps answers in an archive, and gives them without a network; what is not there ends with 3")
    func offline() async throws {
      try await withOrigin { origin in
        origin.reply(to: "/page") { _ in Reply.text("kept", fields: [("Cache-Control", "max-age=600")]) }
        try await Tool.with { waylay in
          let url = origin.url("/page").absoluteString
          #expect(try await waylay("get", url, "--archive", "/./archive").output == "kept")
          await origin.stop()
          let again = try await waylay("get", url, "--archive", "/./archive", "--offline", "--json").json
          #expect(
            again["body"] as? String == "kept" && (again["source"] as? String)?.contains("archive") == true, "\(again)")
          let missing = try await waylay(
            "get", origin.url("/other").absoluteString, "--archive", "/./archive", "--offline")
          #expect(missing.code == 3 && !missing.errors.isEmpty, "\(missing)")
          let nowhere = try await waylay("get", url, "--archive", "/./nowhere", "--offline")
          #expect(
            nowhere.code == 4 && !FileManager.default.fileExists(atPath: waylay.file("nowhere").path), "\(nowhere)")
        }
      }
    }

    @Test(
      "--mocks answers from an HTTP archive; what it does not have ends with 3, and never goes to the network"
    )
    func mocks() async throws {
      try await withOrigin { origin in
        try await Tool.with { waylay in
          let url = origin.url("/users").absoluteString
          let entry = HAR.Entry(
            started: Date(timeIntervalSince1970: 0), request: HAR.Request(method: "GET", url: url),
            response: HAR.Response(
              status: 203, headers: [HAR.Field("Content-Type", "application/json")],
              body: HAR.Body(Data("{\"a\":1}".utf8))))
          try HAR(entries: [entry]).write(to: waylay.file("a.har"))
          let users = try await waylay("get", url, "--mocks", "/./a.har")
          #expect(users.code == 0 && users.output == "{\"a\":1}", "\(users)")
          let report = try await waylay("get", url, "--mocks", "/./a.har", "--json").json
          #expect(report["status"] as? Int == 203 && report["source"] as? String == "cassette")
          let other = try await waylay("get", origin.url("/other").absoluteString, "--mocks", "/./a.har")
          #expect(other.code == 3 && other.errors.contains("/users"), "\(other)")
          #expect(!other.errors.contains("WAYLAY_RECORD"), "\(other)")
          #expect(origin.requests.isEmpty)
          try waylay.write("x", to: "nonsense.har")
          try FileManager.default.createDirectory(at: waylay.file("folder"), withIntermediateDirectories: false)
          for name in ["nonsense.har", "nowhere.har", "folder"] {
            let end = try await waylay("get", url, "--mocks", "/./\(name)")
            #expect(end.code == 4 && end.errors.contains(name) && !end.errors.contains("WAYLAY_RECORD"), "\(end)")
          }
          try FileManager.default.copyItem(at: waylay.file("a.har"), to: waylay.file("traffic.json"))
          #expect(try await waylay("get", url, "--mocks", "/./traffic.json").code == 0)
          let both = try await waylay("get", url, "--mocks", "/./a.har", "--archive", "/./archive")
          #expect(both.code == 64 && both.errors.contains("leave out --archive"), "\(both)")
        }
      }
    }

    @Test("a server that does not answer in time ends with 2, and with the option to raise")
    func timeout() async throws {
      try await withOrigin(behaviour: .silent) { origin in
        try await Tool.with { waylay in
          let end = try await waylay("get", origin.url("/").absoluteString, "--timeout", "0.2")
          #expect(end.code == 2 && end.errors.hasSuffix(": raise --timeout.\n"), "\(end)")
        }
      }
    }

    @Test("--har writes what went over the wire, without secrets, also of a load that failed")
    func har() async throws {
      try await withOrigin { origin in
        origin.reply(to: "/login") { _ in
          Reply(
            200, [("Content-Type", "application/json"), ("Set-Cookie", "sid=hunter2-4711")],
            .whole(Data(#"{"token":"hunter2-4711","id":7}"#.utf8)))
        }
        try await Tool.with { waylay in
          let end = try await waylay(
            "get", origin.url("/login?api_key=hunter2-4711").absoluteString, "-H", "Authorization: Bearer hunter2-4711",
            "--har", "/./a.har")
          #expect(end.code == 0 && end.output.contains("hunter2-4711"), "\(end)")
          let archive = try HAR(contentsOf: waylay.file("a.har"))
          #expect(archive.entries.count == 1 && archive.entries.first?.response.status == 200)
          #expect(archive.entries.first?.response.body.text?.contains("\"id\":7") == true)
          #expect(try !waylay.text("a.har").contains("hunter2-4711") && HARFormat.problems(in: archive.data()).isEmpty)
          await origin.stop()
          let failed = try await waylay("get", origin.url("/login").absoluteString, "--har", "/./b.har")
          #expect(
            try failed.code == 2 && (HAR(contentsOf: waylay.file("b.har")).entries.first?.response.status) == 0,
            "\(failed)")
        }
      }
    }

    @Test(
      "--route dials the address that it is given, --doh those that a server names, with the certificate of the name",
      .enabled(if: Platform.hasCurl, "only CurlTransport has routes"))
    func routes() async throws {
      let authority = try TestAuthority()
      try await withOrigin(tls: .init(authority: authority, names: ["api.test", "dns.test"])) { origin in
        origin.reply(to: "/where") { request in Reply.text(request["host"].joined()) }
        origin.reply(to: "/dns-query") { request in
          Reply(200, [("Content-Type", "application/dns-message")], .whole(Self.answer(to: request.target)))
        }
        try await Tool.with { waylay in
          try waylay.write(authority.pem, to: "ca.pem")
          let url = origin.url("/where", host: "api.test").absoluteString
          let routed = try await waylay("get", url, "--route", "api.test=127.0.0.1", "--cacert", "/./ca.pem")
          #expect(routed.code == 0 && routed.output == "api.test:\(origin.port)", "\(routed)")
          let untrusted = try await waylay("get", url, "--route", "api.test=127.0.0.1")
          #expect(untrusted.code == 2, "\(untrusted)")
          let doh = try await waylay(
            "get", url, "--doh", origin.url("/dns-query", host: "dns.test").absoluteString, "--doh-address",
            "127.0.0.1",
            "--allow-private",
            "--cacert", "/./ca.pem")
          #expect(doh.code == 0 && doh.output == "api.test:\(origin.port)", "\(doh)")
          let refused = try await waylay(
            "get", url, "--doh", origin.url("/dns-query", host: "dns.test").absoluteString, "--doh-address",
            "127.0.0.1",
            "--cacert",
            "/./ca.pem")
          #expect(refused.code == 2 && refused.errors.contains("private"), "\(refused)")
        }
      }
    }

    /// An answer to a question of DNS over HTTPS: 127.0.0.1 for any name, and nothing else.
    static func answer(to target: String) -> Data {
      let text = (target.components(separatedBy: "dns=").last ?? "").replacing("-", with: "+").replacing("_", with: "/")
      let padded = text + String(repeating: "=", count: (4 - text.count % 4) % 4)
      let query = Array(Data(base64Encoded: padded) ?? Data())
      guard query.count > 16, let end = query[12...].firstIndex(of: 0), end + 4 < query.count else { return Data() }
      let isAddress = query[end + 1] == 0 && query[end + 2] == 1
      let head = query[..<2] + [0x81, 0x80, 0, 1, 0, isAddress ? 1 : 0, 0, 0, 0, 0]
      let record: [UInt8] = [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]
      return Data(head + query[12...(end + 4)] + (isAddress ? record : []))
    }
  }
#endif
