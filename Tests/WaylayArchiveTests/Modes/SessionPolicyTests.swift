import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("A configuration's requestCachePolicy", .timeLimit(.minutes(5)))
struct SessionPolicyTests {
  @Test(
    "holds for requests that have none of their own, also behind a redirect",
    arguments: [Way.async, .completion, .direct])
  func holds(_ way: Way) async throws {
    let origin = try await TestOrigin.start()
    let wall = Wall()
    let site = Site(origin, ArchiveCache { $0.now = { wall.now } }, wall: wall) {
      $0.requestCachePolicy = .returnCacheDataElseLoad
    }
    origin.reply(to: "/moved") { _ in Reply(301, [("Location", "/a"), ("Cache-Control", "max-age=1")]) }
    origin.reply(to: "/a", with: numbered([("Cache-Control", "max-age=1")]))
    for _ in 0..<2 {
      #expect(try await site.get("/moved", by: way).text == "body 1")
      #expect(try await site.get("/a", by: way).text == "body 1")
      wall.advance(by: 1000)
    }
    #expect(site.seen("/moved").count == 1 && site.seen("/a").count == 1)
    let own = site.request("/a") { $0.cachePolicy = .reloadIgnoringLocalCacheData }
    #expect(try await site.load(own, by: way).text == "body 2")
    await site.end()
  }
}
