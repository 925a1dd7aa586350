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

  /// What the archive has before it is damaged.
  private func fill(_ kind: StoreKind) async throws -> [String: Data] {
    let store = try kind.make(directory)
    try store.put(.sample("small", mediaType: "text/plain"), body: .noise(40))
    let updated = try store.put(.sample("updated"), body: .noise(50, seed: 2))
    try await store.flush()
    try store.update(updated, head: Array("new head".utf8), details: updated.details)
    let removed = try store.put(.sample("removed"), body: .noise(30, seed: 3))
    try await store.flush()
    store.remove([removed.id])
    await store.close()
    return ["small": .noise(40), "updated": .noise(50, seed: 2)]
  }

  @Test(
    "with any single byte flipped is a miss, never a trap and never a wrong byte", .heavy,
    arguments: [StoreKind.disk] + StoreKind.encryptedKinds.suffix(1))
  func flips(kind: StoreKind) async throws {
    let truth = try await fill(kind)
    let pristine = directory.files.map { ($0, directory.contents($0)) }
    var misses = 0
    for (path, contents) in pristine {
      // Every byte of a plain archive; of an encrypted one, which has the same layout, every seventh. Others in each
      // run, where it is not all of them.
      let step = (kind == .disk ? 1 : 7) * Sizes.of(1, small: 6)
      for position in stride(from: Int.random(in: 0..<step), to: contents.count, by: step) {
        for (name, bytes) in pristine { try directory.write(bytes, name) }
        var damaged = contents
        damaged[position] ^= UInt8.random(in: 1...255)
        try directory.write(damaged, path)
        let store = try kind.make(directory, memory: 0, isSynchronized: false)
        for (key, body) in truth {
          let found = try await store.bodies(key)
          #expect(found == [body] || found.isEmpty, "byte \(position) of \(path)")
          misses += found.isEmpty ? 1 : 0
        }
        let removed = try await store.bodies("removed")
        #expect(removed.isEmpty)
        // The store goes on: what was lost can be stored again.
        try store.put(.sample("small"), body: .noise(41))
        await #expect(throws: ArchiveError.self) { try await store.flush() }
        let again = try await store.bodies("small").last
        #expect(again == .noise(41))
        await store.close()
        for file in directory.files where !pristine.contains(where: { $0.0 == file }) {
          try FileManager.default.removeItem(at: directory.url.appendingPathComponent(file))
        }
      }
    }
    // A sixth of the bytes, drawn anew in each run, makes some 20 misses, give or take 5.
    #expect(misses > Sizes.of(100, small: 4))
  }

  @Test("cut short at any byte of its log opens, with what came before", .heavy)
  func truncation() async throws {
    let truth = try await fill(.disk)
    let pristine = directory.files.map { ($0, directory.contents($0)) }
    let (path, contents) = try #require(pristine.first { $0.0.hasPrefix("log/") })
    var lastFound = 0
    let step = Sizes.of(1, small: 4)
    for length in contents.indices where length > 0 && (contents.count - 1 - length).isMultiple(of: step) {
      for (name, bytes) in pristine { try directory.write(bytes, name) }
      try directory.write(contents.prefix(length), path)
      let store = try StoreKind.disk.make(directory, isSynchronized: false)
      var found = 0
      for (key, body) in truth {
        let bodies = try await store.bodies(key)
        #expect(bodies == [body] || bodies.isEmpty)
        found += bodies.count
      }
      #expect(found >= lastFound || length < 96)
      lastFound = found
      await store.close()
      for file in directory.files where !pristine.contains(where: { $0.0 == file }) {
        try FileManager.default.removeItem(at: directory.url.appendingPathComponent(file))
      }
    }
    #expect(lastFound == 2)
  }

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

  @Test("that goes while it is open is a miss, a refusal and a line in the log")
  func directoryDeleted() async throws {
    let lines = Locked<[String]>([])
    let store = try directory.store(.init(memory: 0, logger: .keeping(lines)))
    try store.put(.sample("a"), body: .noise(100))
    try await store.flush()
    try FileManager.default.removeItem(at: directory.url)
    let found = try await store.entries(for: ArchiveKey("a"))
    #expect(found.isEmpty)
    #expect(lines.withLock { $0.filter { $0.hasPrefix("error") }.count } == 1)
    let error = #expect(throws: ArchiveError.self) { try store.put(.sample("b"), body: .noise(1)) }
    #expect(error?.code == .directoryUnusable)
    #expect(store.usage == StoreUsage())
    await store.close()

    let other = TemporaryDirectory()
    let second = try other.store(.init(memory: 0, logger: .silent))
    try FileManager.default.removeItem(at: other.url)
    // Refused, if it has been noticed already.
    _ = try? second.put(.sample("a"), body: .noise(100))
    let unflushed = await #expect(throws: ArchiveError.self) { try await second.flush() }
    #expect(unflushed?.code == .directoryUnusable)
    let none = try await second.entries(for: ArchiveKey("a"))
    #expect(none.isEmpty)
    await second.close()
  }

  @Test("whose files go one by one loses just those")
  func filesDeleted() async throws {
    let lines = Locked<[String]>([])
    let events = Locked<[StoreEvent]>([])
    let store = try directory.store(.init(memory: 0, logger: .keeping(lines)))
    store.observe { event in events.withLock { $0.append(event) } }
    try store.put(.sample("a"), body: .noise(100))
    try await store.flush()
    let path = try #require(directory.files.first { $0.hasPrefix("entries/") })
    try store.put(.sample("b"), body: .noise(100))
    try await store.flush()
    try FileManager.default.removeItem(at: directory.url.appendingPathComponent(path))
    let lost = try await store.bodies("a")
    #expect(lost.isEmpty)
    let kept = try await store.bodies("b")
    #expect(kept.count == 1)
    #expect(store.usage.count == 1)
    #expect(lines.withLock { $0.count } == 1)
    try await store.flush()
    #expect(events.withLock { $0.map(\.kind) } == [.damaged])
    await store.close()
  }
}

