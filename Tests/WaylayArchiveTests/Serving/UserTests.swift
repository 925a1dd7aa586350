import Foundation
import HTTPTypes
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

/// A request with a cookie gets a page with its value on it.
private func page(_ control: String) -> @Sendable (TestOrigin.Request) -> Reply {
  { request in
    let cookie = request["Cookie"].first ?? "nobody"
    let fields = [("Cache-Control", control), ("ETag", "\"\(cookie.count)-\(cookie.hashValue)\"")]
    return request["If-None-Match"].contains(fields[1].1) ? Reply(304, fields) : .text("for \(cookie)", fields: fields)
  }
}

@Suite("Users never meet", .timeLimit(.minutes(5)))
struct UserTests {
  /// Two sessions of one archive, each with a cookie storage of its own.
  private func withTwo(
    _ configure: (inout ArchiveCache.Configuration) -> Void = { _ in },
    _ body: (Site, InterceptorRegistry, URLSession, URLSession) async throws -> Void
  ) async throws {
    try await withSite(configure) { (site: Site) async throws in
      func session(_ user: String) throws -> (InterceptorRegistry, URLSession) {
        let configuration = URLSessionConfiguration.ephemeral
        let cookie = HTTPCookie(properties: [
          .domain: site.origin.url("/").host ?? "", .path: "/", .name: "session", .value: user,
        ])
        configuration.httpCookieStorage?.setCookie(try #require(cookie))
        let registry = InterceptorRegistry(configuration: configuration) { [archive = site.archive] in archive }
        return (registry, URLSession(configuration: configuration.intercepted(by: registry)))
      }
      let (registry, alice) = try session("alice")
      let (other, bob) = try session("bob")
      try await body(site, registry, alice, bob)
      alice.invalidateAndCancel()
      bob.invalidateAndCancel()
      registry.invalidate()
      other.invalidate()
    }
  }

  private func text(_ session: URLSession, _ request: URLRequest) async throws -> String {
    String(decoding: try await session.data(for: request).0, as: UTF8.self)
  }

  @Test("a private answer does not go from one cookie storage to another, on line or off")
  func twoStorages() async throws {
    try await withTwo { (site: Site, _: InterceptorRegistry, alice: URLSession, bob: URLSession) async throws in
      for control in [
        "private, max-age=1000", "private", "no-cache", "max-age=0", "private, max-age=0, must-revalidate",
      ] {
        let path = "/me/\(control.hashValue)"
        site.origin.reply(to: path, with: page(control))
        #expect(try await text(alice, site.request(path)) == "for session=alice")
        site.archive.mode = .offline
        let unread = await failure { try await text(bob, site.request(path)) }
        #expect(cause(unread)?.code == .notStored, "\(control)")
        site.archive.mode = .online
        #expect(try await text(bob, site.request(path)) == "for session=bob", "\(control)")
        // Neither takes the other's place.
        site.archive.mode = .offline
        #expect(try await text(alice, site.request(path)) == "for session=alice", "\(control)")
        #expect(try await text(bob, site.request(path)) == "for session=bob", "\(control)")
        site.archive.mode = .online
      }
    }
  }

  @Test("loads under way at once are not shared by two users")
  func atOnce() async throws {
    try await withTwo { (site: Site, _: InterceptorRegistry, alice: URLSession, bob: URLSession) async throws in
      site.origin.reply(to: "/me", with: page("private, max-age=1000"))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<10 {
          group.addTask { () async throws in #expect(try await text(alice, site.request("/me")) == "for session=alice")
          }
          group.addTask { () async throws in #expect(try await text(bob, site.request("/me")) == "for session=bob") }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test("what anybody may reuse is shared by all users, and so is what only counts visits")
  func shared() async throws {
    let archive = ArchiveCache()
    let script = ScriptedNext()
    func get(_ path: String, _ cookie: String) async throws -> String {
      try await archive.load("http://example.com/" + path, script) { $0.setValue(cookie, forHTTPHeaderField: "Cookie") }
        .text
    }
    for (path, control) in [("a", "public, max-age=100"), ("b", "max-age=100"), ("c", "s-maxage=10, max-age=100")] {
      script.answers("first", [.cacheControl: control])
      _ = try await get(path, "session=alice")
      script.answers("second")
      #expect(try await get(path, "session=bob") == "first")
    }
    script.answers("first", [.cacheControl: "private, max-age=100"])
    _ = try await get("d", "session=alice; _ga=1; __cf_bm=x")
    script.answers("second", [.cacheControl: "private, max-age=100"])
    #expect(try await get("d", "_ga=2; _gid=7; __cf_bm=y;session=alice") == "first")
    #expect(try await get("d", "session=bob; _ga=1") == "second")
  }

  @Test("one storage, one user after the other: log out, log in")
  func oneAfterTheOther() async throws {
    let archive = ArchiveCache()
    let script = ScriptedNext()
    func get(_ cookie: String?) async throws -> String {
      try await archive.load(script) { $0.setValue(cookie, forHTTPHeaderField: "Cookie") }.text
    }
    script.answers("alice's", [.cacheControl: "private, max-age=1000", .eTag: "\"1\""])
    #expect(try await get("session=alice") == "alice's")
    script.answers("log in", [.cacheControl: "private, max-age=1000", .eTag: "\"0\""])
    #expect(try await get(nil) == "log in")
    script.answers("bob's", [.cacheControl: "private, max-age=1000", .eTag: "\"2\""])
    #expect(try await get("session=bob") == "bob's")
    archive.mode = .offline
    for (cookie, expected) in [("session=alice", "alice's"), (nil, "log in"), ("session=bob", "bob's")] {
      #expect(try await get(cookie) == expected)
    }
    let error = await failure { try await get("session=carol") }
    #expect(cause(error)?.code == .notStored)
  }

  @Test("a validator of another user's is not offered: one tag for everybody gives nobody another's page")
  func oneTagForEverybody() async throws {
    let archive = ArchiveCache()
    let script = ScriptedNext { request in
      let fields: HTTPFields = [
        .cacheControl: "private, max-age=0", .eTag: "\"v1\"", .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT",
      ]
      if request.fields[.ifNoneMatch] != nil || request.fields[.ifModifiedSince] != nil {
        return InterceptedResponse(to: request, status: .notModified, fields: fields, source: .network)
      }
      return InterceptedResponse(
        to: request, status: .ok, fields: fields, body: .text("for \(request.fields[.cookie] ?? "nobody")"),
        source: .network)
    }
    for _ in 0..<3 {
      for user in ["alice", "bob", "carol"] {
        let text = try await archive.load(script) { $0.setValue("session=\(user)", forHTTPHeaderField: "Cookie") }.text
        #expect(text == "for session=\(user)")
      }
    }
    // From the second time on each one's own is validated.
    #expect(script.asked.count { $0.fields[.ifNoneMatch] != nil } == 6)
  }

  @Test("the app says which cookies count, or none")
  func rules() async throws {
    for (rule, expected) in [
      (UserCookies.none, "first"), (.only(["user"]), "first"), (.all(except: ["session", "v*"]), "first"),
      (.only(["sess*"]), "second"),
    ] {
      let archive = ArchiveCache { $0.userCookies = rule }
      let script = ScriptedNext()
      script.answers("first", [.cacheControl: "private, max-age=100"])
      _ = try await archive.load(script) { $0.setValue("user=1; session=a; visits=1", forHTTPHeaderField: "Cookie") }
      script.answers("second")
      let second = try await archive.load(script) {
        $0.setValue("user=1; session=b; visits=2", forHTTPHeaderField: "Cookie")
      }
      #expect(second.text == expected)
    }
  }

  @Test("an answer that makes its own user is not given to the next one who has no cookies yet")
  func firstVisit() async throws {
    let archive = ArchiveCache()
    let script = ScriptedNext()
    script.answers("alice's cart", [.cacheControl: "private, max-age=100", .setCookie: "cart=alice"])
    _ = try await archive.load(script)
    script.answers("bob's cart", [.cacheControl: "private, max-age=100", .setCookie: "cart=bob"])
    #expect(try await archive.load(script).text == "bob's cart")
  }

  @Test("with a partition a renewed token loses nothing, on line or off; unless the app asks for it")
  func renewedToken() async throws {
    for (splits, expected) in [(Bool?.none, "ada's"), (false, "ada's"), (true, "new")] {
      let archive = ArchiveCache {
        $0.partition = { _ in "ada" }
        $0.partitionsByAuthorization = splits
      }
      let script = ScriptedNext()
      script.answers("ada's", [.cacheControl: "private, max-age=1000"])
      _ = try await archive.load(script) { $0.setValue("Bearer 1", forHTTPHeaderField: "Authorization") }
      script.answers("new")
      #expect(
        try await archive.load(script) { $0.setValue("Bearer 2", forHTTPHeaderField: "Authorization") }.text == expected
      )
      guard splits != true else { continue }
      archive.mode = .offline
      #expect(try await archive.load(script).text == "ada's")
    }
  }

  @Test("without a partition, or with an empty one, tokens keep users apart")
  func tokens() async throws {
    for partition: (@Sendable (URLRequest) -> String?)? in [nil, { _ in nil }, { _ in "" }] {
      let archive = ArchiveCache { $0.partition = partition }
      let script = ScriptedNext()
      script.answers("ada's", [.cacheControl: "max-age=1000"])
      _ = try await archive.load(script) { $0.setValue("Bearer ada", forHTTPHeaderField: "Authorization") }
      script.answers("bob's", [.cacheControl: "max-age=1000"])
      #expect(
        try await archive.load(script) { $0.setValue("Bearer bob", forHTTPHeaderField: "Authorization") }.text
          == "bob's")
    }
  }

  /// Adds a token to every request.
  private struct Token: RequestInterceptor {
    let token: Locked<String>

    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      var request = request
      request.fields[.authorization] = "Bearer \(token.withLock { $0 })"
      return try await next(request)
    }
  }

  @Test("a token interceptor before the archive keeps its users apart, as the documentation of ArchiveCache says")
  func orderOfLinks() async throws {
    let origin = try await TestOrigin.start()
    origin.reply(to: "/me") { request in
      .text(request["Authorization"].first ?? "", fields: [("Cache-Control", "max-age=1000")])
    }
    let token = Locked("ada")
    let registry = InterceptorRegistry(configuration: .ephemeral) {
      Token(token: token)
      ArchiveCache()
    }
    let request = URLRequest(url: origin.url("/me"))
    #expect(try await registry.data(for: request).0 == Data("Bearer ada".utf8))
    token.withLock { $0 = "bob" }
    #expect(try await registry.data(for: request).0 == Data("Bearer bob".utf8))
    registry.invalidate()
    await origin.stop()
  }

  @Test("what was loaded after a challenge is read offline by a session that could answer it again, and by nobody else")
  func challenge() async throws {
    let origin = try await TestOrigin.start()
    origin.reply(to: "/secret") { request in
      guard let field = request["Authorization"].first else {
        return Reply(401, [("WWW-Authenticate", "Basic realm=\"r\"")], .whole(Data("who?".utf8)))
      }
      return .text(field, fields: [("Cache-Control", "max-age=1000")])
    }
    try await withDirectory { directory in
      let url = origin.url("/secret")
      var named = try #require(URLComponents(url: url, resolvingAgainstBaseURL: true))
      (named.user, named.password) = ("ada", "pl4nted word")
      var other = named
      other.user = "bob"
      let adas = URLRequest(url: try #require(named.url))
      let bobs = URLRequest(url: try #require(other.url))
      let field = Data(("Basic " + Data("ada:pl4nted word".utf8).base64EncodedString()).utf8)
      do {
        let archive = ArchiveCache(at: directory)
        let registry = InterceptorRegistry(configuration: .ephemeral) { archive }
        #expect(try await registry.data(for: adas).0 == field)
        registry.invalidate()
        await archive.close()
      }
      await origin.stop()
      let archive = ArchiveCache(at: directory)
      let registry = InterceptorRegistry(configuration: .ephemeral) { archive }
      // The network is gone, whether or not the archive has been told.
      for mode in [ArchiveMode.online, .offline] {
        archive.mode = mode
        #expect(try await registry.data(for: adas).0 == field, "\(mode)")
        for request in [bobs, URLRequest(url: url)] {
          let error = await failure { try await registry.data(for: request) }
          #expect(error is URLError, "\(mode)")
        }
      }
      registry.invalidate()
      await archive.close()
    }
  }

  @Test("Set-Cookie2 is treated like Set-Cookie")
  func setCookie2() async throws {
    let script = ScriptedNext()
    let session = LoadContext()
    let name = try #require(HTTPField.Name("Set-Cookie2"))
    script.answers("a", [.cacheControl: "max-age=1000", name: "a=b"])
    let archive = ArchiveCache()
    _ = try await archive.load(script, context: session)
    #expect(try await archive.load(script, context: session).response.fields[name] == "a=b")
    let others = try await archive.load(script).response
    #expect(others.source == .archive && others.fields[name] == nil)
  }

  @Test("Set-Cookie is shown to the session that received it, to no other, and to no later process")
  func setCookie() async throws {
    try await withDirectory { directory in
      let script = ScriptedNext()
      let session = LoadContext()
      script.answers("a", [.cacheControl: "max-age=1000", .setCookie: "session=pl4nted-secret"])
      let archive = ArchiveCache(at: directory)
      _ = try await archive.load(script, context: session)
      let again = try await archive.load(script, context: session)
      #expect(again.response.source == .archive && again.response.fields[.setCookie] == "session=pl4nted-secret")
      let others = try await archive.load(script)
      #expect(others.response.source == .archive && others.response.fields[.setCookie] == nil)
      try await archive.store.flush()
      await archive.close()
      let files = FileManager.default.enumerator(atPath: directory.path)?.allObjects as? [String] ?? []
      for file in files {
        let bytes = (try? Data(contentsOf: directory.appendingPathComponent(file))) ?? Data()
        #expect(bytes.range(of: Data("pl4nted-secret".utf8)) == nil, "\(file)")
      }
      let next = ArchiveCache(at: directory)
      try await next.waitUntilOpen()
      let later = try await next.load(script, context: session)
      #expect(later.response.source == .archive && later.response.fields[.setCookie] == nil)
      await next.close()
    }
  }
}
