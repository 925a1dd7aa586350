#if CommandLineTool
  import Foundation
  import TestSupport
  import Testing
  import WaylayHAR
  import WaylayMocks

  /// `waylay har`.
  @Suite("waylay har", .heavy, .timeLimit(.minutes(10)))
  struct HARCommandTests {
    static let secret = "hunter2-4711"

    /// An exchange with a secret in every place.
    private static func entry(
      _ number: Int = 1, status: Int = 200, body: String = #"{"id":1,"access_token":"hunter2-4711"}"#
    ) -> HAR.Entry {
      HAR.Entry(
        started: Date(timeIntervalSince1970: 1_700_000_000 + Double(number)),
        request: HAR.Request(
          method: "POST", url: "https://api.example.com/users/\(number)?page=2&token=\(secret)",
          headers: [HAR.Field("Authorization", "Bearer \(secret)"), HAR.Field("Content-Type", "application/json")],
          body: HAR.Body(Data(#"{"name":"Ada","password":"\#(secret)"}"#.utf8), mediaType: "application/json")),
        response: HAR.Response(
          status: status,
          headers: [
            HAR.Field("Content-Type", "application/json"), HAR.Field("ETag", "\"7\""),
            HAR.Field("Set-Cookie", "sid=\(secret)"),
          ], body: HAR.Body(Data(body.utf8), mediaType: "application/json")),
        timings: HAR.Timings(wait: Double(10 * number), receive: 1))
    }

    private static func archive(_ entries: [HAR.Entry]) -> HAR {
      var archive = HAR(entries: entries)
      archive.pages = [
        [
          "id": "p", "title": "https://example.com/?token=\(secret)", "startedDateTime": "2023-11-14T22:13:20.000Z",
          "pageTimings": ["onLoad": 5], "_note": "\(secret)",
        ]
      ]
      archive.comment = "with \(secret)"
      return archive
    }

    @Test("a file that is no archive, is cut off or is not there is named for what it is, and ends with its status")
    func hostile() async throws {
      try await Tool.with { waylay in
        var random = SystemRandomNumberGenerator()
        try Data((0..<Sizes.of(300_000, small: 30_000)).map { _ in UInt8.random(in: 0...255, using: &random) }).write(
          to: waylay.file("noise"))
        try waylay.write(
          "{\"log\":{\"entries\":[" + String(repeating: "[", count: Sizes.of(200_000, small: 20_000)), to: "deep")
        try waylay.write("{\"log\":{\"version\":\"1.2\",\"entries\":[{}", to: "cut")
        try waylay.write(
          "{\"log\":{\"entries\":[{\"a\":\"" + String(repeating: "x", count: Sizes.of(5_000_000, small: 500_000)),
          to: "endless")
        try waylay.write("", to: "empty")
        for name in ["noise", "deep", "cut", "endless", "empty"] {
          for command in ["to-curl", "to-stubs"] {
            let end = try await waylay("har", command, "/./\(name)")
            #expect([1, 4].contains(end.code), "\(command) \(name): \(end.code) \(end.errors.prefix(300))")
          }
          let end = try await waylay("har", "redact", "/./\(name)", "-o", "/./out.har")
          #expect(
            end.code == 4 && !FileManager.default.fileExists(atPath: waylay.file("out.har").path), "\(name): \(end)")
        }
        for arguments in [["redact", "-o", "/./out.har"], ["to-curl"], ["to-stubs"]] {
          let missing = try await waylay.run(["har"] + arguments + ["/./missing", "--json"])
          let error = missing.json["error"] as? [String: Any]
          #expect(
            missing.code == 4 && error?["code"] as? String == "har.unreadable" && error?["status"] as? Int == 4,
            "\(arguments): \(missing)")
        }
        // A folder in place of a file.
        #expect(try await waylay("har", "to-curl", "/./").code == 4)
      }
    }

    @Test(
      "redact writes a copy in which a secret is nowhere, beside the entries neither, and takes no file's place unasked"
    )
    func redact() async throws {
      try await Tool.with { waylay in
        try Self.archive([Self.entry(1), Self.entry(2)]).write(to: waylay.file("a.har"))
        let end = try await waylay("har", "redact", "/./a.har", "-o", "/./b.har")
        #expect(end.code == 0 && end.output.hasPrefix("2 entries in "), "\(end)")
        #expect(end.output.contains(" Exchanges: 2."), "\(end)")
        let copy = try HAR(contentsOf: waylay.file("b.har"))
        #expect(copy.entries.count == 2 && copy.pages.count == 1 && HARFormat.problems(in: copy.data()).isEmpty)
        #expect(try !waylay.text("b.har").contains(Self.secret))
        // In base64 neither.
        #expect(try !waylay.text("b.har").contains(Data(Self.secret.utf8).base64EncodedString()))
        let before = try waylay.text("b.har")
        let again = try await waylay("har", "redact", "/./a.har", "-o", "/./b.har", "--no-redaction")
        #expect(try again.code == 4 && again.errors.contains("--force") && (waylay.text("b.har")) == before, "\(again)")
        #expect(try await waylay("har", "redact", "/./a.har", "-o", "/./b.har", "--no-redaction", "--force").code == 0)
        #expect(try waylay.text("b.har").contains(Self.secret))
        // Names of one's own.
        let names = try await waylay("har", "redact", "/./a.har", "-o", "/./c.har", "--hide", "name", "--json")
        #expect(try names.json["entries"] as? Int == 2 && (!waylay.text("c.har").contains("Ada")))
        #expect(
          try FileManager.default.contentsOfDirectory(atPath: waylay.folder.path).allSatisfy { !$0.hasPrefix(".") })
      }
    }

    @Test("what one entry names goes from all of them, whatever the command")
    func together() async throws {
      try await Tool.with { waylay in
        let token = "pl4nted-t0ken-1"
        func entry(_ path: String, _ body: HAR.Body = HAR.Body()) -> HAR.Entry {
          HAR.Entry(
            started: Date(timeIntervalSince1970: 0),
            request: HAR.Request(method: "GET", url: "https://a.test/\(path)", headers: []),
            response: HAR.Response(status: 200, body: body))
        }
        try HAR(entries: [
          entry("before/\(token)"),
          entry("login", HAR.Body(Data(#"{"token":"\#(token)"}"#.utf8), mediaType: "application/json")),
          entry("after/\(token)", HAR.Body(Data([8, 0, 1]), mediaType: "application/protobuf")),
        ]).write(to: waylay.file("a.har"))
        for command in ["to-curl", "to-stubs"] {
          let end = try await waylay("har", command, "/./a.har")
          #expect(end.code == 0 && !end.output.contains(token), "\(end)")
        }
        let strict = try await waylay("har", "redact", "/./a.har", "-o", "/./b.har", "--unread", "fail")
        #expect(strict.code == 1 && strict.errors.contains("a binary format"), "\(strict)")
        #expect(!FileManager.default.fileExists(atPath: waylay.file("b.har").path))
        let end = try await waylay("har", "redact", "/./a.har", "-o", "/./b.har", "--json")
        #expect(
          (end.json["unread"] as? [String])?.first?.contains("after/REDACTED: a binary format, kept") == true, "\(end)")
        #expect(try !waylay.text("b.har").contains(token))
        let dropped = try await waylay("har", "redact", "/./a.har", "-o", "/./c.har", "--unread", "remove")
        #expect(dropped.code == 0, "\(dropped)")
        #expect(try HAR(contentsOf: waylay.file("c.har")).entries[2].response.body.text == "REDACTED")
      }
    }

    @Test("what one entry names goes from all of them, though the archive is a link, a pipe or standard input")
    func nodesToRead() async throws {
      try await Tool.with { waylay in
        let token = "pl4nted-t0ken-1"
        func entry(_ path: String, _ body: String = "") -> HAR.Entry {
          HAR.Entry(
            started: Date(timeIntervalSince1970: 0), request: HAR.Request(method: "GET", url: "https://a.test/\(path)"),
            response: HAR.Response(status: 200, body: HAR.Body(Data(body.utf8), mediaType: "application/json")))
        }
        var archive = HAR(entries: [entry("before/\(token)"), entry("login", #"{"token":"\#(token)"}"#)])
        archive.pages = [["id": "p", "title": "https://a.test/\(token)"]]
        try archive.write(to: waylay.file("a.har"))
        let script = #"""
          cd "$1"; ln -s a.har link; mkfifo pipe
          "$0" har redact a.har -o -; echo; "$0" har redact link -o -; echo
          "$0" har redact /dev/stdin -o - <a.har; echo; cat a.har | "$0" har redact /dev/stdin -o -; echo
          cat a.har >pipe & "$0" har redact pipe -o -; echo; "$0" har redact <(cat a.har) -o -; echo
          cat a.har | "$0" har to-curl /dev/stdin; cat a.har | "$0" har to-stubs /dev/stdin
          cat a.har | "$0" har diff /dev/stdin <(sed s/login/other/ a.har); cat a.har | "$0" har redact /dev/stdin -o copy
          cat copy; true
          """#
        try FileManager.default.createDirectory(at: waylay.file("tmp"), withIntermediateDirectories: true)
        let end = try await waylay.run(
          ["-c", script, Program("waylay").path, waylay.folder.path], environment: ["TMPDIR": waylay.file("tmp").path],
          by: Program(path: "/bin/bash"))
        #expect(!end.output.contains(token) && end.errors.isEmpty, "\(end)")
        #expect(end.output.components(separatedBy: "https://a.test/before/REDACTED").count == 10, "\(end)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: waylay.file("tmp").path).isEmpty)
        for name in ["/dev/null", "/dev/zero", "/./tmp"] {
          let end = try await waylay("har", "redact", name, "-o", "/./no.har")
          #expect(end.code == 4 && end.errors.contains("neither a file nor a pipe"), "\(end)")
        }
      }
    }

    @Test("a promise that cannot be kept is refused: of --unread, and beside --no-redaction")
    func promises() async throws {
      try await Tool.with { waylay in
        let half = (Deflate.compressed(Data(#"{"token":"pl4nted-t0ken-1"}"#.utf8), as: .gzip) ?? Data()).dropLast(9)
        var entry = Self.entry(1)
        entry.response.body = HAR.Body(Data(half), mediaType: "application/json")
        try HAR(entries: [Self.entry(1), entry]).write(to: waylay.file("a.har"))
        // Nothing is written, where it could not be taken back either.
        let failed = try await waylay("har", "redact", "/./a.har", "-o", "-", "--unread", "fail")
        #expect(failed.code == 1 && failed.output.isEmpty && failed.errors.contains("gzip"), "\(failed)")
        let listed = try await waylay("har", "redact", "/./a.har", "-o", "-")
        #expect(listed.code == 0 && listed.errors.contains("gzip, kept"), "\(listed)")
        for options in [
          ["--unread", "remove"], ["--hide", "a"], ["--show", "a"],
        ] {
          let end = try await waylay.run(["har", "redact", "/./a.har", "-o", "-", "--no-redaction"] + options)
          #expect(end.code == 64 && end.output.isEmpty, "\(end)")
        }
      }
    }

    @Test("writes into standard output, a pipe and what a link leads to, and each stays what it is")
    func nodes() async throws {
      try await Tool.with { waylay in
        try Self.archive([Self.entry(1), Self.entry(2)]).write(to: waylay.file("a.har"))
        #expect(try await waylay("har", "redact", "/./a.har", "-o", "/./b.har").code == 0)
        let copy = try waylay.text("b.har")
        for name in ["-", "/dev/stdout"] {
          let end = try await waylay("har", "redact", "/./a.har", "-o", name)
          #expect(end.code == 0 && end.output == copy, "\(name): \(end)")
        }
        let script = """
          cd "$1"; mkfifo pipe; ln -s later link; chmod 640 b.har
          cat pipe >seen & "$0" har redact a.har -o pipe --force >/dev/null; wait $!
          "$0" har redact a.har -o link >/dev/null; "$0" har to-curl a.har -o b.har --force
          "$0" har redact a.har -o - | head -c 5; echo
          cmp seen later && [ -p pipe ] && [ -h link ] && find b.har -perm 640 && find later -perm 600; ls -A
          """
        let end = try await waylay.shell(script, waylay.folder.path)
        let names = ["{\"log", "b.har", "later", "a.har", "b.har", "later", "link", "pipe", "seen"]
        #expect(end.output == names.map { $0 + "\n" }.joined() && end.errors.isEmpty, "\(end)")
      }
    }

    @Test("redact --only-known writes what its help and its report list, and nothing else")
    func onlyKnown() async throws {
      try await Tool.with { waylay in
        let entries = [Self.entry(1), Self.entry(2)]
        try Self.archive(entries).write(to: waylay.file("a.har"))
        let end = try await waylay("har", "redact", "/./a.har", "-o", "/./b.har", "--only-known")
        let help = try await waylay("har", "redact", "--help").output.split(whereSeparator: \.isWhitespace)
        let rows = OnlyKnown.table.map(\.shows)
        #expect(end.output.contains(OnlyKnown.names) && help.joined(separator: " ").contains(OnlyKnown.names))
        for row in rows {
          #expect(end.output.contains("  \(row)\n"), "\(end)")
          #expect(help.joined(separator: " ").contains(row))
        }
        let copy = HAR(entries: Redaction.standard.redacted(entries).map { OnlyKnown.entry($0) }).data(isPretty: false)
        #expect(try Data(contentsOf: waylay.file("b.har")) == copy && HARFormat.problems(in: copy).isEmpty)
        for text in [Self.secret, "Ada", "Bearer", "example.com/?"] {
          #expect(try !waylay.text("b.har").contains(text))
        }
        let piped = try await waylay("har", "redact", "/./a.har", "-o", "-", "--only-known")
        #expect(try piped.output == waylay.text("b.har") && piped.errors.isEmpty, "\(piped)")
        let json = try await waylay("har", "redact", "/./a.har", "-o", "/./c.har", "--only-known", "--json")
        #expect(json.json["shown"] as? [String] == rows && json.json["entries"] as? Int == 2, "\(json)")
        for options in [["--show", "a"], ["--no-redaction"], ["--unread", "fail"]] {
          let end = try await waylay.run(["har", "redact", "/./a.har", "-o", "-", "--only-known"] + options)
          #expect(end.code == 64 && end.output.isEmpty, "\(end)")
        }
      }
    }

    @Test("to-stubs writes stubs that answer as the archive's servers did")
    func stubs() async throws {
      try await Tool.with { waylay in
        var plain = Self.entry(1)
        plain.request = HAR.Request(method: "GET", url: "https://api.example.com/users/1?page=2&token=\(Self.secret)")
        try HAR(entries: [plain, Self.entry(2, status: 0)]).write(to: waylay.file("a.har"))
        let end = try await waylay("har", "to-stubs", "/./a.har")
        #expect(end.code == 0 && end.errors.contains("entries without a response are left out: 1 of 2"), "\(end)")
        #expect(
          end.output == #"""
            Stub(
              .get, "https://api.example.com/users/1?page=2&token=*",
              .json(text: "{\"id\":1,\"access_token\":\"REDACTED\"}")
                .addingField("ETag", "\"7\""))

            """#)
        // The same, compiled.
        let mock = MockInterceptor {
          Stub(
            .get, "https://api.example.com/users/1?page=2&token=*",
            .json(text: "{\"id\":1,\"access_token\":\"REDACTED\"}")
              .addingField("ETag", "\"7\""))
        }
        let registry = InterceptorRegistry { mock }
        let url = try #require(URL(string: "https://api.example.com/users/1?page=2&token=other"))
        let (data, response) = try await registry.data(for: URLRequest(url: url))
        #expect(String(decoding: data, as: UTF8.self) == #"{"id":1,"access_token":"REDACTED"}"#)
        #expect(response.value(forHTTPHeaderField: "ETag") == "\"7\"" && response.mimeType == "application/json")
        registry.invalidate()
        // The same, in JSON.
        let json = try JSONValue(parsing: try await waylay("har", "to-stubs", "/./a.har", "--json").output)
        let stub = try Stub(json: #require(json["stubs"]?[0]?["stub"]))
        let other = InterceptorRegistry { MockInterceptor { stub } }
        let (same, again) = try await other.data(for: URLRequest(url: url))
        #expect(same == data && again.value(forHTTPHeaderField: "ETag") == "\"7\"")
        #expect(again.mimeType == "application/json")
        other.invalidate()
      }
    }

    @Test("to-stubs asks for what was sent, by bodies and fields, and writes to a file")
    func stubsOfBodies() async throws {
      try await Tool.with { waylay in
        try HAR(entries: [Self.entry(1, status: 201, body: "")]).write(to: waylay.file("a.har"))
        let end = try await waylay("har", "to-stubs", "/./a.har", "-o", "/./stubs.swift", "--json")
        #expect(end.code == 0 && end.json["count"] as? Int == 1, "\(end)")
        let source = try waylay.text("stubs.swift")
        #expect(source.contains(".jsonSubset([\"name\": \"Ada\"])") && source.contains(".status(201)"), "\(source)")
        #expect(source.contains("    .field(\"Authorization\"),\n") && !source.contains(Self.secret))
      }
    }

    @Test("to-curl writes commands without secrets, for the entries that are meant")
    func curl() async throws {
      try await Tool.with { waylay in
        try Self.archive([Self.entry(1), Self.entry(2)]).write(to: waylay.file("a.har"))
        let all = try await waylay("har", "to-curl", "/./a.har")
        #expect(
          all.code == 0 && all.output.components(separatedBy: "curl ").count == 3 && !all.output.contains(Self.secret),
          "\(all)")
        let one = try await waylay("har", "to-curl", "/./a.har", "--entry", "2", "--one-line", "--json")
        let commands = one.json["commands"] as? [[String: Any]]
        #expect(commands?.count == 1 && commands?.first?["entry"] as? Int == 2)
        #expect((commands?.first?["command"] as? String)?.contains("/users/2") == true)
        let none = try await waylay("har", "to-curl", "/./a.har", "--url", "nowhere")
        #expect(none.code == 1 && none.errors.contains("(of 2)"), "\(none)")
      }
    }

    @Test("a file beside the archive that is no attachment of Playwright's is shown and written by no command")
    func attachments() async throws {
      try await Tool.with { waylay in
        let name = "b1946ac92492d2347c6235b4d2611184e1b35c0a.json"
        for (name, text) in [(name, #"{"good":1}"#), (".env", #"{"DATABASE":"pl4nted"}"#)] {
          try waylay.write(text, to: name)
        }
        let entries = [name, ".env"].map {
          #"{"request":{"method":"POST","url":"https://a.test/","postData":{"mimeType":"application/json","_file":"\#($0)"}},"#
            + #""response":{"status":200,"content":{"size":9,"mimeType":"application/json","_file":"\#($0)"}}}"#
        }
        try waylay.write(#"{"log":{"entries":[\#(entries.joined(separator: ","))]}}"#, to: "a.har")
        try waylay.write(#"{"log":{"entries":[\#(entries[0])]}}"#, to: "old.har")
        try waylay.write(
          ["export_har", "get_request", "compare"].map { tool -> String in
            let old = waylay.file("old.har").path
            let arguments = tool == "compare" ? #"{"file":"\#(old)"}"# : tool == "export_har" ? "{}" : #"{"id":2}"#
            return #"{"jsonrpc":"2.0","id":1,"method":"tools/call","#
              + #""params":{"name":"\#(tool)","arguments":\#(arguments)}}"# + "\n"
          }.joined(), to: "in")
        let commands = ["har redact $f -o -", "har to-stubs $f", "har to-curl $f", "har diff old.har $f", "mcp $f <in"]
        for command in commands {
          let end = try await waylay.shell(#"cd "$1"; f=a.har; "$0" "# + command, waylay.folder.path)
          #expect(!(end.output + end.errors).contains("DATABASE"), "\(command): \(end)")
          #expect(end.output.contains("good") || command.contains("diff"), "\(command): \(end)")
        }
        try waylay.write(
          #"{"log":{"entries":[\#(entries[1].replacing("POST", with: "GET").replacing("postData", with: "_postData"))]}}"#,
          to: "cassette.har")
        let registry = InterceptorRegistry { Cassette(waylay.file("cassette.har").path, mode: .none) }
        defer { registry.invalidate() }
        let url = try #require(URL(string: "https://a.test/"))
        await #expect(throws: URLError.self) { try await registry.data(for: URLRequest(url: url)) }
      }
    }

    @Test("two recordings are compared by shape, with an exit status")
    func diff() async throws {
      try await Tool.with { waylay in
        try Self.archive([Self.entry(1)]).write(to: waylay.file("old.har"))
        try Self.archive([Self.entry(1, body: #"{"id":7,"access_token":"other"}"#)]).write(to: waylay.file("same.har"))
        try Self.archive([Self.entry(1, body: #"{"id":"7","access_token":null,"new":1}"#)]).write(
          to: waylay.file("new.har"))
        let same = try await waylay("har", "diff", "/./old.har", "/./same.har", "--strict")
        #expect(same.code == 0 && same.output.isEmpty, "\(same)")
        let changed = try await waylay("har", "diff", "/./old.har", "/./new.har")
        #expect(changed.code == 1, "\(changed)")
        #expect(
          changed.output.hasPrefix("error  POST https://api.example.com/users/1  $.id is string, was number\n"),
          "\(changed)")
        #expect(!(changed.output + changed.errors).contains(Self.secret), "\(changed)")
        let json = try await waylay("har", "diff", "/./old.har", "/./new.har", "--json")
        #expect(json.json["count"] as? Int == 3, "\(json)")
        try Self.archive([Self.entry(1, body: #"{"id":7,"access_token":"x","new":1}"#)]).write(
          to: waylay.file("note.har"))
        #expect(try await waylay("har", "diff", "/./old.har", "/./note.har").code == 0)
        #expect(try await waylay("har", "diff", "/./old.har", "/./note.har", "--strict").code == 1)
        try waylay.write("x", to: "nonsense.har")
        for name in ["nowhere.har", "nonsense.har"] {
          let end = try await waylay("har", "diff", "/./old.har", "/./\(name)")
          #expect(end.code == 4 && end.errors.contains(name), "\(end)")
        }
      }
    }

    @Test(
      "an archive of any size is read with the memory of an entry",
      .enabled(if: Process.measuresMemory, "what is resident is read from /proc"))
    func large() async throws {
      try await Tool.with { waylay in
        let megabytes = ProcessInfo.processInfo.environment["WAYLAY_TOOL_MEGABYTES"].flatMap(Int.init)
        let count = megabytes.map { 100 * $0 } ?? 24
        for (name, count) in [("small", count / 4), ("large", count)] {
          var writer = try HARWriter(waylay.file("\(name).har"))
          for number in 1...count {
            let text = String(repeating: "0123456789abcdef ", count: 600)
            try writer.append(Self.entry(number, body: #"{"access_token":"token-\#(number)","text":"\#(text)"}"#))
          }
          try writer.finish()
        }
        // The most memory that the command took, by the last of at least ten looks at it.
        let script = #"""
          n=0
          while [ $n -lt 10 ]; do
            "$0" "$@" >/dev/null & n=0
            while now=$(grep VmHWM /proc/$!/status 2>/dev/null); do n=$((n + 1)) last=$now; done
            wait $! || exit
          done
          echo $last
          """#
        for command in [
          ["redact", "--force", "-o", "/./out.har"], ["to-curl"], ["to-stubs"], ["diff", "/./small.har"],
        ] {
          var peaks: [Int] = []
          for name in ["small", "large"] {
            let arguments = ["-c", script, Program("waylay").path, "har"] + command + ["/./\(name).har"]
            let end = try await waylay.run(arguments, by: Program(path: "/bin/bash"))
            #expect(end.code == 0, "\(end)")
            peaks.append(end.output.split(separator: " ").compactMap { Int($0) }.last ?? 0)
          }
          #expect(peaks[0] > 0 && peaks[1] - peaks[0] < 3 << 10, "\(command): \(peaks) KiB")
        }
      }
    }
  }
#endif
