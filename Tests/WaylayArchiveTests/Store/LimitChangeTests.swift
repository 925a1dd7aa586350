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
    for number in 0..<10 { try store.put(.sample("\(number)"), body: .noise(10_000)) }
    try await store.flush()
    store.limits.bytes = 50_000
    try await store.flush()
    #expect(store.usage.count == 4 && store.usage.bytes <= 50_000)
    #expect(store.limits.bytes == 50_000)
    store.limits = StoreLimits(bytes: 1 << 20, count: 3, entryBytes: 500, evictionTarget: 1)
    try await store.flush()
    #expect(store.usage.count == 3)
    let error = #expect(throws: ArchiveError.self) { try store.put(.sample("large"), body: .noise(1000)) }
    #expect(error?.code == .entryTooLarge)
    #expect(throws: ArchiveError.self) { try store.makeWriter(for: ArchiveKey("large"), length: 1000) }
    store.limits = StoreLimits(bytes: 1 << 20, entryBytes: 1 << 19)
    try store.put(.sample("large"), body: .noise(100_000))
    #expect(store.usage.count == 4)
    await store.close()
    #expect(evicted.withLock { $0 } == 7)
    store.limits.bytes = 0
  }

  @Test("what is pinned stays, and a store for reading leaves what it reads alone")
  func left() async throws {
    let store = try directory.store()
    try store.put(.sample("pinned", isPinned: true), body: .noise(1000))
    try store.put(.sample("other"), body: .noise(1000))
    try await store.flush()
    let reader = try directory.store(.init(whenLocked: .readOnly, logger: .silent))
    reader.limits.bytes = 0
    #expect(try await reader.bodies("other") == [.noise(1000)])
    store.limits.bytes = 0
    try await store.flush()
    #expect(try await store.bodies("pinned") == [.noise(1000)] && store.usage.count == 1)
    await reader.close()
    await store.close()
  }
}
