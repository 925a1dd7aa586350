#if Cryptography
  import Crypto
  import Foundation
  import TestSupport
  import Testing
  @testable import WaylayArchive

  @Suite("An archive in one file", .heavy, .timeLimit(.minutes(10)))
  struct InterchangeTests {
    let directory = TemporaryDirectory()
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-\(UUID().uuidString).export")

    private func fill(_ store: any ArchiveStore) async throws {
      try await store.put(.sample("a", partition: "alice", tags: ["t"], isPinned: true), body: .noise(100))
      try await store.put(.sample("b", head: "one"), body: .noise(0))
      try await store.put(.sample("b", head: "two"), body: .noise(3))
      try await store.write(.sample("c"), .noise(700_000), by: 50_000)
    }

    @Test("goes from store to store, whole", arguments: StoreKind.allCases, [nil, StoreKind.key])
    func roundTrip(kind: StoreKind, key: SymmetricKey?) async throws {
      defer { try? FileManager.default.removeItem(at: file) }
      let source = try kind.make(directory)
      try await fill(source)
      let exported = try await source.export(to: file, encryptionKey: key)
      #expect(exported == 4)
      let size = try #require(FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? NSNumber)
      #expect(size.intValue == 0o600)
      let target = MemoryStore()
      try await target.put(.sample("b", head: "in the way"), body: .noise(1))
      let imported = try await target.importEntries(from: file, encryptionKey: key)
      #expect(imported == 4)
      for store in [source, target] as [any ArchiveStore] {
        let heads = try await store.list().map(\.head)
        #expect(heads == ["head of a", "one", "two", "head of c"].map { Array($0.utf8) })
        let bodies = try await store.bodies("c")
        #expect(bodies == [.noise(700_000)])
        let entry = try await store.entries(for: ArchiveKey("a", partition: "alice")).first
        #expect(entry?.details == EntryDraft.sample("a", tags: ["t"], isPinned: true).details)
      }
      // Digests go along with an archive that is restored, and only with that.
      let elsewhere = TemporaryDirectory()
      let restored = try await ArchiveCache.Storage.disk(
        at: elsewhere.url, options: DiskStore.Options(logger: .silent)
      ).restored(
        from: file, encryptionKey: key)
      #expect(restored.usage.count == 4)
      #expect(restored.digest([1, 2, 3]) == source.digest([1, 2, 3]))
      #expect(target.digest([1, 2, 3]) != source.digest([1, 2, 3]))
      await restored.close()
      let other = TemporaryDirectory()
      await (try other.store()).close()
      let occupied = await #expect(throws: ArchiveError.self) {
        _ = try await ArchiveCache.Storage.disk(at: other.url, options: DiskStore.Options(logger: .silent)).restored(
          from: file, encryptionKey: key)
      }
      #expect(occupied?.code == .directoryUnusable)
      await source.close()
    }

    @Test("refuses foreign files and other keys, overwrites nothing, and stops at the first damage")
    func refusals() async throws {
      defer { try? FileManager.default.removeItem(at: file) }
      let store = MemoryStore()
      try await fill(store)
      try await store.export(to: file, encryptionKey: StoreKind.key)
      let again = await #expect(throws: ArchiveError.self) { try await store.export(to: file) }
      #expect(again?.code == .notWritten)
      let keyless = await #expect(throws: ArchiveError.self) { try await store.importEntries(from: file) }
      #expect(keyless?.code == .wrongKey)
      let bytes = try Data(contentsOf: file)
      #expect(bytes.range(of: Data("example.com".utf8)) == nil)
      for (foreign, code) in [
        (Data("not an archive".utf8), ArchiveError.Code.foreignFormat), (Data(), .foreignFormat),
        (bytes.dropLast(1), .unreadable),
        (bytes.dropLast(30_000), .unreadable),
      ] {
        try foreign.write(to: file)
        let target = MemoryStore()
        let error = await #expect(throws: ArchiveError.self) {
          try await target.importEntries(from: file, encryptionKey: StoreKind.key)
        }
        #expect(error?.code == code)
        #expect(target.usage.count == (code == .unreadable ? (foreign.count > bytes.count - 10 ? 4 : 3) : 0))
      }
      for position in stride(from: 0, to: bytes.count, by: 5003) where position > 400 {
        var damaged = bytes
        damaged[position] ^= 4
        try damaged.write(to: file)
        let target = MemoryStore()
        let error = await #expect(throws: ArchiveError.self) {
          try await target.importEntries(from: file, encryptionKey: StoreKind.key)
        }
        #expect(error?.code == .unreadable)
        let bodies = try await target.bodies("c")
        #expect(bodies.isEmpty || bodies == [.noise(700_000)])
      }
      let missing = await #expect(throws: ArchiveError.self) {
        try await store.importEntries(from: file.appendingPathComponent("none"))
      }
      #expect(missing?.code == .unreadable)
    }

    @Test("damaged, leaves nothing in the directory that it is restored to")
    func restored() async throws {
      let store = MemoryStore()
      for number in 0..<5 { try await store.put(.sample("\(number)"), body: .noise(1000)) }
      defer { try? FileManager.default.removeItem(at: file) }
      try await store.export(to: file)
      var bytes = try Data(contentsOf: file)
      bytes[bytes.count - 100] ^= 1
      try bytes.write(to: file)
      let error = await #expect(throws: ArchiveError.self) {
        _ = try await ArchiveCache.restore(from: file, to: .disk(at: directory.url))
      }
      #expect(error?.code == .unreadable)
      #expect(!FileManager.default.fileExists(atPath: directory.url.path))
    }
  }
#endif
