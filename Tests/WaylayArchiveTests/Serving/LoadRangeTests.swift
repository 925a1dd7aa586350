import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("Ranges and broken transfers", .timeLimit(.minutes(5)))
struct LoadRangeTests {
  /// A pattern of so many bytes, whole or in part, under a strong validator, with a lifetime.
  private func pattern(_ count: Int, cut: Locked<Int?> = Locked(nil)) -> @Sendable (TestOrigin.Request) -> Reply {
    let bytes = Data((0..<count).map { UInt8($0 % 251) })
    return { request in
      let fields = [("ETag", "\"pattern\""), ("Cache-Control", "max-age=100"), ("Accept-Ranges", "bytes")]
      guard let header = request["Range"].first, request["If-Range"].allSatisfy({ $0 == "\"pattern\"" }),
        let first = Int(header.dropFirst("bytes=".count).prefix { $0 != "-" })
      else {
        guard let cut = cut.withLock({ $0 }) else { return Reply(200, fields, .whole(bytes)) }
        return Reply(200, fields, .truncated(bytes.prefix(cut), declared: count))
      }
      guard first < count else { return Reply(416, fields + [("Content-Range", "bytes */\(count)")]) }
      let last = min(Int(header.split(separator: "-").dropFirst().first ?? "") ?? count - 1, count - 1)
      return Reply(206, fields + [("Content-Range", "bytes \(first)-\(last)/\(count)")], .whole(bytes[first...last]))
    }
  }

  private func expected(_ range: Range<Int>) -> Data { Data(range.map { UInt8($0 % 251) }) }

