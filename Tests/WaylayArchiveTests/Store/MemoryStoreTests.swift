import Foundation
import Testing
import WaylayArchive

@Suite("A store in memory")
struct MemoryStoreTests {
  let store = MemoryStore(limits: StoreLimits(bytes: 100_000, count: 50, entryBytes: 20_000))

  @Test("gives back what was stored, and surely nothing under another key")
  func roundTrip() async throws {
    let entry = try store.put(.sample("a"), body: Data("hello".utf8))
    let found = try #require(store.cached(ArchiveKey("a")))
    #expect(found.map(\.id) == [entry.id])
    #expect(found.first?.head == Array("head of a".utf8))
    let body = try await entry.body().collect(upTo: 100)
    #expect(body == Data("hello".utf8))
    #expect(store.cached(ArchiveKey("b"))?.isEmpty == true)
    #expect(store.cached(ArchiveKey("a", partition: "alice"))?.isEmpty == true)
  }
}
