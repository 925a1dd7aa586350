import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("Modes", .timeLimit(.minutes(5)))
struct LoadModeTests {
  @Test("offline gives anything that is stored, whatever its age, marked as stale", arguments: Way.allCases)
  func offline(_ way: Way) async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a", with: numbered([("Cache-Control", "max-age=1, must-revalidate")]))
      try await site.get("/a", by: way)
      await site.origin.stop()
      site.wall.advance(by: 1_000_000)
      site.archive.mode = .offline
      let second = try await site.get("/a", by: way)
      #expect(second.text == "body 1" && second["Age"] == "1000000")
      #if StructuredFields
        #expect(second["Cache-Status"]?.contains("ttl=-") == true)
      #endif
      #expect(site.archive.counters.staleHits == 1)
    }
  }

  @Test("a miss offline is an error that says why, and nothing is sent", arguments: Way.allCases)
  func miss(_ way: Way) async throws {
    try await withSite { (site: Site) async throws in
      site.archive.mode = .offline
      for method in ["GET", "POST"] {
        let error = await failure { try await site.load(site.request("/a", method: method), by: way) }
        #expect((error as? URLError)?.code == .resourceUnavailable)
        #expect(cause(error)?.code == .notStored && cause(error)?.message.contains("offline") == true)
      }
      #expect(site.origin.connectionCount == 0)
    }
  }

  @Test("preferArchive asks the network for what is not stored, and for nothing else")
  func preferArchive() async throws {
    try await withSite { (site: Site) async throws in
      site.archive.mode = .preferArchive
      site.origin.reply(to: "/a", with: numbered([("Cache-Control", "max-age=1")]))
      try await site.get("/a")
      site.wall.advance(by: 1000)
      #expect(try await site.get("/a").text == "body 1")
      #expect(site.seen("/a").count == 1)
    }
  }

  @Test("a request's mode, set by an interceptor, goes before the archive's")
  func ofRequest() async throws {
    try await withSite { (site: Site) async throws in
      site.origin.reply(to: "/a", with: numbered([("Cache-Control", "max-age=1")]))
      try await site.get("/a")
      site.wall.advance(by: 1000)
      let registry = InterceptorRegistry(configuration: .ephemeral) {
        Intercept(request: { if $0.fields[.accept] == "text/old" { $0.archiveMode = .preferArchive } })
        site.archive
      }
      var request = URLRequest(url: site.origin.url("/a"))
      request.setValue("text/old", forHTTPHeaderField: "Accept")
      #expect(String(decoding: try await registry.data(for: request).0, as: UTF8.self) == "body 1")
      request.setValue("text/new", forHTTPHeaderField: "Accept")
      #expect(String(decoding: try await registry.data(for: request).0, as: UTF8.self) == "body 2")
      registry.invalidate()
      site.wall.advance(by: 1000)
      var noted = InterceptedRequest(site.request("/a"))
      noted.archiveMode = .offline
      let next = InterceptorChain.Next { _ in throw URLError(.badURL) }
      #expect(try await site.archive.startLoading(noted, next: next).source == .staleArchive)
    }
  }

  @Test("a sequence of reachability drives the mode")
  func reachability() async throws {
    try await withSite { (site: Site) async throws in
      let (stream, continuation) = AsyncStream.makeStream(of: Bool.self)
      let turns = AsyncStream.makeStream(of: Void.self)
      site.archive.follow(Watched(stream: stream, told: turns.continuation))
      var told = turns.stream.makeAsyncIterator()
      _ = await told.next()
      continuation.yield(false)
      _ = await told.next()
      #expect(site.archive.mode == .offline)
      continuation.yield(true)
      _ = await told.next()
      #expect(site.archive.mode == .online)
    }
  }

  @Test(
    "a sequence is not read any longer after invalidate(), whether it was followed before or after",
    arguments: [true, false])
  func reachabilityEnds(isLate: Bool) async throws {
    try await withSite { (site: Site) async throws in
      let (stream, continuation) = AsyncStream.makeStream(of: Bool.self)
      let (ended, end) = AsyncStream.makeStream(of: Void.self)
      continuation.onTermination = { _ in end.finish() }
      if isLate { site.archive.invalidate() }
      site.archive.follow(stream)
      if !isLate { site.archive.invalidate() }
      // Where it goes on being read, this ends with the time limit.
      for await _ in ended {}
      continuation.yield(false)
      #expect(site.archive.mode == .online)
    }
  }

  /// Tells when it is asked for the next element: then the one before has been dealt with.
  private struct Watched: AsyncSequence, Sendable {
    let stream: AsyncStream<Bool>
    let told: AsyncStream<Void>.Continuation

    struct AsyncIterator: AsyncIteratorProtocol {
      var base: AsyncStream<Bool>.AsyncIterator
      let told: AsyncStream<Void>.Continuation

      @concurrent mutating func next() async -> Bool? {
        told.yield()
        return await base.next()
      }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: stream.makeAsyncIterator(), told: told) }
  }

  @Test("without an archive requests go through; offline they fail with the reason")
  func unavailable() async throws {
    let origin = try await TestOrigin.start()
    let wall = Wall()
    let site = Site(origin, ArchiveCache(at: URL(fileURLWithPath: "/dev/null/archive")), wall: wall)
    #expect(try await site.get("/hello").text == "hello")
    let error7 = await failure { try await site.archive.waitUntilOpen() }
    #expect(error7 is ArchiveError)
    site.archive.mode = .offline
    let error = await failure { try await site.get("/hello") }
    #expect(cause(error)?.code == .unavailable && cause(error)?.underlying != nil)
    await site.end()
  }
}
