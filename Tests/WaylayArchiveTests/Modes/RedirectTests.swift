import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("Redirects that nothing allows to reuse", .timeLimit(.minutes(5)))
struct RedirectTests {
  private func prepare(_ site: Site, _ status: Int, _ fields: [(name: String, value: String)] = []) {
    site.origin.reply(to: "/latest") { _ in Reply(status, [("Location", "/v3")] + fields) }
    site.origin.reply(to: "/v3", with: numbered([("Cache-Control", "max-age=10")]))
  }

  @Test(
    "lead to what is stored, offline and when the origin cannot be reached", arguments: Way.allCases, [302, 303, 307])
  func offline(_ way: Way, status: Int) async throws {
    try await withSite { (site: Site) async throws in
      prepare(site, status)
      #expect(try await site.get("/latest", by: way).text == "body 1")
      site.wall.advance(by: 1000)
      site.archive.mode = .offline
      #expect(try await site.get("/latest", by: way).text == "body 1")
      #expect(site.seen("/latest").count == 1)
      site.archive.mode = .online
      await site.origin.stop()
      #expect(try await site.get("/latest", by: way).text == "body 1")
    }
  }

  @Test("are asked for again whenever the origin can be, whatever mode, policy and request allow")
  func online() async throws {
    try await withSite { (site: Site) async throws in
      prepare(site, 302, [("Cache-Control", "stale-while-revalidate=1000")])
      try await site.get("/latest")
      try await site.get("/latest")
      try await site.get("/latest", ["Cache-Control": "max-stale"])
      site.archive.mode = .preferArchive
      try await site.get("/latest")
      site.archive.mode = .online
      try await site.load(site.request("/latest") { $0.cachePolicy = .returnCacheDataElseLoad })
      #expect(site.seen("/latest").count == 5)
    }
  }

  @Test("displace no page, and are displaced by one; another one takes their place")
  func places() async throws {
    try await withSite { (site: Site) async throws in
      let answer = Locked(0)
      site.origin.reply(to: "/page") { _ in
        switch answer.withLock({ $0 }) {
        case 0: Reply(302, [("Location", "/first")])
        case 1: Reply(302, [("Location", "/v3")])
        case 2: .text("page", fields: [("Cache-Control", "max-age=1")])
        default: Reply(302, [("Location", "/sign-in")])
        }
      }
      for path in ["/first", "/v3", "/sign-in"] {
        site.origin.reply(to: path) { _ in .text(path, fields: [("Cache-Control", "max-age=1000")]) }
      }
      for (number, text) in ["/first", "/v3", "page", "page"].enumerated() {
        answer.withLock { $0 = number }
        site.archive.mode = .online
        site.wall.advance(by: 10)
        try await site.get("/page")
        site.archive.mode = .offline
        #expect(try await site.get("/page").text == text)
      }
    }
  }

  @Test("are not kept where a server forbids it")
  func forbidden() async throws {
    try await withSite { (site: Site) async throws in
      prepare(site, 302, [("Cache-Control", "no-store")])
      try await site.get("/latest")
      site.archive.mode = .offline
      #expect(cause(await failure { try await site.get("/latest") })?.code == .notStored)
    }
  }
}
