#if StructuredFields
  import Foundation
  import HTTPTypes
  import TestSupport
  import Testing
  @testable import WaylayArchive
  import WaylayCore

  @Suite("Cache groups (RFC 9875)", .timeLimit(.minutes(5)))
  struct CacheGroupTests {
    private static let groups = HTTPField.Name("Cache-Groups")!
    private static let invalidation = HTTPField.Name("Cache-Group-Invalidation")!

    private func stored(_ archive: ArchiveCache, _ groups: [String: String]) async throws {
      let script = ScriptedNext()
      for (url, field) in groups {
        script.answers("old", [.cacheControl: "max-age=1000", Self.groups: field])
        _ = try await archive.load(url, script)
      }
    }

    private func post(
      _ archive: ArchiveCache, _ field: String, status: HTTPResponse.Status = .ok, method: String = "POST",
      _ url: String = "http://example.com/change"
    ) async throws {
      let script = ScriptedNext()
      script.answers("", status: status, [Self.invalidation: field])
      _ = try await archive.load(url, script) { $0.httpMethod = method }
    }

    private func isReused(_ archive: ArchiveCache, _ url: String) async throws -> Bool {
      let script = ScriptedNext()
      script.answers("new", [.cacheControl: "no-store"])
      return try await archive.load(url, script).text == "old"
    }

    @Test(
      "a response to an unsafe request invalidates the groups that it names (section 3)",
      arguments: [
        ("\"a\"", "\"a\"", true), ("\"a\", \"b\"", "\"b\"", true), ("\"a\"", "\"x\", \"a\"", true),
        ("\"a\";p=1", "\"a\";q", true),
        ("\"a\"", "\"b\"", false), ("\"a\"", "\"A\"", false), ("\"a\"", "\"aa\"", false), ("\"a\"", "a", false),
        ("a", "\"a\"", false), ("\"a\"", "\"a\", b", false), ("(\"a\")", "\"a\"", false), ("\"a", "\"a\"", false),
        ("\"a\"", "", false), ("\"\"", "\"\"", true),
      ])
    func named(_ groups: String, _ field: String, _ isInvalidated: Bool) async throws {
      let archive = ArchiveCache()
      try await stored(archive, ["http://example.com/a": groups])
      try await post(archive, field)
      #expect(try await isReused(archive, "http://example.com/a") != isInvalidated)
    }

    @Test(
      "of the same origin only (section 2.1)",
      arguments: ["https://example.com/a", "http://example.com:81/a", "http://www.example.com/a"])
    func otherOrigin(_ url: String) async throws {
      let archive = ArchiveCache()
      try await stored(archive, [url: "\"a\"", "http://EXAMPLE.com:80/b": "\"a\""])
      try await post(archive, "\"a\"")
      #expect(try await isReused(archive, url))
      #expect(try await !isReused(archive, "http://example.com/b"))
    }

    @Test("not by a safe request (section 3)", arguments: ["GET", "HEAD", "OPTIONS", "QUERY"])
    func safe(_ method: String) async throws {
      let archive = ArchiveCache()
      try await stored(archive, ["http://example.com/a": "\"a\""])
      try await post(archive, "\"a\"", method: method)
      #expect(try await isReused(archive, "http://example.com/a"))
    }

    @Test(
      "also with an error, because the origin says so itself",
      arguments: [HTTPResponse.Status.conflict, .internalServerError])
    func error(_ status: HTTPResponse.Status) async throws {
      let archive = ArchiveCache()
      try await stored(archive, ["http://example.com/a": "\"a\""])
      try await post(archive, "\"a\"", status: status)
      #expect(try await !isReused(archive, "http://example.com/a"))
    }

    @Test("what shares a group with an invalidated response goes with it, and drags nothing else along (section 2.2.1)")
    func cascade() async throws {
      let archive = ArchiveCache()
      try await stored(
        archive,
        ["http://example.com/a": "\"1\"", "http://example.com/b": "\"1\", \"2\"", "http://example.com/c": "\"2\""])
      try await post(archive, "", "http://example.com/a")
      #expect(try await !isReused(archive, "http://example.com/a"))
      #expect(try await !isReused(archive, "http://example.com/b"))
      #expect(try await isReused(archive, "http://example.com/c"))
    }

    @Test("at least 32 groups with 32 characters are supported (section 2)")
    func many() async throws {
      let names = (0..<32).map { "\"\(String(repeating: "g", count: 30))\($0 + 10)\"" }
      for name in [names[0], names[31]] {
        let archive = ArchiveCache()
        try await stored(archive, ["http://example.com/a": names.joined(separator: ", ")])
        try await post(archive, name)
        #expect(try await !isReused(archive, "http://example.com/a"))
      }
    }

    @Test("groups are no tags that an app sees, and a 304 may change them")
    func freshened() async throws {
      let archive = ArchiveCache { $0.willStore = { $0.tags.insert("mine") } }
      let script = ScriptedNext()
      script.answers("old", [.cacheControl: "max-age=0", .eTag: "\"1\"", Self.groups: "\"a\""])
      _ = try await archive.load(script)
      script.answers("", status: .notModified, [.cacheControl: "max-age=1000", .eTag: "\"1\"", Self.groups: "\"b\""])
      _ = try await archive.load(script)
      #expect(try await archive.entries().first?.tags == ["mine"])
      try await post(archive, "\"a\"")
      #expect(try await isReused(archive, "http://example.com/a"))
      try await post(archive, "\"b\"")
      #expect(try await !isReused(archive, "http://example.com/a"))
    }

    @Test("an answer of the group that was asked for before and comes after is not stored")
    func onItsWay() async throws {
      let archive = ArchiveCache()
      let latch = Latch()
      let slow = ScriptedNext { request in
        try await latch.wait()
        return InterceptedResponse(
          to: request, status: .ok, fields: [.cacheControl: "max-age=1000", Self.groups: "\"a\""], body: .text("old"),
          source: .network)
      }
      async let late = archive.load(slow).text
      await slow.wasAsked(1)
      try await post(archive, "\"a\"")
      latch.open()
      #expect(try await late == "old")
      #expect(try await archive.usage.count == 0)
    }
  }
#endif
