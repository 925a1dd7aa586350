#if StructuredFields
  import Foundation
  import HTTPTypes
  import TestSupport
  import Testing
  @testable import WaylayArchive
  import WaylayCore

  /// An origin that answers with the query it saw, and a field that says what of it counts.
  private func origin(_ field: String, _ fields: HTTPFields = [.cacheControl: "max-age=1000"]) -> ScriptedNext {
    ScriptedNext { request in
      var fields = fields
      fields[noVarySearch] = field.isEmpty ? nil : field
      return InterceptedResponse(
        to: request, status: .ok, fields: fields, body: .text("for \(request.url.query ?? "none")"), source: .network)
    }
  }

  private let noVarySearch = HTTPField.Name("No-Vary-Search")!

  @Suite("URLs that share a response (No-Vary-Search)", .timeLimit(.minutes(5)))
  struct SharedQueryTests {
    private func get(
      _ query: String, _ archive: ArchiveCache, _ script: ScriptedNext, _ user: String? = nil
    ) async throws
      -> String
    {
      try await archive.load("http://example.com/s\(query)", script) {
        $0.setValue(user, forHTTPHeaderField: "Authorization")
      }.text
    }

    @Test("the parameters that a response excuses share an entry; a cache that ignored the field would ask again")
    func shared() async throws {
      let archive = ArchiveCache()
      let script = origin("params=(\"utm\")")
      #expect(try await get("?q=1&utm=a", archive, script) == "for q=1&utm=a")
      for query in ["?q=1&utm=b", "?q=1", "?utm=c&q=1&utm", "?q=%31"] {
        #expect(try await get(query, archive, script) == "for q=1&utm=a", "\(query)")
      }
      #expect(script.asked.count == 1)
      for query in ["?q=2&utm=a", "?q=1&x=1", ""] {
        #expect(try await get(query, archive, script) == "for \(query.isEmpty ? "none" : String(query.dropFirst()))")
      }
    }

    @Test(
      "without the field, and with one that cannot be read, every query is its own",
      arguments: ["", "params=(a)", "except=()"])
    func notShared(_ field: String) async throws {
      let archive = ArchiveCache()
      let script = origin(field)
      for query in ["utm=a", "utm=b", "utm=a"] {
        #expect(try await get("?" + query, archive, script) == "for \(query)")
      }
      #expect(script.asked.count == 2)
      #expect(try await archive.usage.count == 2)
    }

    @Test("what is removed by age, or by the limit of a part, leaves what is needed to find the others")
    func notes() async throws {
      let wall = Wall()
      for isByAge in [true, false] {
        let archive = ArchiveCache {
          $0.now = { wall.now }
          if !isByAge { $0.quotas = [.host("example.com", bytes: 4000)] }
        }
        let script = origin("params=(\"utm\")")
        _ = try await get("?q=1&utm=a", archive, script)
        wall.advance(by: 100)
        for query in 2...20 { _ = try await get("?q=\(query)&utm=a", archive, script) }
        if isByAge { try await archive.removeAll(.stored(before: wall.now.date)) }
        while try await archive.usage.bytes > 5000, !isByAge { await Task.yield() }
        let asked = script.asked.count
        #expect(try await get("?q=20&utm=b", archive, script) == "for q=20&utm=a")
        #expect(script.asked.count == asked)
        await archive.close()
      }
    }

    @Test("it lasts: after opening again, offline, with hidden query values", arguments: [true, false])
    func lasting(_ keepsQueryValues: Bool) async throws {
      try await withDirectory { directory in
        let script = origin("key-order, params, except=(\"q\" \"p\")")
        let first = ArchiveCache(at: directory) { $0.keepsQueryValues = keepsQueryValues }
        try await first.waitUntilOpen()
        _ = try await get("?q=1&p=2&utm=a", first, script)
        await first.close()
        let second = ArchiveCache(at: directory) { $0.keepsQueryValues = keepsQueryValues }
        second.mode = .offline
        try await second.waitUntilOpen()
        #expect(try await get("?p=2&q=1&utm=z", second, script) == "for q=1&p=2&utm=a")
        let error = await failure { try await get("?p=2&q=2", second, script) }
        #expect(cause(error)?.code == .notStored)
        #expect(try await second.entries().count == 1)
        await second.close()
      }
    }

    @Test("other users, key rules and the app's own keys stay what they are")
    func kept() async throws {
      let archive = ArchiveCache()
      let script = origin("params")
      #expect(try await get("?a", archive, script, "Bearer ada") == "for a")
      #expect(try await get("?b", archive, script, "Bearer bob") == "for b")
      #expect(try await get("?c", archive, script) == "for c")
      #expect(try await get("?d", archive, script, "Bearer ada") == "for a")
      let own = ArchiveCache { $0.keyFor = { $0.url?.query } }
      #expect(try await get("?a", own, script) == "for a")
      #expect(try await get("?b", own, script) == "for b")
    }

    @Test("an origin that says less later is believed: by a response, and by a 304")
    func changed() async throws {
      let archive = ArchiveCache()
      let script = origin("params=(\"utm\" \"lang\")", [.cacheControl: "max-age=0", .eTag: "\"1\""])
      _ = try await get("?utm=1&lang=de", archive, script)
      script.answers(
        "", status: .notModified, [.cacheControl: "max-age=1000", .eTag: "\"1\"", noVarySearch: "params=(\"utm\")"])
      #expect(try await get("?utm=2&lang=de", archive, script) == "for utm=1&lang=de")
      script.answers("english", [.cacheControl: "max-age=1000"])
      #expect(try await get("?utm=2&lang=en", archive, script) == "english")
    }

    @Test("a change of one URL is one of all that share its response")
    func invalidated() async throws {
      let archive = ArchiveCache()
      let script = origin("params=(\"utm\")")
      _ = try await get("?q=1&utm=a", archive, script)
      _ = try await get("?q=2&utm=a", archive, script)
      _ = try await archive.load("http://example.com/s?q=1&utm=z", script) { $0.httpMethod = "PUT" }
      #expect(script.asked.count == 3)
      #expect(try await get("?q=1", archive, script) == "for q=1")
      #expect(try await get("?q=2", archive, script) == "for q=2&utm=a")
    }

    @Test("what is removed for a URL or a request is removed for those that share it")
    func removed() async throws {
      let script = origin("params=(\"utm\")")
      for byRequest in [true, false] {
        let archive = ArchiveCache()
        _ = try await get("?q=1&utm=a", archive, script)
        _ = try await get("?q=2&utm=a", archive, script)
        let url = try #require(URL(string: "http://example.com/s?q=1&utm=b"))
        #expect(try await archive.state(for: URLRequest(url: url)) == .fresh)
        #expect(try await archive.entries(.url(url)).map(\.url) == ["http://example.com/s?q=1&utm=a"])
        let count =
          byRequest ? try await archive.remove(for: URLRequest(url: url)) : try await archive.removeAll(.url(url))
        #expect(count == 1)
        #expect(try await archive.state(for: URLRequest(url: url)) == .none)
        #expect(try await archive.entries().count == 1)
      }
    }

    @Test("a later response for the same takes the place of the stored one")
    func replaced() async throws {
      let archive = ArchiveCache()
      let script = origin("params=(\"utm\")", [.cacheControl: "max-age=0"])
      for query in ["?q=1&utm=a", "?q=1&utm=b", "?q=1"] { _ = try await get(query, archive, script) }
      #expect(try await archive.entries().count == 1)
      archive.mode = .offline
      #expect(try await get("?q=1&utm=z", archive, script) == "for q=1")
    }

    @Test("each path remembers a few ways to say it")
    func several() async throws {
      let archive = ArchiveCache()
      for number in 0..<6 {
        let script = origin("params=(\"u\(number)\")")
        _ = try await get("?q=\(number)&u\(number)=1", archive, script)
        #expect(try await get("?q=\(number)&u\(number)=2", archive, script) == "for q=\(number)&u\(number)=1")
      }
    }
  }
#endif
