import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("Stale answers", .timeLimit(.minutes(5)))
struct LoadStaleTests {
  @Test("while it is validated behind, a stale answer is given (RFC 5861, section 3)", arguments: Way.allCases)
  func whileRevalidate(_ way: Way) async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a", with: numbered([("Cache-Control", "max-age=10, stale-while-revalidate=60")]))
      try await site.get("/a", by: way)
      site.wall.advance(by: 20)
      var events = site.archive.events().makeAsyncIterator()
      #expect(try await site.get("/a", by: way).text == "body 1")
      while let event = await events.next(), event.kind != .stored {}
      #expect(try await site.get("/a", by: way).text == "body 2")
      #expect(site.seen("/a").count == 2)
    }
  }

  @Test("many who ask while it is validated behind make one validation")
  func oneBehind() async throws {
    try await withSite { (site: Site) async throws in
      let reply = numbered([("Cache-Control", "max-age=10, stale-while-revalidate=60")])
      let isGated = Locked(false)
      site.origin.reply(to: "/a") { request in
        isGated.withLock { $0 } ? Reply(200, [("Cache-Control", "max-age=10")], .gated("behind")) : reply(request)
      }
      try await site.get("/a")
      site.wall.advance(by: 20)
      isGated.withLock { $0 = true }
      for _ in 0..<10 { #expect(try await site.get("/a").text == "body 1") }
      await site.origin.until { $0.requests(to: "/a").count == 2 }
      var events = site.archive.events().makeAsyncIterator()
      site.origin.release("new", gate: "behind")
      site.origin.release(nil, gate: "behind")
      while let event = await events.next(), event.kind != .stored {}
      #expect(try await site.get("/a").text == "new")
      #expect(site.seen("/a").count == 2)
    }
  }

  @Test("invalidate() cancels what goes on behind answers")
  func behindIsOwned() async throws {
    try await withSite { (site: Site) async throws in
      let isGated = Locked(false)
      site.origin.reply(to: "/a") { _ in
        isGated.withLock { $0 }
          ? Reply(200, [], .never) : .text("old", fields: [("Cache-Control", "max-age=10, stale-while-revalidate=60")])
      }
      try await site.get("/a")
      site.wall.advance(by: 20)
      isGated.withLock { $0 = true }
      try await site.get("/a")
      await site.origin.until { $0.requests(to: "/a").count == 2 }
      site.archive.invalidate()
      await site.origin.until { $0.openConnectionCount < $0.connectionCount }
    }
  }

  @Test("what goes on behind answers ends with the archive that it belongs to")
  func behindEndsWithItsOwner() async throws {
    let wall = Wall()
    let (signals, signal) = AsyncStream.makeStream(of: String.self)
    var told = signals.makeAsyncIterator()
    let calls = Locked(0)
    let next = InterceptorChain.Next { request in
      let isFirst = calls.withLock {
        $0 += 1
        return $0 == 1
      }
      if isFirst {
        return InterceptedResponse(
          to: request, fields: [.cacheControl: "max-age=1, stale-while-revalidate=1000"], body: .text("old"),
          source: .network)
      }
      signal.yield("begun")
      for await _ in AsyncStream<Never>.makeStream().stream {}
      signal.yield("ended")
      throw CancellationError()
    }
    let request = InterceptedRequest(.get, try #require(URL(string: "http://example.com/a")))
    do {
      let archive = ArchiveCache { $0.now = { wall.now } }
      _ = try await archive.startLoading(request, next: next)
      wall.advance(by: 100)
      let response = try await archive.startLoading(request, next: next)
      #expect(response.source == .staleArchive)
      #expect(await told.next() == "begun")
    }
    #expect(await told.next() == "ended")
  }

  @Test(
    "an error is replaced by a stale answer where stale-if-error allows it (RFC 5861, section 4)",
    arguments: Way.allCases)
  func ifError(_ way: Way) async throws {
    try await withSite { (site: Site) async throws in
      let fails = Locked(false)
      site.origin.reply(to: "/a") { _ in
        fails.withLock { $0 }
          ? .text("broken", status: 503) : .text("good", fields: [("Cache-Control", "max-age=10, stale-if-error=60")])
      }
      try await site.get("/a", by: way)
      fails.withLock { $0 = true }
      site.wall.advance(by: 20)
      let second = try await site.get("/a", by: way)
      #expect(second.status == 200 && second.text == "good")
      #if StructuredFields
        #expect(second["Cache-Status"]?.contains("Waylay;hit") == true)
      #endif
      site.wall.advance(by: 60)
      #expect(try await site.get("/a", by: way).status == 503)
    }
  }

  @Test(
    "a closed connection gives a stale answer, unless must-revalidate forbids it (RFC 9111, section 4.2.4)",
    arguments: Way.allCases)
  func closed(_ way: Way) async throws {
    try await withSite { (site: Site) async throws in
      let closes = Locked(false)
      for (path, extra) in [("/a", ""), ("/strict", ", must-revalidate")] {
        site.origin.reply(to: path) { _ in
          closes.withLock { $0 }
            ? Reply(200, [], .close) : .text("good", fields: [("Cache-Control", "max-age=10" + extra)])
        }
        try await site.get(path, by: way)
      }
      closes.withLock { $0 = true }
      site.wall.advance(by: 20)
      #expect(try await site.get("/a", by: way).text == "good")
      let error = await failure { try await site.get("/strict", by: way) }
      #expect(error is URLError)
    }
  }

  @Test("a stale answer can be kept from those who cannot reach the origin")
  func notWhenUnreachable() async throws {
    try await withSite({ $0.servesStaleWhenUnreachable = false }) { (site: Site) async throws in
      site.origin.reply(to: "/a", with: numbered([("Cache-Control", "max-age=10")]))
      try await site.get("/a")
      site.wall.advance(by: 20)
      try await site.origin.stopListening()
      site.origin.reply(to: "/a") { _ in Reply(200, [], .close) }
      let error6 = await failure { try await site.get("/a") }
      #expect(error6 is URLError)
    }
  }
}