  @Test(
    "a range is cut out of what is stored whole: first to last, open, suffix (RFC 9110, section 14.2)",
    arguments: Way.allCases)
  func fromWhole(_ way: Way) async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a", with: pattern(1000))
      try await site.get("/a", by: way)
      for (range, bytes) in [("bytes=100-199", 100..<200), ("bytes=900-", 900..<1000), ("bytes=-50", 950..<1000)] {
        let part = try await site.get("/a", ["Range": range], by: way)
        #expect(part.status == 206 && part.body == expected(bytes))
        #expect(part["Content-Range"] == "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/1000")
        #expect(part["Content-Length"] == "\(bytes.count)")
      }
      #expect(site.seen("/a").count == 1)
      #expect(try await site.get("/a", ["Range": "bytes=2000-"], by: way).status == 416)
    }
  }

  @Test("If-Range decides between a part and the whole (RFC 9110, section 13.1.5)")
  func ifRange() async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a", with: pattern(1000))
      try await site.get("/a")
      #expect(try await site.get("/a", ["Range": "bytes=0-9", "If-Range": "\"pattern\""]).status == 206)
      #expect(try await site.get("/a", ["Range": "bytes=0-9", "If-Range": "\"other\""]).status == 200)
      #expect(site.seen("/a").count == 1)
    }
  }

  @Test("a part is stored, answers what is in it, and is never given as the whole")
  func storedPart() async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a", with: pattern(1000))
      #expect(try await site.get("/a", ["Range": "bytes=0-499"]).status == 206)
      let part = try await site.get("/a", ["Range": "bytes=100-199"])
      #expect(part.status == 206 && part.body == expected(100..<200) && site.seen("/a").count == 1)
      let whole = try await site.get("/a")
      #expect(whole.status == 200 && whole.body == expected(0..<1000))
    }
  }

  @Test(
    "the rest of a stored part is asked for, and the two are combined (RFC 9111, section 3.4)", arguments: Way.allCases)
  func combined(_ way: Way) async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a", with: pattern(1000))
      try await site.get("/a", ["Range": "bytes=0-499"], by: way)
      let whole = try await site.get("/a", by: way)
      #expect(whole.status == 200 && whole.body == expected(0..<1000) && whole["Content-Range"] == nil)
      #expect(site.seen("/a").last?["Range"] == ["bytes=500-"] && site.seen("/a").last?["If-Range"] == ["\"pattern\""])
      #expect(try await site.get("/a", by: way).body == expected(0..<1000))
      #expect(site.seen("/a").count == 2)
    }
  }

  @Test("parts that touch become one")
  func joined() async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a", with: pattern(1000))
      for range in ["0-299", "300-599", "550-799"] {
        let part = try await site.get("/a", ["Range": "bytes=\(range)"])
        let ends = range.split(separator: "-").compactMap { Int($0) }
        #expect(part.status == 206 && part.body == expected(ends[0]..<ends[1] + 1))
      }
      let across = try await site.get("/a", ["Range": "bytes=100-799"])
      #expect(across.body == expected(100..<800) && site.seen("/a").count == 3)
    }
  }

  @Test("a broken transfer fails the load, and the next one asks for the rest alone", arguments: Way.allCases)
  func resumed(_ way: Way) async throws {
    try await withSite { (site: Site) async throws in
      let cut = Locked<Int?>(300_000)
      site.origin.reply(to: "/a", with: pattern(500_000, cut: cut))
      let error2 = await failure { try await site.get("/a", by: way) }
      #expect(error2 is URLError)
      cut.withLock { $0 = nil }
      let whole = try await site.get("/a", by: way)
      #expect(whole.status == 200 && whole.body == expected(0..<500_000))
      let last = try #require(site.seen("/a").last)
      #expect(last["Range"].first?.hasPrefix("bytes=") == true && last["If-Range"] == ["\"pattern\""])
      #expect(try await site.get("/a", by: way).body == expected(0..<500_000))
      #expect(site.seen("/a").count == 2)
    }
  }

  @Test("what broke off and has changed since is loaded anew")
  func changed() async throws {
    try await withSite { (site: Site) async throws in
      let cut = Locked<Int?>(300)
      site.origin.reply(to: "/a", with: pattern(1000, cut: cut))
      let error3 = await failure { try await site.get("/a") }
      #expect(error3 is URLError)
      site.origin.reply(to: "/a") { request in
        #expect(request["If-Range"] == ["\"pattern\""])
        return .text("new", fields: [("ETag", "\"new\""), ("Cache-Control", "max-age=100")])
      }
      #expect(try await site.get("/a").text == "new")
      #expect(try await site.get("/a").text == "new")
    }
  }

  @Test("a broken transfer without a strong validator leaves nothing behind")
  func notResumable() async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a") { _ in
        Reply(200, [("Cache-Control", "max-age=100"), ("ETag", "W/\"1\"")], .truncated(Data("half".utf8), declared: 8))
      }
      let error4 = await failure { try await site.get("/a") }
      #expect(error4 is URLError)
      #expect(try await site.archive.store.usage.count == 0)
      site.archive.mode = .offline
      let error5 = await failure { try await site.get("/a") }
      #expect(cause(error5)?.code == .notStored)
    }
  }

  @Test("a body that the app drops half read ends the transfer, and its beginning is kept for the next load")
  func dropped() async throws {
    try await withSite(limits: StoreLimits(bytes: 256 << 20, entryBytes: 64 << 20)) { (site: Site) async throws in
      site.origin.reply(to: "/big") { request in
        guard request["Range"].isEmpty else {
          let first = Int(request["Range"][0].dropFirst("bytes=".count).dropLast()) ?? 0
          return Reply(
            206, [("ETag", "\"1\""), ("Content-Range", "bytes \(first)-\((32 << 20) - 1)/\(32 << 20)")],
            .whole(Data(count: (32 << 20) - first)))
        }
        return Reply(200, [("ETag", "\"1\""), ("Cache-Control", "max-age=100")], .zeros(32 << 20))
      }
      var events = site.archive.events().makeAsyncIterator()
      do {
        let response = try await site.registry.load(site.request("/big"))
        var chunks = response.body.makeAsyncIterator()
        #expect(try await chunks.next() != nil)
      }
      while let event = await events.next(), event.kind != .stored {}
      #expect(site.origin.bytesSent < 32 << 20)
      let whole = try await site.get("/big", by: .direct)
      #expect(whole.body.count == 32 << 20 && site.seen("/big").last?["Range"].count == 1)
    }
  }
}
