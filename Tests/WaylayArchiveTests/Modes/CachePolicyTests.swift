import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("URLRequest.CachePolicy, as Apple documents it", .timeLimit(.minutes(5)))
struct CachePolicyTests {
  private func request(_ site: Site, _ policy: URLRequest.CachePolicy, _ path: String = "/a") -> URLRequest {
    site.request(path) { $0.cachePolicy = policy }
  }

  @Test("reloadRevalidatingCacheData asks caches on the way to validate, too, unless the request says something itself")
  func asksForValidation() async throws {
    let archive = ArchiveCache()
    let script = ScriptedNext()
    script.answers("a", [.cacheControl: "max-age=1000"])
    for own in [nil, "no-transform"] {
      _ = try await archive.load(script) {
        $0.cachePolicy = .reloadRevalidatingCacheData
        $0.setValue(own, forHTTPHeaderField: "Cache-Control")
      }
      #expect(script.asked.last?.fields[.cacheControl] == own ?? "max-age=0")
    }
    _ = try await archive.load("http://example.com/b", script)
    #expect(script.asked.last?.fields[.cacheControl] == nil)
  }

  @Test("reloadIgnoringLocalCacheData goes to the origin, and stores what comes", arguments: Way.allCases)
  func reload(_ way: Way) async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a", with: numbered([("Cache-Control", "max-age=100"), ("ETag", "\"1\"")]))
      try await site.get("/a", by: way)
      #expect(try await site.load(request(site, .reloadIgnoringLocalCacheData), by: way).text == "body 2")
      #expect(site.seen("/a").last?["If-None-Match"] == [])
      #expect(try await site.get("/a", by: way).text == "body 2")
    }
  }

  @Test("reloadIgnoringLocalAndRemoteCacheData tells other caches too")
  func reloadRemote() async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a", with: numbered([("Cache-Control", "max-age=100")]))
      try await site.get("/a")
      #expect(try await site.load(request(site, .reloadIgnoringLocalAndRemoteCacheData)).text == "body 2")
      #expect(site.seen("/a").last?["Cache-Control"] == ["no-cache"] && site.seen("/a").last?["Pragma"] == ["no-cache"])
    }
  }

  @Test("returnCacheDataElseLoad takes whatever is stored, and loads what is not", arguments: Way.allCases)
  func elseLoad(_ way: Way) async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a", with: numbered([("Cache-Control", "max-age=1, must-revalidate")]))
      #expect(try await site.load(request(site, .returnCacheDataElseLoad), by: way).text == "body 1")
      site.wall.advance(by: 10_000)
      #expect(try await site.load(request(site, .returnCacheDataElseLoad), by: way).text == "body 1")
      #expect(site.seen("/a").count == 1)
    }
  }

  @Test("returnCacheDataDontLoad takes whatever is stored, and fails for what is not", arguments: Way.allCases)
  func dontLoad(_ way: Way) async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a", with: numbered([("Cache-Control", "max-age=1")]))
      let error = await failure { try await site.load(request(site, .returnCacheDataDontLoad), by: way) }
      #expect((error as? URLError)?.code == .resourceUnavailable)
      #expect(cause(error)?.code == .notStored)
      #expect(cause(error)?.message.contains("cachePolicy") == true)
      try await site.get("/a", by: way)
      site.wall.advance(by: 10_000)
      #expect(try await site.load(request(site, .returnCacheDataDontLoad), by: way).text == "body 1")
      #expect(site.seen("/a").count == 1)
    }
  }

  @Test("reloadRevalidatingCacheData asks the origin even while the answer is fresh")
  func revalidating() async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a", with: tagged("hello", "\"1\"", [("Cache-Control", "max-age=100")]))
      try await site.get("/a")
      #expect(try await site.load(request(site, .reloadRevalidatingCacheData)).text == "hello")
      #expect(site.seen("/a").count == 2 && site.seen("/a").last?["If-None-Match"] == ["\"1\""])
    }
  }

  @Test("request directives rule as well as policies: no-cache, max-age, max-stale, no-store")
  func directives() async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a", with: numbered([("Cache-Control", "max-age=100")]))
      try await site.get("/a")
      site.wall.advance(by: 50)
      #expect(try await site.get("/a", ["Cache-Control": "max-age=60"]).text == "body 1")
      #expect(try await site.get("/a", ["Cache-Control": "max-age=40"]).text == "body 2")
      #expect(try await site.get("/a", ["Cache-Control": "no-cache"]).text == "body 3")
      site.wall.advance(by: 150)
      #expect(try await site.get("/a", ["Cache-Control": "max-stale=60"]).text == "body 3")
      #expect(try await site.get("/b", ["Cache-Control": "no-store"]).status == 404)
    }
  }
}
