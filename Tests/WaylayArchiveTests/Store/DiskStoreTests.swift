import Crypto
import Foundation
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("A store on disk", .timeLimit(.minutes(5)))
struct DiskStoreTests {
  let directory = TemporaryDirectory()

  @Test(
    "has after a restart what it had before",
    arguments: [StoreKind.disk, .compressed] + StoreKind.encryptedKinds)
  func restart(kind: StoreKind) async throws {
    for round in 0..<3 {
      let store = try kind.make(directory)
      for earlier in 0..<round {
        let bodies = try await store.bodies("put \(earlier)", partition: "alice")
        #expect(bodies == [.noise(50_000 * (earlier + 1))])
        let written = try await store.bodies("written \(earlier)")
        #expect(written == [.noise(150_000)])
        let heads = try await store.entries(for: ArchiveKey("written \(earlier)")).map(\.head)
        #expect(heads == [Array("new".utf8)])
        #expect(store.cached(ArchiveKey("removed \(earlier)", partition: "alice"))?.isEmpty == true)
      }
      #expect(store.usage.count == round * 2)
      try store.put(.sample("put \(round)", partition: "alice"), body: .noise(50_000 * (round + 1)))
      let removed = try store.put(.sample("removed \(round)", partition: "alice"), body: .noise(10))
      let entry = try await store.write(.sample("written \(round)"), .noise(150_000), by: 64_000)
      try store.update(entry, head: Array("new".utf8), details: entry.details)
      store.remove([removed.id])
      let total = try await store.list().reduce(0) { $0 + $1.storedBytes }
      try await store.flush()
      #expect(store.usage.bytes <= total)
      await store.close()
    }
  }

  @Test("keeps its log short, and everything in it")
  func compaction() async throws {
    let lines = Locked<[String]>([])
    let store = try directory.store(.init(logger: .keeping(lines)))
    for number in 0..<40 { try store.put(.sample("kept \(number)", isPinned: number == 7), body: .noise(number)) }
    for round in 0..<3000 {
      let entry = try store.put(.sample("passing \(round)"), body: .noise(5))
      store.remove([entry.id])
      if round % 500 == 0 { try await store.flush() }
    }
    await store.close()
    #expect(lines.withLock { $0.isEmpty })
    let logs = directory.files.filter { $0.hasPrefix("log/") }
    #expect(logs.count == 1)
    #expect(directory.contents(logs[0]).count < 96 * 2400)
    #expect(directory.files.filter { $0.hasPrefix("entries/") }.count == 40)
    let again = try directory.store()
    let kept = try await again.list()
    #expect(kept.map(\.details.url) == (0..<40).map { "https://example.com/kept \($0)" })
    #expect(kept.filter(\.details.isPinned).count == 1)
    await again.close()
  }

  @Test("never gives a number twice, also not when nothing is left of the entry that had it", arguments: [0, 2000])
  func numbers(removed: Int) async throws {
    var given: Set<EntryID> = []
    for round in 0..<4 {
      let store = try directory.store()
      var last: [EntryID] = []
      for number in 0...removed {
        last = [try store.put(.sample("a"), body: .noise(1)).id]
        #expect(given.isDisjoint(with: last))
        given.formUnion(last)
        if round % 2 == 0, number % 100 == 0 { try await store.flush() }
        store.remove(last)
      }
      if round == 2 {
        await store.close()
        // A disk that lost all that the log said.
        let log = try #require(directory.files.first { $0.hasPrefix("log/") })
        try directory.write(Data(), log)
      } else {
        await store.close()
      }
    }
    #expect(given.count == 4 * (removed + 1))
  }