@Suite("A disk that fails", .timeLimit(.minutes(10)))
struct FailingDiskTests {
  let directory = TemporaryDirectory()

  @Test("when it is full, entries are refused and the old ones stay", arguments: [FailingSystem.Call.create, .write])
  func full(call: FailingSystem.Call) async throws {
    let failing = Locked(false)
    let lines = Locked<[String]>([])
    let refused = Locked<[String]>([])
    var options = DiskStore.Options(memory: 0, logger: .keeping(lines))
    options.system = FailingSystem { called in called == call && failing.withLock { $0 } ? .error(ENOSPC) : nil }
    let store = try directory.store(options)
    store.observe { event in
      if event.kind == .refused { refused.withLock { $0.append(event.url ?? "?") } }
    }
    let old = try store.put(.sample("old"), body: .noise(1000))
    try await store.flush()
    failing.withLock { $0 = true }
    try store.put(.sample("new"), body: .noise(1000))
    let error = await #expect(throws: ArchiveError.self) {
      try await store.write(.sample("large"), .noise(200_000), by: 70_000)
    }
    #expect(error?.code == .notWritten)
    try store.update(old, head: Array("never".utf8), details: old.details)
    // Once, because something was given up.
    let given = await #expect(throws: ArchiveError.self) { try await store.flush() }
    #expect(given?.code == .notWritten)
    try await store.flush()
    #expect(refused.withLock { $0 } == ["https://example.com/new"])
    #expect(lines.withLock { $0.count } >= 3)
    var bodies = try await store.bodies("new")
    #expect(bodies.isEmpty)
    let heads = try await store.entries(for: ArchiveKey("old")).map(\.head)
    #expect(heads == [Array("head of old".utf8)])
    failing.withLock { $0 = false }
    try store.put(.sample("new"), body: .noise(1000))
    try await store.write(.sample("large"), .noise(200_000), by: 70_000)
    try await store.flush()
    #expect(store.usage.count == 3)
    await store.close()
    let again = try directory.store()
    for (key, count) in [("old", 1000), ("new", 1000), ("large", 200_000)] {
      bodies = try await again.bodies(key)
      #expect(bodies == [.noise(count)])
    }
    #expect(directory.files.filter { $0.hasPrefix("entries/") }.count == 4)
    await again.close()
  }

  @Test("a directory that may not be written to is refused clearly, or read")
  func readOnlyDirectory() async throws {
    let store = try directory.store()
    try store.put(.sample("a"), body: .noise(100))
    await store.close()
    var options = DiskStore.Options(logger: .silent)
    options.system = FailingSystem {
      [.create, .write, .remove, .makeDirectory, .rename, .setMode].contains($0) ? .error(EROFS) : nil
    }
    let error = #expect(throws: ArchiveError.self) { try directory.store(options) }
    #expect(error?.code == .directoryUnusable)
    options.whenLocked = .readOnly
    let reader = try directory.store(options)
    #expect(reader.isReadOnly)
    let bodies = try await reader.bodies("a")
    #expect(bodies == [.noise(100)])
    await reader.close()
  }
}
