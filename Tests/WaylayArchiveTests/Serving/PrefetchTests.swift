import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("Prefetching", .timeLimit(.minutes(5)))
struct PrefetchTests {
  private func requests(_ site: Site, _ paths: [String]) -> [URLRequest] { paths.map { site.request($0) } }

  @Test("stores what is not there, leaves what is, and says so step by step", arguments: [1, 4])
  func stores(atMost limit: Int) async throws {
    try await withSite { (site: Site) async throws in
      let large = Data.noise(3_000_000)
      let paths = (0..<9).map { "/\($0)" }
      for path in paths { site.origin.reply(to: path, with: numbered([("Cache-Control", "max-age=100")])) }
      site.origin.reply(to: "/large") { _ in Reply(200, [("Cache-Control", "max-age=100")], .whole(large)) }
      try await site.get("/0")
      var steps: [Int] = []
      let wanted = requests(site, paths + ["/large"])
      let result = try await site.archive.prefetch(wanted, through: site.registry, atMost: limit) {
        #expect($0.total == 10 && $0.finished == $0.stored + $0.present)
        steps.append($0.finished)
      }
      #expect(steps == Array(1...10))
      #expect(result.stored == 9 && result.present == 1 && result.failures.isEmpty)
      #expect(result.bytes == 3_000_000 + 8 * 6)
      await site.origin.stop()
      site.archive.mode = .offline
      #expect(try await site.get("/5").text == "body 1")
      #expect(try await site.get("/large").body == large)
    }
  }

  @Test("at most so many are under way at once")
  func limit() async throws {
    try await withSite { (site: Site) async throws in
      let (now, most) = (Locked(0), Locked(0))
      let crowd = InterceptorRegistry {
        site.archive
        Counting(now: now, most: most)
      }
      let result = try await site.archive.prefetch(requests(site, (0..<20).map { "/\($0)" }), through: crowd, atMost: 3)
      #expect(result.stored == 20)
      #expect(most.withLock { $0 } <= 3 && now.withLock { $0 } == 0)
      crowd.invalidate()
    }
  }

  /// Answers, and counts how many it does at once.
  private struct Counting: RequestInterceptor {
    let now: Locked<Int>
    let most: Locked<Int>

    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      let count = now.withLock { now in
        now += 1
        return now
      }
      most.withLock { $0 = max($0, count) }
      for _ in 0..<20 { await Task.yield() }
      now.withLock { $0 -= 1 }
      return InterceptedResponse(
        to: request, fields: [.cacheControl: "max-age=100"], body: .text("a"), source: .network)
    }
  }

  @Test("what is stale is validated, and what has moved is stored with where it moved from")
  func validates() async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a", with: tagged("text", "\"1\"", [("Cache-Control", "max-age=10")]))
      site.origin.reply(to: "/old") { _ in Reply(302, [("Location", "/a")]) }
      try await site.get("/a")
      site.wall.advance(by: 100)
      let result = try await site.archive.prefetch(requests(site, ["/a", "/old"]), through: site.registry, atMost: 1)
      #expect(result.present == 2 && result.failures.isEmpty)
      #expect(site.seen("/a").count == 2)
      await site.origin.stop()
      site.archive.mode = .offline
      #expect(try await site.get("/old").text == "text")
    }
  }

  @Test("what cannot be loaded, or not be stored, is named with its reason")
  func failures() async throws {
    try await withSite(limits: StoreLimits(bytes: 1 << 20, entryBytes: 5000)) { (site: Site) async throws in
      site.origin.reply(to: "/secret", with: numbered([("Cache-Control", "no-store")]))
      site.origin.reply(to: "/missing", with: numbered(status: 404))
      site.origin.reply(to: "/large") { _ in Reply(200, [("Cache-Control", "max-age=100")], .whole(.noise(6000))) }
      site.origin.reply(to: "/a", with: numbered([("Cache-Control", "max-age=100")]))
      var wanted = requests(site, ["/secret", "/missing", "/large", "/a"])
      wanted.append(URLRequest(url: URL(string: "http://127.0.0.1:1/closed")!))
      let result = try await site.archive.prefetch(wanted, through: site.registry, atMost: 1)
      #expect(result.stored == 1 && result.finished == 5)
      #expect(result.failures.map { $0.request.url?.lastPathComponent } == ["secret", "missing", "large", "closed"])
      let messages = result.failures.map { ($0.error as? ArchiveError)?.message ?? "" }
      #expect(messages[0].contains("no-store") && messages[1].contains("404") && messages[2].contains("entryBytes"))
      #expect(result.failures.dropLast().allSatisfy { ($0.error as? ArchiveError)?.code == .notPrefetched })
      #expect((result.failures.last?.error as? URLError)?.code == .cannotConnectToHost)
    }
  }

  @Test("a registry that does not lead through the archive is no success")
  func otherRegistry() async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a", with: numbered([("Cache-Control", "max-age=100")]))
      let other = InterceptorRegistry { ArchiveCache() }
      let result = try await site.archive.prefetch(requests(site, ["/a"]), through: other)
      #expect((result.failures.first?.error as? ArchiveError)?.code == .notPrefetched)
      #expect(site.archive.counters.stored == 0)
      other.invalidate()
    }
  }

  @Test("cancelled, it ends, and what was stored stays")
  func cancelled() async throws {
    try await withSite { (site: Site) async throws in
      for path in ["/0", "/1", "/2"] { site.origin.reply(to: path, with: numbered([("Cache-Control", "max-age=100")])) }
      let wanted = requests(site, ["/0", "/1", "/2"])
      let task = Task {
        try await site.archive.prefetch(wanted, through: site.registry, atMost: 1) { _ in
          withUnsafeCurrentTask { $0?.cancel() }
        }
      }
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(site.archive.counters.stored == 1)
    }
  }
}
