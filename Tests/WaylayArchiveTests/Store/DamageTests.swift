import Foundation
import Logging
import StoreFaults
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("A damaged archive", .timeLimit(.minutes(10)))
struct DamageTests {
  let directory = TemporaryDirectory()

  @Test(
    "gives an error instead of the bytes of a large body that was changed, also after it was read well")
  func largeBodies() async throws {
    let lines = Locked<[String]>([])
    let store = try directory.store(.init(memory: 0, logger: .keeping(lines)))
    let body = Data.noise(1_000_000)
    try await store.write(.sample("a?token=pl4nted"), body, by: 100_000)
    let entry = try #require(try await store.entries(for: ArchiveKey("a?token=pl4nted")).first)
    for _ in 0..<2 {
      let whole = try await entry.body().collect(upTo: 1 << 20)
      #expect(whole == body)
    }
    let path = try #require(directory.files.first { directory.contents($0).count == 1_000_000 })
    let handle = try FileHandle(forWritingTo: directory.url.appendingPathComponent(path))
    try handle.seek(toOffset: 700_000)
    try handle.write(contentsOf: Data([body[700_000] ^ 1]))
    try handle.close()
    let error = await #expect(throws: ArchiveError.self) {
      var seen = Data()
      for try await chunk in try await entry.body() {
        seen += chunk
        #expect(seen == body.prefix(seen.count))
      }
    }
    #expect(error?.code == .unreadable)
    // A range that does not touch the damage is still good.
    let part = try await entry.body(in: 0..<500_000).collect(upTo: 1 << 20)
    #expect(part == body.prefix(500_000))
    await store.close()
    #expect(lines.withLock { $0.allSatisfy { !$0.contains("pl4nted") } })
  }

  @Test("whose files of bodies go one by one loses just those, and says so once")
  func filesDeleted() async throws {
    let events = Locked<[StoreEvent]>([])
    let store = try directory.store(.init(memory: 0, logger: .silent))
    store.observe { event in events.withLock { $0.append(event) } }
    try await store.write(.sample("a"), .noise(100_000), by: 70_000)
    try await store.flush()
    let path = try #require(directory.bodies.first)
    try await store.write(.sample("b"), .noise(100_000), by: 70_000)
    try await store.flush()
    try FileManager.default.removeItem(at: directory.url.appendingPathComponent(path))
    let entries = try await store.entries(for: ArchiveKey("a"))
    for entry in entries { await #expect(throws: ArchiveError.self) { try await entry.body().collect(upTo: 1 << 20) } }
    #expect(try await store.bodies("b") == [.noise(100_000)])
    await store.close()
  }
}

@Suite("A disk that fails", .timeLimit(.minutes(10)))
struct FailingDiskTests {
  let directory = TemporaryDirectory()

  @Test("when nothing can be written, entries are refused and the old ones stay")
  func full() async throws {
    let failing = Locked(false)
    let lines = Locked<[String]>([])
    var options = DiskStore.Options(memory: 0, logger: .keeping(lines))
    options.disk = FailingSystem { call in call == .write && failing.withLock { $0 } ? .error(ENOSPC) : nil }
    let store = try directory.store(options)
    let old = try await store.put(.sample("old"), body: .noise(1000))
    try await store.flush()
    failing.withLock { $0 = true }
    for count in [1000, 200_000] {
      let error = await #expect(throws: ArchiveError.self) {
        try await store.write(.sample("new"), .noise(count), by: 70_000)
      }
      #expect(error?.code == .notWritten)
    }
    try store.update(old, head: Array("never".utf8), details: old.details)
    // Once, because something was given up.
    let given = await #expect(throws: ArchiveError.self) { try await store.flush() }
    #expect(given?.code == .notWritten)
    try await store.flush()
    #expect(lines.withLock { $0.count } >= 3)
    var bodies = try await store.bodies("new")
    #expect(bodies.isEmpty)
    let heads = try await store.entries(for: ArchiveKey("old")).map(\.head)
    #expect(heads == [Array("head of old".utf8)])
    failing.withLock { $0 = false }
    try await store.put(.sample("new"), body: .noise(1000))
    try await store.write(.sample("large"), .noise(200_000), by: 70_000)
    try await store.flush()
    #expect(store.usage.count == 3)
    await store.close()
    let again = try directory.store()
    for (key, count) in [("old", 1000), ("new", 1000), ("large", 200_000)] {
      bodies = try await again.bodies(key)
      #expect(bodies == [.noise(count)])
    }
    #expect(directory.bodies.count == 1)
    await again.close()
  }

  @Test("a directory that may not be written to is refused clearly, and read where that is asked for")
  func readOnlyDirectory() async throws {
    let store = try directory.store()
    try await store.put(.sample("a"), body: .noise(100))
    await store.close()
    var options = DiskStore.Options(logger: .silent)
    options.disk = FailingSystem {
      [.create, .write, .remove, .makeDirectory, .rename, .setMode].contains($0) ? .error(EROFS) : nil
    }
    let error = #expect(throws: ArchiveError.self) { try directory.store(options) }
    #expect(error?.code == .directoryUnusable)
    options.isReadOnly = true
    let reader = try directory.store(options)
    #expect(try await reader.bodies("a") == [.noise(100)])
    await reader.close()
    #expect(!directory.files.contains { $0.hasSuffix("-wal") })
  }
}
