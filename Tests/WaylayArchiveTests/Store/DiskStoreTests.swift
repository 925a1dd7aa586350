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
        #expect(try await store.entries(for: ArchiveKey("removed \(earlier)", partition: "alice")).isEmpty)
      }
      #expect(store.usage.count == round * 2)
      try await store.put(.sample("put \(round)", partition: "alice"), body: .noise(50_000 * (round + 1)))
      let removed = try await store.put(.sample("removed \(round)", partition: "alice"), body: .noise(10))
      let entry = try await store.write(.sample("written \(round)"), .noise(150_000), by: 64_000)
      try store.update(entry, head: Array("new".utf8), details: entry.details)
      store.remove([removed.id])
      let total = try await store.list().reduce(0) { $0 + $1.storedBytes }
      try await store.flush()
      #expect(store.usage.bytes <= total)
      await store.close()
    }
  }

  @Test("never gives a number twice, also not when nothing is left of the entry that had it", arguments: [0, 2000])
  func numbers(removed: Int) async throws {
    var given: Set<EntryID> = []
    for round in 0..<4 {
      let store = try directory.store()
      var last: [EntryID] = []
      for number in 0...removed {
        last = [try await store.put(.sample("a"), body: .noise(1)).id]
        #expect(given.isDisjoint(with: last))
        given.formUnion(last)
        if round % 2 == 0, number % 100 == 0 { try await store.flush() }
        store.remove(last)
      }
      await store.close()
    }
    #expect(given.count == 4 * (removed + 1))
  }

  @Test("is for its owner alone, and names no file by a URL")
  func privacy() async throws {
    let store = try directory.store()
    try await store.put(.sample("secret-path", partition: "alice"), body: .noise(100))
    try await store.write(.sample("secret-path", partition: "bob"), .noise(100_000), by: 9000)
    try await store.flush()
    for path in directory.files + ["bodies", ""] {
      let attributes = try FileManager.default.attributesOfItem(atPath: directory.url.appendingPathComponent(path).path)
      let mode = try #require(attributes[.posixPermissions] as? NSNumber).intValue
      #expect(mode == (directory.files.contains(path) ? 0o600 : 0o700), "\(path)")
      #expect(!path.contains("secret"))
    }
    #expect(directory.files.filter { $0.hasPrefix("index.sqlite") }.count == 3)
    await store.close()
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
      try await store.put(.sample("confidential", partition: "confidential"), body: Data(text.prefix(1000)))
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
    let put = try await store.put(.sample("put", mediaType: "application/json"), body: text)
    let written = try await store.write(.sample("written"), text, by: 100_000)
    let noise = try await store.write(.sample("noise", mediaType: "text/plain"), .noise(text.count), by: 100_000)
    try await store.flush()
    #expect(written.storedBytes < Int64(text.count / 10))
    #expect(noise.storedBytes < Int64(text.count + 4000))
    let stored = try await store.list(.prefix(put.details.url)).first?.storedBytes ?? .max
    #expect(stored < Int64(text.count / 10))
    await store.close()
  }

  @Test("is shared by stores that all write: each finds what another stored, and not what it removed")
  func sharing() async throws {
    let (one, other) = (try directory.store(), try directory.store())
    try await one.put(.sample("a"), body: .noise(100))
    try await one.flush()
    #expect(try await other.bodies("a") == [.noise(100)])
    #expect(other.cached(ArchiveKey("a"))?.count == 1)
    try await one.removeAll(.key(ArchiveKey("a")))
    // It was in the other's memory.
    #expect(try await other.entries(for: ArchiveKey("a")).isEmpty)
    try await other.write(.sample("b", partition: "alice"), .noise(200_000), by: 50_000)
    #expect(try await one.bodies("b", partition: "alice") == [.noise(200_000)])
    #expect(one.usage == other.usage && one.usage.count == 1)
    let reader = try directory.store(.init(isReadOnly: true, logger: .silent))
    #expect(try await reader.bodies("b", partition: "alice") == [.noise(200_000)])
    let refused = await #expect(throws: ArchiveError.self) { try await reader.put(.sample("b"), body: .noise(1)) }
    #expect(refused?.code == .readOnly)
    await reader.close()
    await one.close()
    try await other.put(.sample("c"), body: .noise(1))
    await other.close()
    let next = try directory.store()
    #expect(next.usage.count == 2)
    await next.close()
  }

  @Test("is made once by several that open the same new directory at the same time")
  func madeTogether() async throws {
    for _ in 0..<10 {
      let place = TemporaryDirectory()
      let stores = try await withThrowingTaskGroup(of: DiskStore.self) { group in
        for number in 0..<4 {
          group.addTask {
            let store = try place.store()
            try await store.put(.sample("\(number)"), body: .noise(10))
            try await store.flush()
            return store
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      for store in stores { #expect(try await store.list().count == 4) }
      for store in stores { await store.close() }
    }
  }

  @Test("refuses what is not an archive, or of another format, and changes nothing")
  func foreign() async throws {
    for (name, word) in [("thesis.txt", "empty directory"), ("waylay-archive", "rm -r"), ("index.sqlite", "program")] {
      let other = TemporaryDirectory()
      try other.write(Data(repeating: 7, count: 5000), name)
      let error = #expect(throws: ArchiveError.self) { try other.store() }
      #expect(error?.code == .foreignFormat)
      #expect(error?.message.contains(word) == true, "\(error?.message ?? "")")
      #expect(other.files == [name] && other.contents(name) == Data(repeating: 7, count: 5000))
    }
    let store = try directory.store()
    try await store.put(.sample("a"), body: .noise(100))
    await store.close()
    var newer = directory.contents("index.sqlite")
    newer[63] += 1
    try directory.write(newer, "index.sqlite")
    let error = #expect(throws: ArchiveError.self) { try directory.store() }
    #expect(error?.code == .foreignFormat)
    #expect(directory.contents("index.sqlite") == newer)
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
    #expect(directory.bodies.isEmpty)
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
    try await store.put(.sample("a"), body: .noise(100))
    let writer = try store.makeWriter(for: ArchiveKey("b"))
    try await writer.append(.noise(200_000))
    _ = try await writer.read(at: 0, upTo: 1)
    try await store.flush()
    // As the directory is now, a process killed now would leave it.
    let copy = TemporaryDirectory()
    while directory.bodies.isEmpty { await Task.yield() }
    try FileManager.default.copyItem(at: directory.url, to: copy.url)
    let again = try copy.store()
    try await again.flush()
    #expect(again.usage.count == 1)
    #expect(copy.bodies.isEmpty)
    let bodies = try await again.bodies("a")
    #expect(bodies == [.noise(100)])
    await again.close()
    writer.abort()
    await store.close()
  }
}
