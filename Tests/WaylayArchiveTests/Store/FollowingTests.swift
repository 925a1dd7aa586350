import Foundation
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("A store for reading beside the one that writes", .timeLimit(.minutes(5)))
struct FollowingTests {
  let directory = TemporaryDirectory()

  private func reader(_ lines: Locked<[String]>? = nil) throws -> DiskStore {
    try directory.store(.init(whenLocked: .readOnly, logger: lines.map { .keeping($0) } ?? .silent))
  }

  @Test("finds nothing any more of what was removed, at its next look-up", arguments: [100, 300_000])
  func removal(size: Int) async throws {
    let writer = try directory.store()
    let entry = try writer.put(.sample("a"), body: .noise(size))
    try writer.put(.sample("b"), body: .noise(size))
    try await writer.flush()
    let lines = Locked<[String]>([])
    let reader = try reader(lines)
    for _ in 0..<3 {
      let bodies = try await reader.bodies("a")
      #expect(bodies == [.noise(size)])
    }
    writer.remove([entry.id])
    try await writer.flush()
    #expect(reader.cached(ArchiveKey("a"))?.isEmpty ?? true)
    let found = try await reader.entries(for: ArchiveKey("a"))
    #expect(found.isEmpty)
    let left = try await reader.list()
    #expect(left.map(\.key) == [ArchiveKey("b")])
    #expect(lines.withLock { $0 } == [])
    await reader.close()
    await writer.close()
  }

  @Test("sees a new head, a longer body and a replacement at its next look-up")
  func changes() async throws {
    let writer = try directory.store()
    let entry = try writer.put(.sample("a"), body: .noise(100))
    try await writer.flush()
    let reader = try reader()
    var heads = try await reader.entries(for: ArchiveKey("a")).map(\.head)
    #expect(heads == [Array("head of a".utf8)])
    try writer.update(entry, head: Array("new".utf8), details: entry.details)
    try await writer.flush()
    heads = try await reader.entries(for: ArchiveKey("a")).map(\.head)
    #expect(heads == [Array("new".utf8)])
    let resumed = try #require(try await writer.resumeWriting(entry))
    try await resumed.append(.noise(100_000, seed: 2))
    try await resumed.commit(.sample("a"))
    var bodies = try await reader.bodies("a")
    #expect(bodies == [Data.noise(100) + Data.noise(100_000, seed: 2)])
    try writer.put(.sample("a", replacing: [entry.id]), body: .noise(7, seed: 3))
    try await writer.flush()
    bodies = try await reader.bodies("a")
    #expect(bodies == [.noise(7, seed: 3)])
    await reader.close()
    await writer.close()
  }

  @Test("follows the log into its shorter form, with removals on both sides", arguments: [1, 2])
  func compaction(readers: Int) async throws {
    let writer = try directory.store()
    var kept: [StoredEntry] = []
    for number in 0..<20 { kept.append(try writer.put(.sample("kept \(number)"), body: .noise(number + 1))) }
    try await writer.flush()
    let readers = try (0..<readers).map { _ in try reader() }
    for round in 0..<6 {
      for _ in 0..<700 { writer.remove([try writer.put(.sample("passing"), body: .noise(1)).id]) }
      writer.remove([kept.removeFirst().id])
      try await writer.flush()
      for reader in readers {
        let gone = try await reader.entries(for: ArchiveKey("kept \(round)"))
        #expect(gone.isEmpty)
        let listed = try await reader.list().map(\.id)
        #expect(listed == kept.map(\.id))
      }
    }
    for reader in readers { await reader.close() }
    await writer.close()
  }

  @Test(
    "removing everything is over for readers too when it returns", arguments: [EntryFilter.all, .host("example.com")])
  func clearing(filter: EntryFilter) async throws {
    let writer = try directory.store()
    for number in 0..<50 { try writer.put(.sample("\(number)"), body: .noise(100)) }
    try await writer.flush()
    let reader = try reader()
    let before = try await reader.list().count
    #expect(before == 50)
    let removed = try await writer.removeAll(filter)
    #expect(removed == 50)
    let after = try await reader.list().count
    #expect(after == 0)
    for number in 0..<50 {
      let found = try await reader.entries(for: ArchiveKey("\(number)"))
      #expect(found.isEmpty)
    }
    await reader.close()
    await writer.close()
  }

  @Test(
    "serves nothing of a directory that has been removed, nor of the one that took its place", arguments: [false, true])
  func replaced(isRenamed: Bool) async throws {
    let writer = try directory.store()
    for number in 0..<3 { try writer.put(.sample("\(number)"), body: .noise(100)) }
    try await writer.flush()
    let lines = Locked<[String]>([])
    let reader = try reader(lines)
    let before = try await reader.list().count
    #expect(before == 3)
    await writer.close()
    let aside = TemporaryDirectory()
    if isRenamed {
      try FileManager.default.moveItem(at: directory.url, to: aside.url)
    } else {
      try FileManager.default.removeItem(at: directory.url)
    }
    let next = try directory.store()
    for number in 0..<5 { try next.put(.sample("\(number)"), body: .noise(100, seed: 2)) }
    try await next.flush()
    for _ in 0..<3 {
      let found = (try? await reader.entries(for: ArchiveKey("1"))) ?? []
      #expect(found.isEmpty)
      let listed = (try? await reader.list()) ?? []
      #expect(listed.isEmpty)
    }
    #expect(lines.withLock { $0.count } <= 1)
    await reader.close()
    #expect(next.usage.count == 5)
    await next.close()
  }
}
