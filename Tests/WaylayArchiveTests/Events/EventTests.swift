import Foundation
import TestOrigin
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("What an archive says", .timeLimit(.minutes(5)))
struct EventTests {
  @Test("events and counters tell misses, hits, confirmations, refusals and invalidations apart")
  func kinds() async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a") { request in
        request.method == "POST" ? .text("done") : tagged("hello", "\"1\"", [("Cache-Control", "max-age=10")])(request)
      }
      site.origin.reply(to: "/no", with: numbered([("Cache-Control", "no-store")]))
      let events = site.archive.events()
      try await site.get("/a")
      try await site.get("/a")
      site.wall.advance(by: 20)
      try await site.get("/a")
      try await site.get("/no")
      try await site.load(site.request("/a", method: "POST"))
      site.archive.invalidate()
      let kinds = await events.reduce(into: []) { $0.append($1.kind.description) }
      #expect(
        kinds == ["miss", "stored", "hit", "revalidated", "miss", "refused", "bypassed", "invalidated"]
          || kinds.sorted() == [
            "bypassed", "hit", "invalidated", "miss", "miss", "refused", "revalidated", "stored",
          ])
      let counters = site.archive.counters
      #expect(
        counters.hits == 1 && counters.misses == 2 && counters.stored == 1 && counters.refused == 1
          && counters.revalidations == 1)
      #expect(counters.servedBytes == 10 && counters.storedBytes == 5 && counters.bypasses == 1)
      #expect(counters.hitRatio == 0.5)
    }
  }

  @Test("evictions are events, with their reason")
  func evictions() async throws {
    let origin = try await TestOrigin.start()
    let wall = Wall()
    let site = Site(
      origin, ArchiveCache(.memory(limits: StoreLimits(bytes: 1 << 20, count: 2))) { $0.now = { wall.now } }, wall: wall
    )
    var events = site.archive.events().makeAsyncIterator()
    for path in ["/a", "/b", "/c", "/d"] {
      origin.reply(to: path, with: numbered([("Cache-Control", "max-age=10")]))
      try await site.get(path)
    }
    while let event = await events.next() {
      guard event.kind == .evicted else { continue }
      #expect(event.reason?.isEmpty == false)
      break
    }
    #expect(site.archive.counters.evicted > 0)
    await site.end()
  }

  #if StructuredFields
    @Test("Cache-Status says what happened, where it is wanted (RFC 9211)")
    func cacheStatus() async throws {
      try await withSite({ $0.cacheStatus = .always }) { (site: Site) async throws in
        site.origin.reply(
          to: "/a", with: tagged("hello", "\"1\"", [("Cache-Control", "max-age=10"), ("Cache-Status", "edge; hit")]))
        let first = try await site.get("/a")
        #expect(first["Cache-Status"] == "edge; hit, Waylay;fwd=uri-miss;stored")
        #expect(try await site.get("/a")["Cache-Status"] == "edge; hit, Waylay;hit;ttl=10")
        site.wall.advance(by: 20)
        #expect(try await site.get("/a")["Cache-Status"] == "edge; hit, Waylay;fwd=stale;fwd-status=304;ttl=10")
      }
      try await withSite { (site: Site) async throws in
        site.origin.reply(to: "/a", with: numbered([("Cache-Control", "max-age=10")]))
        try await site.get("/a")
        #expect(try await site.get("/a")["Cache-Status"] == nil)
      }
    }
  #endif

  @Test("explain says what would be done, and does nothing")
  func explain() async throws {
    try await withSite { (site: Site) async throws in
      let request = site.request("/a")
      #expect(await site.archive.explain(request).description.contains("ask the network"))
      site.origin.reply(
        to: "/a", with: numbered([("Cache-Control", "max-age=10"), ("ETag", "\"1\""), ("Vary", "Accept")]))
      try await site.get("/a")
      let fresh = await site.archive.explain(request)
      #expect(fresh.description.contains("answer from the archive") && fresh.variants.count == 1)
      #expect(fresh.variants[0].contains("lifetime 10 s from max-age") && fresh.variants[0].contains("Vary: Accept"))
      site.wall.advance(by: 20)
      let stale = await site.archive.explain(request).description
      #expect(stale.contains("If-None-Match: \"1\"") && stale.contains("stale"))
      #expect(site.seen("/a").count == 1)
    }
  }
}
