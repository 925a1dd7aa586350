import Foundation
import StoreFaults
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("No file stays that no entry counts", .timeLimit(.minutes(5)))
struct LeftoverTests {
  let directory = TemporaryDirectory()

  /// What entries take on the disk beside what they are counted for; the next store has looked, and closed.
  private func leftover() async throws -> Int64 {
    let next = try directory.store()
    try await next.flush()
    let usage = next.usage
    await next.close()
    return directory.entryBytes - (usage.bytes - Int64(usage.count) * 256)
  }

  @Test("an entry that has just grown out of the file of its head takes that along when it is removed")
  func removedWhileItGrows() async throws {
    let wanted = Locked<(store: DiskStore, entry: EntryID)?>(nil)
    var options = DiskStore.Options(memory: 0, logger: .silent)
    options.system = FailingSystem { call in
      // The log is told that the new entry has taken the place of the old one: by now it is in the index.
      guard call == .write, let (store, entry) = wanted.withLock({ $0 }), store.usage.count == 1 else { return nil }
      wanted.withLock { $0 = nil }
      store.remove([entry])
      return nil
    }
    let store = try directory.store(options)
    let old = try store.put(.sample("old"), body: .noise(100))
    try await store.flush()
    let writer = try store.makeWriter(for: ArchiveKey("grown"))
    let entry = try await writer.checkpoint(.sample("grown"))
    try await writer.append(.noise(100))
    wanted.withLock { $0 = (store, entry.id) }
    try await writer.commit(.sample("grown", replacing: [old.id]))
    #expect(wanted.withLock { $0 == nil })
    await store.close()
    #expect(directory.entryBytes == 0)
    let rest = try await leftover()
    #expect(rest == 0)
  }

  @Test("what could not be removed is known to the next store")
  func refused() async throws {
    let refuses = Locked(false)
    var options = DiskStore.Options(memory: 0, logger: .silent)
    options.system = FailingSystem { call in
      call == .remove && refuses.withLock { $0 } ? .error(EIO) : nil
    }
    let store = try directory.store(options)
    let entry = try store.put(.sample("grown"), body: .noise(100))
    _ = try store.update(entry, head: Array("second".utf8), details: entry.details)
    let now = try #require(try await store.entries(for: ArchiveKey("grown")).first)
    let writer = try #require(try await store.resumeWriting(now))
    try await writer.append(.noise(70_000))
    refuses.withLock { $0 = true }
    try await writer.commit(.sample("grown"))
    await store.close()
    let rest = try await leftover()
    #expect(rest == 0)
  }

  @Test("one of several files that could not be removed is known to the next store", arguments: 1...3)
  func refusedOnce(nth: Int) async throws {
    let (count, refused) = (Locked<Int?>(nil), Locked(false))
    var options = DiskStore.Options(memory: 0, logger: .silent)
    options.system = FailingSystem { call in
      guard call == .remove else { return nil }
      let isIt = count.withLock { count -> Bool in
        count = count.map { $0 + 1 }
        return count == nth
      }
      if isIt { refused.withLock { $0 = true } }
      return isIt ? .error(EIO) : nil
    }
    let store = try directory.store(options)
    let entry = try store.put(.sample("grown"), body: .noise(100))
    let second = try #require(try store.update(entry, head: Array("second".utf8), details: entry.details))
    try await store.flush()
    count.withLock { $0 = 0 }
    _ = try store.update(second, head: Array("third".utf8), details: entry.details)
    let now = try #require(try await store.entries(for: ArchiveKey("grown")).first)
    let writer = try #require(try await store.resumeWriting(now))
    try await writer.append(.noise(70_000))
    try await writer.commit(.sample("grown"))
    try await store.flush()
    await store.close()
    let rest = try await leftover()
    #expect(rest == 0)
    #expect(refused.withLock { $0 })
  }

  @Test("an entry whose removal could neither be noted nor brought to its end is whole or absent", arguments: 0...2)
  func removedInPart(afterRemoving files: Int) async throws {
    let (refuses, removed) = (Locked(false), Locked(0))
    var options = DiskStore.Options(memory: 0, logger: .silent)
    options.system = FailingSystem { call in
      guard refuses.withLock({ $0 }) else { return nil }
      switch call {
      case .write: return .error(EIO)
      case .remove:
        let count = removed.withLock { count in
          count += 1
          return count
        }
        return count > files ? .error(EIO) : nil
      default: return nil
      }
    }
    let store = try directory.store(options)
    let entry = try store.put(.sample("gone"), body: .noise(70_000))
    let grown = try await store.write(.sample("grown"), .noise(70_000), by: 70_000)
    try await store.flush()
    refuses.withLock { $0 = true }
    store.remove([files == 0 ? entry.id : grown.id, entry.id])
    try? await store.flush()
    await store.close()
    #expect(removed.withLock { $0 } > 0)
    let next = try directory.store()
    for entry in try await next.list() {
      let body = try await entry.body().collect(upTo: 1 << 20)
      #expect(body == .noise(70_000))
    }
    await next.close()
  }

  @Test("a folder that was removed while another thread opened it is not taken for the one made in its place")
  func removedFolder() async throws {
    // More than are held open at once.
    let (count, last) = (34, "folder-33")
    let (counts, isHeld, permit) = (Locked<[String: Int]?>(nil), Locked(false), DispatchSemaphore(value: 0))
    var options = DiskStore.Options(memory: 0, logger: .silent)
    options.folderName = { String(decoding: $0.bytes, as: UTF8.self) }
    options.system = FailingSystem(opened: { name in
      // A flush opens it for the file that is in it, and once more for its names, as others were opened since.
      let isSecond = counts.withLock { counts in
        counts?[name, default: 0] += 1
        return counts?[last] == 2 && name == last
      }
      guard isSecond else { return }
      isHeld.withLock { $0 = true }
      _ = permit.wait(timeout: .now() + 60)
    }) { _ in nil }
    let store = try directory.store(options)
    for number in 0..<count {
      try store.put(.sample("a", partition: ArchivePartition("folder-\(number)")), body: .noise(100))
    }
    try await store.write(.sample("barrier"), .noise(70_000), by: 70_000)
    counts.withLock { $0 = [:] }
    async let flushed: Void = store.flush()
    while !isHeld.withLock({ $0 }) {
      try Task.checkCancellation()
      await Task.yield()
    }
    try await store.removeAll(.partition(ArchivePartition(last)))
    let new = try await store.write(.sample("b", partition: ArchivePartition(last)), .noise(70_000), by: 70_000)
    permit.signal()
    try await flushed
    store.remove([new.id])
    await store.close()
    let rest = try await leftover()
    #expect(rest == 0)
  }
}
