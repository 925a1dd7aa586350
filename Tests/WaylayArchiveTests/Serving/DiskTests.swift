import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("An archive on the disk", .timeLimit(.minutes(10)))
struct DiskTests {
  /// An archive of a directory and a session through it, as a process has them.
  private func run(
    _ origin: TestOrigin, _ directory: URL, _ wall: Wall, _ body: (Site) async throws -> Void
  ) async throws {
    let archive = ArchiveCache(at: directory) { $0.now = { wall.now } }
    let site = Site(origin, archive, wall: wall)
    try await archive.waitUntilOpen()
    try await body(site)
    site.session.invalidateAndCancel()
    site.registry.invalidate()
    await archive.close()
  }

  @Test("what one process stored, the next one reads, with the server gone", .heavy, arguments: Way.allCases)
  func restart(_ way: Way) async throws {
    let origin = try await TestOrigin.start()
    let wall = Wall()
    try await withDirectory { directory in
      let large = Data((0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
      origin.reply(to: "/small", with: numbered([("Cache-Control", "max-age=10")]))
      origin.reply(to: "/large") { _ in Reply(200, [("Cache-Control", "max-age=10")], .whole(large)) }
      try await run(origin, directory, wall) { (site: Site) async throws in
        try await site.get("/small", by: way)
        try await site.get("/large", by: way)
      }
      await origin.stop()
      wall.advance(by: 1000)
      try await run(origin, directory, wall) { (site: Site) async throws in
        site.archive.mode = .offline
        #expect(try await site.get("/small", by: way).text == "body 1")
        #expect(try await site.get("/large", by: way).body == large)
      }
    }
  }

  @Test("a download that one process began, the next one completes: Range and If-Range")
  func download() async throws {
    let origin = try await TestOrigin.start()
    let wall = Wall()
    let bytes = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 13) })
    origin.breaksOff(at: 600_000, of: bytes, to: "/file")
    try await withDirectory { directory in
      let file = directory.appendingPathExtension("download")
      defer { try? FileManager.default.removeItem(at: file) }
      try await run(origin, directory, wall) { (site: Site) async throws in
        let error = await failure { try await site.registry.download(for: site.request("/file"), to: file) }
        #expect(error is URLError)
      }
      let counted = Locked<[Int64]>([])
      try await run(origin, directory, wall) { (site: Site) async throws in
        try await site.registry.download(for: site.request("/file"), to: file) { progress in
          counted.withLock { $0.append(progress.receivedBytes) }
        }
      }
      #expect(try Data(contentsOf: file) == bytes)
      #expect(counted.withLock { $0.last } == 1_000_000)
      let last = try #require(origin.requests(to: "/file").last)
      #expect(last["Range"].first?.hasPrefix("bytes=") == true && last["Range"] != ["bytes=0-"])
      #expect(origin.requests(to: "/file").count == 2)
    }
    await origin.stop()
  }

  @Test("ten who read one large body at once, while it comes, read it whole and right")
  func collapsed() async throws {
    let origin = try await TestOrigin.start()
    let wall = Wall()
    let size = 8 << 20
    origin.reply(to: "/large") { _ in Reply(200, [("Cache-Control", "max-age=10")], .zeros(size)) }
    try await withDirectory { directory in
      try await run(origin, directory, wall) { (site: Site) async throws in
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
          for index in 0..<10 {
            group.addTask {
              var count = 0
              for try await chunk in try await site.registry.load(site.request("/large")).body {
                count += chunk.count
                if index.isMultiple(of: 3) { await Task.yield() }
              }
              return count
            }
          }
          return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts == Array(repeating: size, count: 10))
        #expect(origin.requests(to: "/large").count == 1)
      }
    }
    await origin.stop()
  }

  @Test("an archive of a directory that another process writes to answers what that one stores, and stores too")
  func shared() async throws {
    let origin = try await TestOrigin.start()
    let wall = Wall()
    for path in ["/a", "/b"] { origin.reply(to: path, with: numbered([("Cache-Control", "max-age=10")])) }
    try await withDirectory { directory in
      let other = ArchiveCache(store: try DiskStore(at: directory)) { $0.now = { wall.now } }
      let (first, second) = (
        Site(origin, other, wall: wall), Site(origin, ArchiveCache(at: directory) { $0.now = { wall.now } }, wall: wall)
      )
      for site in [first, second] { try await site.get("/a") }
      for site in [second, first] { try await site.get("/b") }
      for path in ["/a", "/b"] { #expect(origin.requests(to: path).count == 1) }
      for site in [first, second] { await site.end() }
      await second.archive.close()
      await other.close()
    }
    await origin.stop()
  }
}