  @Test("is for its owner alone, and names no file by a URL")
  func privacy() async throws {
    let store = try directory.store(.init(folderName: { $0 == "alice" ? "users.alice" : "../escape" }, logger: .silent))
    try store.put(.sample("secret-path", partition: "alice"), body: .noise(100))
    try await store.write(.sample("secret-path", partition: "bob"), .noise(100_000), by: 9000)
    await store.close()
    for path in directory.files + ["log", "entries", "entries/users.alice", ""] {
      let attributes = try FileManager.default.attributesOfItem(atPath: directory.url.appendingPathComponent(path).path)
      let mode = try #require(attributes[.posixPermissions] as? NSNumber).intValue
      #expect(mode == (directory.files.contains(path) ? 0o600 : 0o700), "\(path)")
      #expect(!path.contains("secret"))
    }
    let folders = Set(directory.files.filter { $0.hasPrefix("entries/") }.map { $0.split(separator: "/")[1] })
    #expect(folders.count == 2)
    #expect(folders.contains("users.alice"))
    #expect(
      !FileManager.default.fileExists(
        atPath: directory.url.deletingLastPathComponent().appendingPathComponent("escape").path))
    let log = directory.files.filter { $0.hasPrefix("log/") }.map(directory.contents)
    #expect(log.allSatisfy { $0.range(of: Data("secret".utf8)) == nil })
  }

  #if Cryptography
    @Test("encrypted, has nothing readable on disk, and is opened by its key alone")
    func encryption() async throws {
      func options(_ key: SymmetricKey?) -> DiskStore.Options {
        var options = DiskStore.Options(logger: .silent)
        if let key { options.encryptionKey = { key } }
        return options
      }
      let store = try directory.store(options(StoreKind.key))
      let text = Data(String(repeating: "confidential ", count: 20_000).utf8)
      try store.put(.sample("confidential", partition: "confidential"), body: Data(text.prefix(1000)))
      try await store.write(.sample("confidential"), text, by: 100_000)
      await store.close()
      #expect(directory.files.allSatisfy { directory.contents($0).range(of: Data("confiden".utf8)) == nil })
      let before = directory.files.map(directory.contents)
      for key in [SymmetricKey(size: .bits256), nil] {
        let error = #expect(throws: ArchiveError.self) { try directory.store(options(key)) }
        #expect(error?.code == .wrongKey)
      }
      struct NoKey: Error {}
      #expect(throws: NoKey.self) { try directory.store(.init(encryptionKey: { throw NoKey() }, logger: .silent)) }
      #expect(directory.files.map(directory.contents) == before)
      let again = try directory.store(options(StoreKind.key))
      let bodies = try await again.bodies("confidential")
      #expect(bodies == [text])
      await again.close()
      let plain = TemporaryDirectory()
      await (try plain.store()).close()
      let error = #expect(throws: ArchiveError.self) { try plain.store(options(StoreKind.key)) }
      #expect(error?.code == .wrongKey)
    }
  #endif

  @Test("compressed, takes less room for text and no more for the rest")
  func compression() async throws {
    let store = try StoreKind.compressed.make(directory)
    let text = Data(String(repeating: "all work and no play makes jack a dull boy. ", count: 10_000).utf8)
    let put = try store.put(.sample("put", mediaType: "application/json"), body: text)
    let written = try await store.write(.sample("written"), text, by: 100_000)
    let noise = try await store.write(.sample("noise", mediaType: "text/plain"), .noise(text.count), by: 100_000)
    try await store.flush()
    #expect(written.storedBytes < Int64(text.count / 10))
    #expect(noise.storedBytes < Int64(text.count + 2000))
    let stored = try await store.list(.prefix(put.details.url)).first?.storedBytes ?? .max
    #expect(stored < Int64(text.count / 10))
    await store.close()
  }

  @Test("lets one store write at a time; another fails, or reads what the first one stores")
  func locking() async throws {
    let writer = try directory.store()
    try writer.put(.sample("a"), body: .noise(100))
    try await writer.flush()
    let error = #expect(throws: ArchiveError.self) { try directory.store() }
    #expect(error?.code == .locked)
    let reader = try directory.store(.init(whenLocked: .readOnly, logger: .silent))
    #expect(reader.isReadOnly)
    var bodies = try await reader.bodies("a")
    #expect(bodies == [.noise(100)])
    let refused = #expect(throws: ArchiveError.self) { try reader.put(.sample("b"), body: .noise(1)) }
    #expect(refused?.code == .readOnly)
    let fruitless = await #expect(throws: ArchiveError.self) { try await reader.removeAll(.all) }
    #expect(fruitless?.code == .readOnly)
    // What is added later is seen too, also when the log has been replaced meanwhile.
    try writer.put(.sample("b"), body: .noise(200))
    try await writer.flush()
    bodies = try await reader.bodies("b")
    #expect(bodies == [.noise(200)])
    for _ in 0..<1500 {
      let passing = try writer.put(.sample("c"), body: .noise(1))
      writer.remove([passing.id])
    }
    try writer.put(.sample("d", partition: "alice"), body: .noise(300))
    try await writer.flush()
    bodies = try await reader.bodies("d", partition: "alice")
    #expect(bodies == [.noise(300)])
    let listed = try await reader.list().count
    #expect(listed == 3)
    await reader.close()
    await writer.close()
    let next = try directory.store()
    #expect(!next.isReadOnly)
    #expect(next.usage.count == 3)
    await next.close()
  }

  @Test("refuses what is not an archive, or of another format, and changes nothing")
  func foreign() async throws {
    let other = TemporaryDirectory()
    try FileManager.default.createDirectory(at: other.url, withIntermediateDirectories: true)
    try other.write(Data("precious".utf8), "thesis.txt")
    var error = #expect(throws: ArchiveError.self) { try other.store() }
    #expect(error?.code == .foreignFormat)
    #expect(other.files == ["thesis.txt"])

    let store = try directory.store()
    try store.put(.sample("a"), body: .noise(100))
    await store.close()
    let identity = directory.contents("waylay-archive")
    var newer = identity
    for start in [0, identity.count / 2] { newer[start + 8] = 2 }
    for foreign in [newer, Data("something else".utf8), Data()] {
      try directory.write(foreign, "waylay-archive")
      let before = directory.files.map(directory.contents)
      error = #expect(throws: ArchiveError.self) { try directory.store() }
      #expect(error?.code == .foreignFormat)
      #expect(directory.files.map(directory.contents) == before)
    }
    #expect(error?.message.contains("another directory") == true || error?.message.contains("empty directory") == true)
    try directory.write(identity, "waylay-archive")
    let log = try #require(directory.files.first { $0.hasPrefix("log/") })
    let bytes = directory.contents(log)
    var other2 = bytes
    for start in [0, 32] { other2[start + 8] = 9 }
    try directory.write(other2, log)
    let before = directory.files.map(directory.contents)
    error = #expect(throws: ArchiveError.self) { try directory.store() }
    #expect(error?.code == .foreignFormat)
    #expect(directory.files.map(directory.contents) == before)
    try directory.write(bytes, log)
    let again = try directory.store()
    #expect(again.usage.count == 1)
    await again.close()
  }

  @Test("an entry that goes while it is read is read to its end")
  func readingOn() async throws {
    let store = try directory.store(.init(memory: 0, logger: .silent))
    try await store.write(.sample("a"), .noise(1_000_000), by: 100_000)
    let entry = try #require(try await store.entries(for: ArchiveKey("a")).first)
    let whole = try await entry.body()
    let streamed = try await entry.body()
    let unopened = entry
    store.remove([entry.id])
    try await store.flush()
    #expect(directory.files.filter { $0.hasPrefix("entries/") }.isEmpty)
    let first = try await whole.collect(upTo: 1 << 20)
    #expect(first == .noise(1_000_000))
    let second = try await streamed.collect(upTo: 1 << 20)
    #expect(second == .noise(1_000_000))
    let error = await #expect(throws: ArchiveError.self) { _ = try await unopened.body() }
    #expect(error?.code == .unreadable)
    await store.close()
  }

  @Test("what a killed process left unfinished is cleared away")
  func leftovers() async throws {
    let store = try directory.store()
    try store.put(.sample("a"), body: .noise(100))
    let writer = try store.makeWriter(for: ArchiveKey("b"))
    try await writer.append(.noise(200_000))
    _ = try await writer.read(at: 0, upTo: 1)
    try await store.flush()
    // As the directory is now, a process killed now would leave it.
    let copy = TemporaryDirectory()
    while directory.files.filter({ $0.hasPrefix("entries/") }).count < 2 { await Task.yield() }
    try FileManager.default.copyItem(at: directory.url, to: copy.url)
    let again = try copy.store()
    try await again.flush()
    #expect(again.usage.count == 1)
    #expect(copy.files.filter { $0.hasPrefix("entries/") }.count == 1)
    let bodies = try await again.bodies("a")
    #expect(bodies == [.noise(100)])
    await again.close()
    writer.abort()
    await store.close()
  }
}
