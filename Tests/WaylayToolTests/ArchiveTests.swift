#if CommandLineTool
  import Crypto
  import Foundation
  import TestOrigin
  import TestSupport
  import Testing
  import WaylayArchive
  import WaylayCore

  /// `waylay archive`.
  @Suite("waylay archive", .heavy, .timeLimit(.minutes(10)))
  struct ArchiveCommandTests {
    /// An archive with three responses in the tool's folder.
    private func filled(_ key: Data? = nil, _ body: (Tool, TestOrigin) async throws -> Void) async throws {
      try await withOrigin { origin in
        origin.reply(to: "/fresh") { _ in
          Reply.text("fresh text", fields: [("Cache-Control", "max-age=600"), ("X-A", "b")])
        }
        origin.reply(to: "/stale") { _ in
          Reply.text("stale text", fields: [("Cache-Control", "max-age=0"), ("ETag", "\"1\"")])
        }
        origin.reply(to: "/large") { _ in
          Reply(
            200, [("Content-Type", "image/png"), ("Cache-Control", "max-age=600")],
            .whole(Data(repeating: 7, count: 400_000)))
        }
        try await Tool.with { waylay in
          var options = DiskStore.Options()
          if let key { options.encryptionKey = { SymmetricKey(data: key) } }
          let archive = ArchiveCache(store: try DiskStore(at: waylay.file("archive"), options: options))
          let registry = InterceptorRegistry { archive }
          for path in ["/fresh", "/stale", "/large"] {
            _ = try await registry.data(for: URLRequest(url: origin.url(path)))
          }
          registry.invalidate()
          await archive.close()
          try await body(waylay, origin)
        }
      }
    }

    @Test("ls and show say what is stored, explain what would be done with it and why; none of them changes a byte")
    func reading() async throws {
      try await filled { waylay, origin in
        let before = try Self.bytes(waylay.file("archive"))
        let list = try await waylay("archive", "ls", "/./archive")
        #expect(list.code == 0 && list.output.contains("/fresh") && list.output.contains("3 entries, "), "\(list)")
        let json = try await waylay(
          "archive", "ls", "/./archive", "--json", "--prefix", origin.url("/f").absoluteString
        )
        .json
        let entries = json["entries"] as? [[String: Any]] ?? []
        #expect(
          json["count"] as? Int == 1 && entries.first?["isFresh"] as? Bool == true
            && entries.first?["bytes"] as? Int == 10, "\(json)")
        let show = try await waylay("archive", "show", "/./archive", origin.url("/fresh").absoluteString)
        #expect(show.code == 0 && show.output.contains("X-A: b") && show.output.contains("600 s"), "\(show)")
        let body = try await waylay(
          "archive", "show", "/./archive", origin.url("/large").absoluteString, "--body", "-o", "/./picture")
        #expect(
          try body.code == 0 && (Data(contentsOf: waylay.file("picture"))) == Data(repeating: 7, count: 400_000),
          "\(body)")
        #expect(try await waylay("archive", "show", "/./archive", "https://example.com/none").code == 1)
        let fresh = try await waylay("archive", "explain", "/./archive", origin.url("/fresh").absoluteString)
        #expect(fresh.code == 0 && fresh.output.contains("answer from the archive"), "\(fresh)")
        let stale = try await waylay("archive", "explain", "/./archive", origin.url("/stale").absoluteString, "--json")
          .json
        let rows = (stale["rows"] as? [[String: String]] ?? []).reduce(into: [:]) { $0[$1["name"]] = $1["text"] }
        #expect(rows["decision"] == "validate the stored response" && rows["reason"] != nil, "\(stale)")
        let offline = try await waylay(
          "archive", "explain", "/./archive", origin.url("/none").absoluteString, "--mode", "offline")
        #expect(offline.output.contains("fail: no network allowed"), "\(offline)")
        let verified = try await waylay("archive", "verify", "/./archive")
        #expect(verified.code == 0 && verified.output.contains("all as stored"), "\(verified)")
        #expect(try Self.bytes(waylay.file("archive")) == before)
      }
    }

    @Test(
      "works beside an app that has the archive open, which finds no more what rm removes; makes none where there is none"
    )
    func beside() async throws {
      try await filled { waylay, origin in
        let store = try DiskStore(at: waylay.file("archive"))
        #expect(try await waylay("archive", "ls", "/./archive").output.contains("3 entries"))
        let removed = try await waylay("archive", "rm", "/./archive", origin.url("/fresh").absoluteString, "--json")
        #expect(removed.code == 0 && removed.json["removed"] as? Int == 1, "\(removed)")
        #expect(try await store.list().count == 2)
        await store.close()
        for words in [["ls", "/./none"], ["verify", "/./none"], ["rm", "/./none", "--all"]] {
          let end = try await waylay.run(["archive"] + words)
          #expect(
            end.code == 4 && !FileManager.default.fileExists(atPath: waylay.file("none").path), "\(words): \(end)")
        }
        // A folder of somebody else's.
        try FileManager.default.createDirectory(at: waylay.file("other"), withIntermediateDirectories: true)
        try waylay.write("x", to: "other/file")
        #expect(try await waylay("archive", "ls", "/./other").code == 4)
      }
    }

    @Test("rm removes what it is told to, and nothing unasked")
    func removing() async throws {
      try await filled { waylay, origin in
        #expect(try await waylay("archive", "rm", "/./archive").code == 64)
        #expect(try await waylay("archive", "rm", "/./archive", "--all", "--host", "a").code == 64)
        let one = try await waylay("archive", "rm", "/./archive", "--url", origin.url("/fresh").absoluteString)
        #expect(one.code == 0 && one.output == "1 removed.\n", "\(one)")
        #expect(try await waylay("archive", "rm", "/./archive", "--host", "example.com").code == 1)
        #expect(try await waylay("archive", "ls", "/./archive", "--json").json["count"] as? Int == 2)
        #expect(try await waylay("archive", "rm", "/./archive", "--all", "--json").json["removed"] as? Int == 2)
      }
    }

    @Test("an encrypted archive is read with a key from a file or from the environment")
    func encrypted() async throws {
      let key = Data((0..<32).map { UInt8($0) })
      try await filled(key) { waylay, _ in
        try key.write(to: waylay.file("key"))
        try waylay.write("short", to: "bad.key")
        let closed = try await waylay("archive", "ls", "/./archive")
        #expect(closed.code == 4 && closed.errors.contains("encrypted"), "\(closed)")
        #expect(try await waylay("archive", "ls", "/./archive", "--key-file", "/./key").output.contains("3 entries"))
        let environment = ["WAYLAY_ARCHIVE_KEY": key.base64EncodedString()]
        #expect(try await waylay("archive", "ls", "/./archive", environment: environment).output.contains("3 entries"))
        #expect(try await waylay("archive", "ls", "/./archive", "--key-file", "/./bad.key").code == 4)
      }
    }

    @Test("verify finds every byte that was changed")
    func damaged() async throws {
      try await filled { waylay, _ in
        let files = try FileManager.default.subpathsOfDirectory(atPath: waylay.file("archive/bodies").path).map {
          waylay.file("archive/bodies/\($0)")
        }
        let largest = try #require(files.max { Self.size($0) < Self.size($1) })
        var bytes = try Data(contentsOf: largest)
        bytes[bytes.count - 5] ^= 0xFF
        try bytes.write(to: largest)
        let end = try await waylay("archive", "verify", "/./archive", "--json")
        #expect(end.code == 1 && (end.json["problems"] as? [Any])?.count == 1, "\(end)")
      }
    }

    @Test("verify does not call an entry as stored that it could not read")
    func unreadable() async throws {
      try await filled { waylay, _ in
        let files = try FileManager.default.subpathsOfDirectory(atPath: waylay.file("archive/bodies").path).map {
          waylay.file("archive/bodies/\($0)")
        }
        let largest = try #require(files.max { Self.size($0) < Self.size($1) })
        // What can be opened and not read, also by the system's user.
        try FileManager.default.removeItem(at: largest)
        try FileManager.default.createDirectory(at: largest, withIntermediateDirectories: false)
        let end = try await waylay("archive", "verify", "/./archive")
        #expect(end.code == 1 && !end.output.contains("all as stored"), "\(end)")
      }
    }

    @Test("a body is shown to a terminal without what it would act on, and written as it is elsewhere")
    func escapes() async throws {
      let line = "\u{1B}[2J\u{1B}]0;title\u{7} 0\u{9B}31m\u{202E}abc\u{200F}\rover\r\n\tüber 😀 end\r\n"
      // Chunks of the store end within characters and within the ends of lines.
      let body = String(repeating: line, count: 20_000)
      try await withOrigin { origin in
        origin.reply(to: "/text") { _ in Reply.text(body, fields: [("Cache-Control", "max-age=600")]) }
        try await Tool.with { waylay in
          let archive = ArchiveCache(store: try DiskStore(at: waylay.file("archive")))
          let registry = InterceptorRegistry { archive }
          let url = origin.url("/text")
          _ = try await registry.data(for: URLRequest(url: url))
          registry.invalidate()
          await archive.close()
          let script = """
            command -v script >/dev/null || { echo "no script"; exit; }
            script -qec "'$0' archive show '$1' '$2' --body" /dev/null
            """
          let shown = try await waylay.shell(script, "/./archive", url.absoluteString)
          if shown.output.hasPrefix("no script") {
            print("no script: there is no terminal to look at")
          } else {
            let mark = "\u{FFFD}"
            let expected = "\(mark)[2J\(mark)]0;title\(mark) 0\(mark)31m\(mark)abc\(mark)\(mark)over\n\tüber 😀 end\n"
            #expect(shown.output.replacing("\r\n", with: "\n") == String(repeating: expected, count: 20_000))
          }
          #expect(try await waylay("archive", "show", "/./archive", url.absoluteString, "--body").output == body)
        }
      }
    }

    private static func size(_ file: URL) -> Int {
      let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
      return attributes?[.type] as? FileAttributeType == .typeRegular ? attributes?[.size] as? Int ?? 0 : -1
    }

    /// What each file of a folder holds.
    private static func bytes(_ folder: URL) throws -> [String: Data] {
      try FileManager.default.subpathsOfDirectory(atPath: folder.path).reduce(into: [:]) { files, path in
        files[path] = (try? Data(contentsOf: folder.appendingPathComponent(path))) ?? Data()
      }
    }
  }
#endif
