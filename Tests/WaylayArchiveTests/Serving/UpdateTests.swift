import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("Updates of a stored response", .timeLimit(.minutes(5)))
struct UpdateTests {
  private static let fields = [("Cache-Control", "max-age=10, stale-while-revalidate=60")]

  private func text(_ response: ArchivedResponse?) async throws -> String {
    String(decoding: try await #require(response).body().collect(upTo: 1 << 20), as: UTF8.self)
  }

  @Test("the stored response comes at once, and the new one when the check behind it has found it changed")
  func changed() async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a", with: numbered(Self.fields))
      try await site.get("/a")
      site.wall.advance(by: 20)
      var events = site.archive.events().makeAsyncIterator()
      var updates = site.archive.updates(for: site.request("/a"), through: site.registry).makeAsyncIterator()
      #expect(try await text(updates.next()) == "body 1")
      #expect(try await text(updates.next()) == "body 2")
      while let event = await events.next() {
        if event.kind == .revalidatedInBackground {
          #expect(event.isChanged == true)
          break
        }
        #expect(event.isChanged == nil)
      }
      #expect(site.seen("/a").count == 2)
    }
  }

  @Test("a response that the check finds unchanged comes once", arguments: [200, 304])
  func unchanged(_ status: Int) async throws {
    try await withSite { (site: Site) async throws in
      let isChanged = Locked(false)
      site.origin.reply(to: "/a") { request in
        let fields = Self.fields + [("ETag", "\"1\""), ("X-Request", "\(UUID())")]
        if isChanged.withLock({ $0 }) { return .text("other", fields: Self.fields) }
        return status == 304 && !request["If-None-Match"].isEmpty
          ? Reply(304, fields) : .text("same", fields: fields)
      }
      try await site.get("/a")
      site.wall.advance(by: 20)
      var events = site.archive.events().makeAsyncIterator()
      var updates = site.archive.updates(for: site.request("/a"), through: site.registry).makeAsyncIterator()
      #expect(try await text(updates.next()) == "same")
      while let event = await events.next(), event.kind != .revalidatedInBackground { #expect(event.isChanged == nil) }
      isChanged.withLock { $0 = true }
      // What another load brings is an update as well.
      site.wall.advance(by: 100)
      try await site.get("/a")
      #expect(try await text(updates.next()) == "other")
    }
  }

  @Test("without a stored response the load's own comes; an error only where there is none", arguments: Way.allCases)
  func first(_ way: Way) async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a", with: numbered(Self.fields))
      var updates = site.archive.updates(for: site.request("/a")).makeAsyncIterator()
      try await site.get("/a", by: way)
      #expect(try await text(updates.next()) == "body 1")
      let gone = URLRequest(url: try #require(URL(string: "http://127.0.0.1:1/gone")))
      var failing = site.archive.updates(for: gone, through: site.registry).makeAsyncIterator()
      await #expect(throws: URLError.self) { try await failing.next() }
      site.archive.invalidate()
      #expect(try await updates.next() == nil)
    }
  }

  @Test("a large body is compared piece by piece, whatever its pieces", arguments: [0, 1, 299_999])
  func pieces(_ place: Int) async throws {
    let one = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
    var other = one
    other[place] ^= 1
    func body(_ data: Data, _ size: Int) -> MessageBody {
      .stream(length: nil) {
        AsyncStream { continuation in
          for start in stride(from: 0, to: data.count, by: size) {
            continuation.yield(data[start..<min(start + size, data.count)])
          }
          continuation.finish()
        }
      }
    }
    #expect(try await body(one, 1000).equals(body(one, 777)))
    #expect(try await !body(one, 1000).equals(body(other, 4096)))
    #expect(try await !body(one, 1000).equals(body(one.dropLast(), 1000)))
    #expect(try await !body(one.dropLast(), 1000).equals(body(one, 1000)))
  }
}
