#if StructuredFields
  import Foundation
  import HTTPTypes
  import TestSupport
  import Testing
  @testable import WaylayArchive
  import WaylayCore

  private let noVarySearch = HTTPField.Name("No-Vary-Search")!
  private let groups = HTTPField.Name("Cache-Groups")!
  private let invalidation = HTTPField.Name("Cache-Group-Invalidation")!

  /// Requests in order, and whether each has to reach the origin.
  ///
  /// Every case is run a second time with a cache that ignores what its text adds, and has to come out otherwise there:
  /// else it proves nothing.
  struct IgnoredFieldCase: Sendable, CustomTestStringConvertible {
    struct Step: Sendable {
      /// The method, the URL, and the content behind another blank.
      var request: String
      var fields: HTTPFields
      var isAsked: Bool
      var status = HTTPResponse.Status.ok
      var reply: HTTPFields = [:]

      static func asks(
        _ request: String, _ reply: HTTPFields = [:], status: HTTPResponse.Status = .ok, with fields: HTTPFields = [:]
      ) -> Self {
        Self(request: request, fields: fields, isAsked: true, status: status, reply: reply)
      }

      static func reuses(_ request: String, with fields: HTTPFields = [:]) -> Self {
        Self(request: request, fields: fields, isAsked: false)
      }
    }

    let title: String
    let steps: [Step]
    var testDescription: String { title }

    init(_ title: String, _ steps: Step...) {
      self.title = title
      self.steps = steps
    }

    /// What a cache makes of the texts.
    enum Cache: CaseIterable {
      case whole
      /// It does not see the response's fields.
      case withoutFields
      /// `QUERY` is a method like any that it does not know.
      case withoutQuery
      /// `QUERY` is a `GET`: the URL is the key.
      case byURLAlone
    }

    /// Which of the requests reach the origin.
    func asked(by cache: Cache) async throws -> [Bool] {
      let archive = ArchiveCache()
      var asked: [Bool] = []
      for step in steps {
        let parts = step.request.split(separator: " ", maxSplits: 2).map(String.init)
        let url = try #require(URL(string: parts[1].hasPrefix("/") ? "http://example.com" + parts[1] : parts[1]))
        let isQuery = parts[0] == "QUERY"
        let method = isQuery && cache == .byURLAlone ? "GET" : isQuery && cache == .withoutQuery ? "ASK" : parts[0]
        let request = InterceptedRequest(
          try #require(HTTPRequest.Method(method)), url, fields: step.fields,
          body: parts.count > 2 && method != "GET" ? .text(parts[2]) : .empty)
        let script = ScriptedNext()
        let fields: HTTPFields = [.cacheControl: "max-age=1000"]
        script.answers("text", status: step.status, cache == .withoutFields ? fields : fields + step.reply)
        let response = try await archive.startLoading(request, next: script.next)
        _ = try await response.body.collect(upTo: 100)
        asked.append(!script.asked.isEmpty)
      }
      return asked
    }
  }

  @Suite("QUERY, No-Vary-Search and cache groups, beside caches that ignore them", .timeLimit(.minutes(5)))
  struct IgnoredFieldTests {
    private func check(_ example: IgnoredFieldCase, against ignorant: [IgnoredFieldCase.Cache]) async throws {
      let expected = example.steps.map(\.isAsked)
      #expect(try await example.asked(by: .whole) == expected)
      var isShown = false
      for cache in ignorant where try await example.asked(by: cache) != expected { isShown = true }
      #expect(isShown, "a cache that ignores the text passes, too")
    }

    @Test("QUERY (RFC 10008)", arguments: Self.queries)
    func query(_ example: IgnoredFieldCase) async throws {
      try await check(example, against: [.withoutQuery, .byURLAlone])
    }

    @Test("No-Vary-Search", arguments: Self.searches)
    func search(_ example: IgnoredFieldCase) async throws { try await check(example, against: [.withoutFields]) }

    @Test("Cache groups (RFC 9875)", arguments: Self.grouped)
    func group(_ example: IgnoredFieldCase) async throws { try await check(example, against: [.withoutFields]) }

    private static let queries: [IgnoredFieldCase] = [
      .init("the same content is the same request", .asks("QUERY /q cats"), .reuses("QUERY /q cats")),
      .init("another content is another", .asks("QUERY /q cats"), .asks("QUERY /q dogs"), .reuses("QUERY /q cats")),
      .init("letter case counts", .asks("QUERY /q cats"), .asks("QUERY /q Cats")),
      .init("white space counts", .asks("QUERY /q a b"), .asks("QUERY /q a  b")),
      .init("no content is a content", .asks("QUERY /q"), .asks("QUERY /q cats"), .reuses("QUERY /q")),
      .init("the URL counts as well", .asks("QUERY /q cats"), .asks("QUERY /r cats"), .reuses("QUERY /q cats")),
      .init("its query too", .asks("QUERY /q?a cats"), .asks("QUERY /q?b cats"), .reuses("QUERY /q?a cats")),
      .init(
        "the media type counts", .asks("QUERY /q cats", with: [.contentType: "text/x"]),
        .asks("QUERY /q cats", with: [.contentType: "text/y"]),
        .reuses("QUERY /q cats", with: [.contentType: "text/x"])),
      .init(
        "the coding counts", .asks("QUERY /q cats", with: [.contentEncoding: "a"]),
        .asks("QUERY /q cats", with: [.contentEncoding: "b"]), .asks("QUERY /q cats")),
      .init(
        "the language counts", .asks("QUERY /q cats", with: [.contentLanguage: "de"]),
        .asks("QUERY /q cats", with: [.contentLanguage: "en"])),
      .init("it answers no GET", .asks("QUERY /q cats"), .asks("GET /q"), .reuses("GET /q")),
      .init("it answers no HEAD", .asks("QUERY /q cats"), .asks("HEAD /q")),
      .init("a GET does not answer it", .asks("GET /q"), .asks("QUERY /q cats"), .reuses("QUERY /q cats")),
      .init(
        "a POST of the same content does not, and invalidates it", .asks("QUERY /q cats"), .reuses("QUERY /q cats"),
        .asks("POST /q cats"), .asks("QUERY /q cats")),
      .init("it is safe", .asks("GET /q"), .asks("QUERY /q cats"), .reuses("GET /q")),
      .init(
        "a PUT invalidates all contents", .asks("QUERY /q cats"), .asks("QUERY /q dogs"), .asks("PUT /q x"),
        .asks("QUERY /q cats"), .asks("QUERY /q dogs")),
      .init(
        "a PUT of another URL does not", .asks("QUERY /q cats"), .asks("PUT /r x"), .reuses("QUERY /q cats")),
      .init(
        "Content-Location of an unsafe request names it", .asks("QUERY /q cats"), .reuses("QUERY /q cats"),
        .asks("POST /r x", [.contentLocation: "/q"]), .asks("QUERY /q cats")),
      .init(
        "Vary tells variants of one content apart",
        .asks("QUERY /q cats", [.vary: "Accept-Language"], with: [.acceptLanguage: "de"]),
        .asks("QUERY /q cats", [.vary: "Accept-Language"], with: [.acceptLanguage: "en"]),
        .reuses("QUERY /q cats", with: [.acceptLanguage: "de"])),
      .init(
        "credentials tell users apart", .asks("QUERY /q cats", with: [.authorization: "Bearer a"]),
        .asks("QUERY /q cats", with: [.authorization: "Bearer b"]),
        .reuses("QUERY /q cats", with: [.authorization: "Bearer a"])),
    ]

    private static func search(_ field: String, vary: String? = nil) -> HTTPFields {
      fields(noVarySearch, field, vary)
    }

    private static func fields(_ name: HTTPField.Name, _ value: String, _ vary: String?) -> HTTPFields {
      var fields: HTTPFields = [name: value]
      fields[.vary] = vary
      return fields
    }

    private static let searches: [IgnoredFieldCase] = [
      .init(
        "params: the named ones", .asks("GET /s?q=1&utm=a", search("params=(\"utm\")")), .reuses("GET /s?q=1&utm=b"),
        .asks("GET /s?q=2&utm=a")),
      .init(
        "params: one that is missing", .asks("GET /s?q=1&utm=a", search("params=(\"utm\")")), .reuses("GET /s?q=1"),
        .asks("GET /s")),
      .init("params: all", .asks("GET /s?a=1", search("params")), .reuses("GET /s?b=2"), .reuses("GET /s")),
      .init("params: all, said with a value", .asks("GET /s?a=1", search("params=?1")), .reuses("GET /s?b=2")),
      .init(
        "except: all but the named ones", .asks("GET /s?q=1&a", search("params, except=(\"q\")")),
        .reuses("GET /s?q=1&b"), .asks("GET /s?q=2&a")),
      .init(
        "key-order", .asks("GET /s?a=1&b=2", search("key-order")), .reuses("GET /s?b=2&a=1"), .asks("GET /s?b=2&a=2")),
      .init(
        "key-order keeps the order of one name", .asks("GET /s?a=1&b&a=2", search("key-order")),
        .reuses("GET /s?b&a=1&a=2"), .asks("GET /s?a=2&a=1&b")),
      .init(
        "without key-order the order counts", .asks("GET /s?a=1&b=2&u=1", search("params=(\"u\")")),
        .reuses("GET /s?a=1&b=2"), .asks("GET /s?b=2&a=1")),
      .init(
        "both at once", .asks("GET /s?a=1&b=2&u=1", search("key-order, params=(\"u\")")), .reuses("GET /s?b=2&a=1&u=2")),
      .init(
        "names are compared decoded", .asks("GET /s?u%20v=1", search("params=(\"u+v\")")), .reuses("GET /s?u+v=2")),
      .init(
        "letter case of names counts", .asks("GET /s?u=1", search("params=(\"u\")")), .reuses("GET /s?u=2"),
        .asks("GET /s?U=1")),
      .init(
        "unknown members and parameters are passed over", .asks("GET /s?u=1", search("params=(\"u\";x);y, z=1")),
        .reuses("GET /s?u=2")),
      .init(
        "a value that cannot be read excuses nothing, and what was said before still holds",
        .asks("GET /s?u=1", search("params=(\"u\")")), .asks("GET /t?u=1", search("params=(u)")),
        .asks("GET /t?u=2"), .reuses("GET /s?u=2")),
      .init(
        "other paths and hosts are others", .asks("GET /s?u=1", search("params")), .asks("GET /t?u=1"),
        .asks("GET http://www.example.com/s?u=1"), .reuses("GET /s?u=2")),
      .init("HEAD shares it too", .asks("GET /s?u=1", search("params")), .reuses("HEAD /s?u=2")),
      .init(
        "Vary counts beside it",
        .asks("GET /s?u=1", search("params", vary: "Accept"), with: [.accept: "a"]),
        .asks("GET /s?u=2", search("params", vary: "Accept"), with: [.accept: "b"]),
        .reuses("GET /s?u=3", with: [.accept: "a"]), .reuses("GET /s?u=3", with: [.accept: "b"]),
        .asks("GET /s?u=3", with: [.accept: "c"])),
      .init(
        "credentials count beside it", .asks("GET /s?u=1", search("params"), with: [.authorization: "a"]),
        .reuses("GET /s?u=2", with: [.authorization: "a"]), .asks("GET /s?u=2", with: [.authorization: "b"])),
      .init(
        "an unsafe request of one URL is one of all that share the response",
        .asks("GET /s?q=1&u=1", search("params=(\"u\")")), .asks("GET /s?q=2&u=1", search("params=(\"u\")")),
        .asks("PUT /s?q=1&u=2 x"), .asks("GET /s?q=1&u=3", search("params=(\"u\")")), .reuses("GET /s?q=2&u=3")),
      .init(
        "… and so is a Location", .asks("GET /s?u=1", search("params")), .reuses("GET /s?u=2"),
        .asks("POST /r x", [.location: "/s?u=3"]), .asks("GET /s?u=1")),
      .init(
        "a QUERY shares it by its content", .asks("QUERY /s?u=1 cats", search("params")),
        .reuses("QUERY /s?u=2 cats"), .asks("QUERY /s?u=2 dogs")),
    ]

    private static func of(_ field: String, vary: String? = nil) -> HTTPFields { fields(groups, field, vary) }
    private static func ends(_ field: String) -> HTTPFields { [invalidation: field] }

    private static let grouped: [IgnoredFieldCase] = [
      .init(
        "the named group", .asks("GET /a", of("\"g\"")), .asks("GET /b", of("\"h\"")),
        .asks("POST /c x", ends("\"g\"")),
        .asks("GET /a"), .reuses("GET /b")),
      .init(
        "any of several", .asks("GET /a", of("\"g\", \"h\"")), .asks("POST /c x", ends("\"x\", \"h\"")), .asks("GET /a")
      ),
      .init("by PUT", .asks("GET /a", of("\"g\"")), .asks("PUT /c x", ends("\"g\"")), .asks("GET /a")),
      .init("by DELETE", .asks("GET /a", of("\"g\"")), .asks("DELETE /c", ends("\"g\"")), .asks("GET /a")),
      .init("by PATCH", .asks("GET /a", of("\"g\"")), .asks("PATCH /c x", ends("\"g\"")), .asks("GET /a")),
      .init(
        "by a method that nobody knows", .asks("GET /a", of("\"g\"")), .asks("ASK /c", ends("\"g\"")), .asks("GET /a")),
      .init(
        "by an error", .asks("GET /a", of("\"g\"")), .asks("POST /c x", ends("\"g\""), status: .conflict),
        .asks("GET /a")),
      .init(
        "not by GET, HEAD, OPTIONS or QUERY", .asks("GET /a", of("\"g\"")), .asks("GET /c", ends("\"g\"")),
        .asks("HEAD /d", ends("\"g\"")), .asks("OPTIONS /c", ends("\"g\"")), .asks("QUERY /c x", ends("\"g\"")),
        .reuses("GET /a"), .asks("POST /c x", ends("\"g\"")), .asks("GET /a")),
      .init(
        "of the same origin only", .asks("GET /a", of("\"g\"")), .asks("GET https://example.com/a", of("\"g\"")),
        .asks("GET http://example.com:81/a", of("\"g\"")), .asks("GET http://www.example.com/a", of("\"g\"")),
        .asks("POST http://EXAMPLE.com:80/c x", ends("\"g\"")), .reuses("GET https://example.com/a"),
        .reuses("GET http://example.com:81/a"), .reuses("GET http://www.example.com/a"), .asks("GET /a")),
      .init(
        "letter case counts", .asks("GET /a", of("\"g\"")), .asks("POST /c x", ends("\"G\"")), .reuses("GET /a"),
        .asks("POST /c x", ends("\"g\"")), .asks("GET /a")),
      .init(
        "parameters are passed over", .asks("GET /a", of("\"g\";x=1")), .asks("POST /c x", ends("\"g\";y")),
        .asks("GET /a")),
      .init(
        "what is no list of strings is passed over", .asks("GET /a", of("\"g\"")), .asks("POST /c x", ends("g, \"g\"")),
        .asks("POST /c x", ends("\"g")), .reuses("GET /a"), .asks("POST /c x", ends("\"g\"")), .asks("GET /a")),
      .init(
        "with what an unsafe request changes, its groups go", .asks("GET /a", of("\"g\"")),
        .asks("GET /b", of("\"g\"")),
        .asks("PUT /a x"), .asks("GET /b")),
      .init(
        "… and no further", .asks("GET /a", of("\"g\"")), .asks("GET /b", of("\"g\", \"h\"")),
        .asks("GET /c", of("\"h\"")),
        .asks("PUT /a x"), .reuses("GET /c"), .asks("GET /b")),
      .init(
        "of all users", .asks("GET /a", of("\"g\""), with: [.authorization: "a"]),
        .asks("GET /a", of("\"g\""), with: [.authorization: "b"]),
        .asks("POST /c x", ends("\"g\""), with: [.authorization: "a"]), .asks("GET /a", with: [.authorization: "b"])),
      .init(
        "of all variants", .asks("GET /a", of("\"g\"", vary: "Accept"), with: [.accept: "a"]),
        .asks("GET /a", of("\"g\"", vary: "Accept"), with: [.accept: "b"]), .asks("POST /c x", ends("\"g\"")),
        .asks("GET /a", with: [.accept: "a"]), .asks("GET /a", with: [.accept: "b"])),
      .init(
        "an answer to QUERY may be in one", .asks("QUERY /q cats", of("\"g\"")), .asks("POST /c x", ends("\"g\"")),
        .asks("QUERY /q cats")),
      .init(
        "an error may be in one", .asks("GET /a", of("\"g\""), status: .notFound), .asks("POST /c x", ends("\"g\"")),
        .asks("GET /a")),
    ]
  }
#endif
