import Foundation
import Logging
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("What the store does not take, and what it cannot be opened for, is said", .timeLimit(.minutes(5)))
struct OverLimitTests {
  @Test("a body over the limit of an entry is not called stored, and the log says why", arguments: [300, 300_000])
  func tooLarge(length: Int) async throws {
    let lines = Locked<[String]>([])
    try await withSite(
      limits: StoreLimits(bytes: 1 << 20, entryBytes: Int64(length)),
      {
        #if StructuredFields
          $0.cacheStatus = .always
        #endif
        $0.logger = .keeping(lines)
        $0.logger?.logLevel = .notice
      }
    ) { (site: Site) async throws in
      site.origin.reply(to: "/a") { _ in Reply(200, [("Cache-Control", "max-age=100")], .whole(.noise(length + 1))) }
      site.origin.reply(to: "/b") { _ in Reply(200, [("Cache-Control", "max-age=100")], .whole(.noise(10))) }
      for _ in 0..<2 {
        let answer = try await site.get("/a", by: .direct)
        #if StructuredFields
          #expect(answer["Cache-Status"] == "Waylay;fwd=uri-miss;detail=entryTooLarge")
        #endif
        #expect(answer.body == .noise(length + 1))
      }
      #expect(lines.withLock { $0.count { $0.contains("raise StoreLimits.entryBytes") } } == 2)
      #if StructuredFields
        if length > 1000 { #expect(try await site.get("/b")["Cache-Status"] == "Waylay;fwd=uri-miss;stored") }
      #endif
    }
  }

  @Test("an archive that cannot be opened warns where the store's own lines go, though nobody gave it a logger")
  func notOpened() async throws {
    let directory = TemporaryDirectory()
    try directory.write(Data("mine".utf8), "notes.txt")
    let lines = Locked<[String]>([])
    let archive = ArchiveCache(.disk(at: directory.url, options: DiskStore.Options(logger: .keeping(lines))))
    let error = await failure { try await archive.waitUntilOpen() }
    #expect((error as? ArchiveError)?.code == .foreignFormat)
    #expect(lines.withLock { $0.count { $0.contains("could not be opened") } } == 1)
    archive.invalidate()
    // A logger of the archive's own has it alone.
    let own = Locked<[String]>([])
    let other = ArchiveCache(.disk(at: directory.url, options: DiskStore.Options(logger: .keeping(lines)))) {
      $0.logger = .keeping(own)
    }
    _ = await failure { try await other.waitUntilOpen() }
    #expect(lines.withLock { $0.count } == 1 && own.withLock { $0.contains { $0.contains("could not be opened") } })
    other.invalidate()
  }
}
