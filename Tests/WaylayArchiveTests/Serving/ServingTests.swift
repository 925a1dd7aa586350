import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("Answers out of an archive", .timeLimit(.minutes(10)))
struct ServingTests {
  @Test("a fresh answer is reused, with its age, and the server hears nothing", arguments: Way.allCases)
  func fresh(_ way: Way) async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a", with: numbered([("Cache-Control", "max-age=100"), ("Date", site.wall.date())]))
      let first = try await site.get("/a", by: way)
      #expect(first.text == "body 1" && first["Age"] == nil)
      site.wall.advance(by: 40)
      let second = try await site.get("/a", by: way)
      #expect(second.status == 200 && second.text == "body 1" && second["Age"] == "40")
      #expect(second["Content-Type"] == "text/plain")
      site.wall.advance(by: 61)
      #expect(try await site.get("/a", by: way).text == "body 2")
      #expect(site.seen("/a").count == 2)
    }
  }

  @Test("a stale answer is validated: the server sees the condition, the app a whole answer", arguments: Way.allCases)
  func validated(_ way: Way) async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(
        to: "/a", with: tagged("hello", "\"1\"", [("Cache-Control", "max-age=10"), ("X-Version", "1")]))
      #expect(try await site.get("/a", by: way).text == "hello")
      site.wall.advance(by: 11)
      let second = try await site.get("/a", by: way)
      #expect(second.status == 200 && second.text == "hello" && second["ETag"] == "\"1\"")
      #expect(site.seen("/a").last?["If-None-Match"] == ["\"1\""])
      // The 304 has freshened it.
      site.wall.advance(by: 9)
      #expect(try await site.get("/a", by: way).text == "hello")
      #expect(site.seen("/a").count == 2)
      #expect(site.archive.counters.revalidations == 1 && site.archive.counters.hits == 1)
    }
  }

  @Test("an answer that another validator replaces is replaced", arguments: Way.allCases)
  func replaced(_ way: Way) async throws {
    try await withSite { (site: Site) async throws in
      let version = Locked(1)
      site.origin.reply(to: "/a") { request in
        let number = version.withLock { $0 }
        return tagged("version \(number)", "\"\(number)\"", [("Cache-Control", "max-age=10")])(request)
      }
      #expect(try await site.get("/a", by: way).text == "version 1")
      site.wall.advance(by: 11)
      version.withLock { $0 = 2 }
      #expect(try await site.get("/a", by: way).text == "version 2")
      #expect(try await site.get("/a", by: way).text == "version 2")
      #expect(site.seen("/a").count == 2)
    }
  }

  @Test("a chunked answer is stored while it streams", arguments: Way.allCases)
  func chunked(_ way: Way) async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a") { _ in
        Reply(200, [("Cache-Control", "max-age=10")], .chunks(["one", "two", "three"].map { Data($0.utf8) }, pause: 5))
      }
      #expect(try await site.get("/a", by: way).text == "onetwothree")
      #expect(try await site.get("/a", by: way).text == "onetwothree")
      #expect(site.seen("/a").count == 1)
    }
  }

  @Test("a large answer comes back byte for byte", .heavy, arguments: Way.allCases)
  func large(_ way: Way) async throws {
    try await withSite { (site: Site) async throws in
      let bytes = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
      site.origin.reply(to: "/a") { _ in Reply(200, [("Cache-Control", "max-age=10")], .whole(bytes)) }
      #expect(try await site.get("/a", by: way).body == bytes)
      #expect(try await site.get("/a", by: way).body == bytes)
      #expect(site.seen("/a").count == 1)
    }
  }

  @Test("interim answers are not what is stored")
  func interim() async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a") { _ in
        Reply.text("final", fields: [("Cache-Control", "max-age=10")]).with {
          $0.interim = [(103, [("Link", "</x>"), ("Cache-Control", "no-store")])]
        }
      }
      #expect(try await site.get("/a").text == "final")
      let second = try await site.get("/a")
      #expect(second.text == "final" && second["Link"] == nil && site.seen("/a").count == 1)
    }
  }

  @Test("HEAD is answered from what GET stored")
  func head() async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a", with: numbered([("Cache-Control", "max-age=10"), ("X-Kept", "yes")]))
      try await site.get("/a")
      let head = try await site.load(site.request("/a", method: "HEAD"))
      #expect(head.status == 200 && head.body.isEmpty && head["X-Kept"] == "yes" && head["Content-Length"] == "6")
      #expect(site.seen("/a").count == 1)
    }
  }

  @Test("a successful POST makes what is stored doubtful, at the target and where it points (RFC 9111, section 4.4)")
  func invalidation() async throws {
    try await withSite { (site: Site) async throws in
      for path in ["/a", "/b", "/c"] { site.origin.reply(to: path, with: numbered([("Cache-Control", "max-age=100")])) }
      for path in ["/a", "/b", "/c"] { try await site.get(path) }
      site.origin.reply(to: "/a") { request in
        request.method == "POST"
          ? .text("done", fields: [("Location", "/b"), ("Content-Location", "/c")]) : .text("new")
      }
      #expect(try await site.load(site.request("/a", method: "POST") { $0.httpBody = Data("x".utf8) }).text == "done")
      #expect(try await site.get("/a").text == "new")
      #expect(try await site.get("/b").text == "body 2")
      #expect(try await site.get("/c").text == "body 2")
    }
  }

  @Test("an answer that was asked for before a POST and comes after it is validated before it is used again")
  func overtaken() async throws {
    try await withSite { (site: Site) async throws in
      let isGated = Locked(true)
      site.origin.reply(to: "/a") { request in
        if request.method == "POST" { return .text("done") }
        guard isGated.withLock({ $0 }) else { return .text("new", fields: [("Cache-Control", "max-age=100")]) }
        return Reply(200, [("Cache-Control", "max-age=100")], .gated("overtaken"))
      }
      let early = try await site.registry.load(site.request("/a"))
      try await site.load(site.request("/a", method: "POST"))
      isGated.withLock { $0 = false }
      // Neither shared with those who come later …
      #expect(try await site.get("/a").text == "new")
      site.origin.release("old", gate: "overtaken")
      site.origin.release(nil, gate: "overtaken")
      #expect(try await early.body.collect(upTo: 100) == Data("old".utf8))
      // … nor given to them once it is stored.
      #expect(try await site.get("/a").text == "new")
    }
  }

  @Test("a failed POST changes nothing")
  func failedPost() async throws {
    try await withSite { (site: Site) async throws in
      let count = numbered([("Cache-Control", "max-age=100")])
      site.origin.reply(to: "/a") { $0.method == "POST" ? .text("no", status: 500) : count($0) }
      try await site.get("/a")
      try await site.load(site.request("/a", method: "POST") { $0.httpBody = Data("x".utf8) })
      #expect(try await site.get("/a").text == "body 1")
    }
  }

  @Test("variants are kept side by side, told apart by what Vary names", arguments: Way.allCases)
  func variants(_ way: Way) async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a") { request in
        .text(
          request["Accept-Language"].first ?? "none",
          fields: [("Cache-Control", "max-age=100"), ("Vary", "Accept-Language")])
      }
      for language in ["de", "en", "de", "en", "DE"] {
        #expect(
          try await site.get("/a", ["Accept-Language": language], by: way).text.lowercased() == language.lowercased())
      }
      #expect(site.seen("/a").count == 2)
    }
  }

  @Test("query, scheme, host and method tell resources apart; the fragment does not")
  func keys() async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a") { .text($0.target, fields: [("Cache-Control", "max-age=100")]) }
      #expect(try await site.get("/a?user=alice").text == "/a?user=alice")
      #expect(try await site.get("/a?user=bob").text == "/a?user=bob")
      #expect(try await site.get("/a?user=alice#part").text == "/a?user=alice")
      #expect(site.seen("/a").count == 2)
    }
  }

  @Test("a client's own condition is answered with 304 while the answer is fresh", arguments: Way.allCases)
  func ownCondition(_ way: Way) async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a", with: tagged("hello", "\"1\"", [("Cache-Control", "max-age=10")]))
      try await site.get("/a", by: way)
      let second = try await site.get("/a", ["If-None-Match": "\"1\""], by: way)
      #expect(second.status == 304 && second.body.isEmpty && second["ETag"] == "\"1\"")
      #expect(try await site.get("/a", ["If-None-Match": "\"0\""], by: way).text == "hello")
      #expect(site.seen("/a").count == 1)
    }
  }

  @Test("only-if-cached is answered with 504 when nothing is stored")
  func onlyIfCached() async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a", with: numbered([("Cache-Control", "max-age=100")]))
      #expect(try await site.get("/a", ["Cache-Control": "only-if-cached"]).status == 504)
      try await site.get("/a")
      #expect(try await site.get("/a", ["Cache-Control": "only-if-cached"]).text == "body 1")
      #expect(site.seen("/a").count == 1)
    }
  }

  @Test("a stored redirect is followed without asking again", arguments: Way.allCases)
  func redirect(_ way: Way) async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a") { _ in
        .text("moved", status: 301, fields: [("Location", "/b"), ("Cache-Control", "max-age=100")])
      }
      site.origin.reply(to: "/b", with: numbered([("Cache-Control", "max-age=100")]))
      #expect(try await site.get("/a", by: way).text == "body 1")
      #expect(try await site.get("/a", by: way).text == "body 1")
      #expect(site.seen("/a").count == 1 && site.seen("/b").count == 1)
    }
  }

  @Test("the response to a POST with a body that is a representation of its URL answers a later GET, never a POST")
  func posted() async throws {
    try await withSite { (site: Site) async throws in
      let fields = [("Cache-Control", "max-age=100")]
      site.origin.reply(to: "/a", with: numbered(fields + [("Content-Location", "/a")]))
      site.origin.reply(to: "/b", with: numbered(fields + [("Content-Location", "/a")]))
      for (path, isStored) in [("/a", true), ("/b", false)] {
        let post = site.request(path, method: "POST") { $0.httpBody = Data("x=1".utf8) }
        #expect(try await site.load(post).text == "body 1")
        #expect(try await site.get(path).text == (isStored ? "body 1" : "body 2"))
        #expect(try await site.load(post).text == (isStored ? "body 2" : "body 3"))
        #expect(try await site.get(path).text == (isStored ? "body 2" : "body 4"))
      }
    }
  }

  @Test(
    "a coded body that only the end of its connection ends is stored when its coding has ended, and given in any case",
    .enabled(if: Platform.isLinux, "CurlTransport is there on Linux alone"),
    arguments: [("gzip", Deflate.Format.gzip), ("X-GZip", .gzip), ("deflate", .zlib), ("deflate", .raw)],
    [100, 300_000])
  func unframed(coding: (String, Deflate.Format), count: Int) async throws {
    var random = SplitMix(state: 1)
    let plain = Data((0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) })
    let coded = try #require(Deflate.compressed(plain, as: coding.1))
    let head = "Cache-Control: max-age=100\r\nContent-Encoding: \(coding.0)\r\nConnection: close"
    for missing in [0, 1, 40] {
      try await withSite { (site: Site) async throws in
        site.origin.reply(to: "/a") { _ in
          Reply(200, [], .raw(Data("HTTP/1.1 200 OK\r\n\(head)\r\n\r\n".utf8) + coded.dropLast(missing))).with {
            $0.hangsUp = true
          }
        }
        for way in [Way.async, .direct] {
          let body = try await site.get("/a", by: way).body
          #expect(missing == 0 ? body == plain : plain.starts(with: body) && body.count >= count - 100)
        }
        #expect(site.seen("/a").count == (missing == 0 ? 1 : 2), "\(missing) bytes are missing")
      }
    }
  }

  @Test("an answer that says no-store is not stored")
  func noStore() async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a", with: numbered([("Cache-Control", "no-store, max-age=100")]))
      try await site.get("/a")
      #expect(try await site.get("/a").text == "body 2")
      #expect(site.archive.counters.stored == 0 && site.archive.counters.refused == 2)
    }
  }

  @Test("a stored Set-Cookie is not replayed; a 304's is stored")
  func cookies() async throws {
    let origin = try await TestOrigin.start()
    let wall = Wall()
    let site = Site(origin, ArchiveCache { $0.now = { wall.now } }, wall: wall)
    let storage = try #require(site.session.configuration.httpCookieStorage)
    origin.reply(to: "/a") { request in
      let fields = [("ETag", "\"1\""), ("Cache-Control", "max-age=10")]
      return request["If-None-Match"].isEmpty
        ? .text("hello", fields: fields + [("Set-Cookie", "session=first")])
        : Reply(304, fields + [("Set-Cookie", "session=second")])
    }
    try await site.get("/a")
    #expect(storage.cookies(for: origin.url("/a"))?.map(\.value) == ["first"])
    for cookie in storage.cookies ?? [] { storage.deleteCookie(cookie) }
    try await site.get("/a")
    #expect(storage.cookies(for: origin.url("/a"))?.isEmpty ?? true)
    wall.advance(by: 11)
    try await site.get("/a")
    #expect(storage.cookies(for: origin.url("/a"))?.map(\.value) == ["second"])
    await site.end()
  }

  @Test("a direct load says where an answer came from")
  func source() async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a", with: numbered([("Cache-Control", "max-age=10, stale-if-error=100")]))
      #expect(try await site.get("/a", by: .direct).source == .network)
      #expect(try await site.get("/a", by: .direct).source == .archive)
      try await site.origin.stopListening()
      site.wall.advance(by: 11)
      site.archive.mode = .offline
      #expect(try await site.get("/a", by: .direct).source == .staleArchive)
    }
  }

  @Test("an answer from memory comes inside the call: no hop, and no thread of another session is kept")
  func inline() async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a", with: numbered([("Cache-Control", "max-age=100")]))
      try await site.get("/a")
      let answer = try site.archive.respondInline(InterceptedRequest(site.request("/a")))
      guard case .response(let response) = answer else {
        Issue.record("not answered at once")
        return
      }
      #expect(response.source == .archive && response.body.inMemory == Data("body 1".utf8))
    }
  }
}
