import Foundation
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("Limits that are changed while a store is in use", .timeLimit(.minutes(5)))
struct LimitChangeTests {
  let directory = TemporaryDirectory()

  private func store(_ isOnDisk: Bool, _ limits: StoreLimits) throws -> any ArchiveStore {
    isOnDisk ? try directory.store(.init(limits: limits, logger: .silent)) : MemoryStore(limits: limits)
  }

  @Test("lowered, they make room at once; raised, they take more", arguments: [true, false])
  func changed(isOnDisk: Bool) async throws {
    let store = try store(isOnDisk, StoreLimits(bytes: 1 << 20, entryBytes: 1 << 19, evictionTarget: 1))
    let evicted = Locked(0)
    store.observe { event in if event.kind == .evicted { evicted.withLock { $0 += 1 } } }
    for number in 0..<10 { try await store.put(.sample("\(number)"), body: .noise(10_000)) }
    try await store.flush()
    store.limits.bytes = 50_000
    try await store.flush()
    #expect(store.usage.count == 4 && store.usage.bytes <= 50_000)
    #expect(store.limits.bytes == 50_000)
    store.limits = StoreLimits(bytes: 1 << 20, count: 3, entryBytes: 500, evictionTarget: 1)
    try await store.flush()
    #expect(store.usage.count == 3)
    let error = await #expect(throws: ArchiveError.self) { try await store.put(.sample("large"), body: .noise(1000)) }
    #expect(error?.code == .entryTooLarge)
    #expect(throws: ArchiveError.self) { try store.makeWriter(for: ArchiveKey("large"), length: 1000) }
    store.limits = StoreLimits(bytes: 1 << 20, entryBytes: 1 << 19)
    try await store.put(.sample("large"), body: .noise(100_000))
    #expect(store.usage.count == 4)
    await store.close()
    #expect(evicted.withLock { $0 } == 7)
    store.limits.bytes = 0
  }

  @Test("an eviction ends at its target, however many entries it takes")
  func target() async throws {
    let store = try directory.store(
      .init(limits: StoreLimits(bytes: 1 << 30, count: 3000, evictionTarget: 0.1), logger: .silent))
    await withTaskGroup { group in
      for number in 0..<3000 { group.addTask { _ = try? await store.put(.sample("\(number)"), body: .noise(10)) } }
    }
    #expect(store.usage.count == 3000)
    try await store.put(.sample("last"), body: .noise(10))
    #expect(await store.settle())
    #expect(store.usage.count <= 300)
    await store.close()
  }

  @Test("a longer head in memory makes room")
  func longerHead() async throws {
    let store = MemoryStore(limits: StoreLimits(bytes: 20_000, entryBytes: 20_000, evictionTarget: 1))
    for key in ["a", "b"] { try await store.put(.sample(key), body: .noise(8000)) }
    let entry = try #require(store.cached(ArchiveKey("b"))?.first)
    try store.update(entry, head: [UInt8](repeating: 1, count: 6000), details: entry.details)
    #expect(store.usage.bytes <= 20_000 && store.usage.count == 1)
  }

  @Test("what is pinned stays, and a store for reading leaves what it reads alone")
  func left() async throws {
    let store = try directory.store()
    try await store.put(.sample("pinned", isPinned: true), body: .noise(1000))
    try await store.put(.sample("other"), body: .noise(1000))
    try await store.flush()
    let reader = try directory.store(.init(isReadOnly: true, logger: .silent))
    reader.limits.bytes = 0
    #expect(try await reader.bodies("other") == [.noise(1000)])
    store.limits.bytes = 0
    try await store.flush()
    #expect(try await store.bodies("pinned") == [.noise(1000)] && store.usage.count == 1)
    await reader.close()
    await store.close()
  }
}
