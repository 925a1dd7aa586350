import Foundation
import StoreFaults
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("Closing while others are at work", .timeLimit(.minutes(5)))
struct CloseTests {
  let directory = TemporaryDirectory()

  private func snapshot() -> [String: Data] {
    Dictionary(uniqueKeysWithValues: directory.files.map { ($0, directory.contents($0)) })
  }

  /// A store that opens as soon as its owner releases the directory.
  private func successor() async throws -> DiskStore {
    while true {
      do {
        return try directory.store()
      } catch let error as ArchiveError where error.code == .locked {
        try Task.checkCancellation()
        await Task.yield()
      }
    }
  }

  @Test("a body that was still to be written when the store closed writes nothing into the next store's log")
  func lateDrain() async throws {
    let hold = Hold(.open)
    let store = try directory.store(hold.options(.init(memory: 0, logger: .silent)))
    var entries: [StoredEntry] = []
    for number in 0..<4 {
      try await store.write(.sample("\(number)"), .noise(200_000), by: 100_000)
      entries.append(try #require(try await store.entries(for: ArchiveKey("\(number)")).first))
    }
    try await store.flush()
    // Every thread that would write the body is busy.
    hold.begin()
    let readers = entries.map { entry in Task { try? await entry.body().collect(upTo: 1 << 20) } }
    try await hold.wait(for: 4)
    var writers: [any EntryWriter] = []
    for _ in 0..<5 {
      let writer = try store.makeWriter(for: ArchiveKey("late"))
      try await writer.append(.noise(300_000))
      writers.append(writer)
    }
    await store.close()
    let next = try directory.store()
    for number in 0..<8 { try next.put(.sample("next \(number)"), body: .noise(100)) }
    try await next.flush()
    hold.release()
    for reader in readers { #expect(await reader.value == .noise(200_000)) }
    for writer in writers {
      let error = await #expect(throws: ArchiveError.self) { try await writer.commit(.sample("late")) }
      #expect(error?.code == .closed)
    }
    await next.close()
    let last = try directory.store()
    #expect(last.usage.count == 12)
    for number in 0..<8 {
      let bodies = try await last.bodies("next \(number)")
      #expect(bodies == [.noise(100)])
    }
    await last.close()
  }

  @Test("waits for what is just being written, and lets nobody in before")
  func waitsForWriters() async throws {
    let hold = Hold(.create)
    let store = try directory.store(hold.options())
    hold.begin()
    let writer = try store.makeWriter(for: ArchiveKey("a"))
    try await writer.append(.noise(300_000))
    try await hold.wait(for: 1)
    let closing = Task { await store.close() }
    for _ in 0..<200 {
      await Task.yield()
      let error = #expect(throws: ArchiveError.self) { try directory.store() }
      #expect(error?.code == .locked)
    }
    hold.release()
    await closing.value
    let next = try directory.store()
    try next.put(.sample("b"), body: .noise(100))
    try await next.flush()
    let before = snapshot()
    let error = await #expect(throws: ArchiveError.self) { try await writer.append(.noise(300_000)) }
    #expect(error?.code == .closed)
    #expect(snapshot() == before)
    #expect(before.keys.filter { $0.hasPrefix("entries/") }.count == 1)
    await next.close()
  }

  @Test("closed, every writer that is still held fails and touches nothing, also when it is released")
  func heldWriters() async throws {
    let store = try directory.store()
    var writers: [String: any EntryWriter] = [:]
    for key in ["resumed", "checkpointed", "grown"] {
      let writer = try store.makeWriter(for: ArchiveKey(key))
      try await writer.append(.noise(key == "grown" ? 100 : 150_000))
      try await writer.checkpoint(.sample(key))
      if key == "checkpointed" { writers[key] = writer }
    }
    try await store.flush()
    for key in ["resumed", "grown"] {
      let entry = try #require(try await store.entries(for: ArchiveKey(key)).first)
      writers[key] = try await store.resumeWriting(entry)
    }
    writers["new"] = try store.makeWriter(for: ArchiveKey("new"))
    writers["short"] = try store.makeWriter(for: ArchiveKey("short"))
    for (key, writer) in writers { try await writer.append(.noise(key == "short" ? 100 : 200_000, seed: 2)) }
    let late = try #require(try await store.entries(for: ArchiveKey("grown")).first)
    await store.close()

    let next = try await successor()
    try await next.flush()
    // What had not been committed is nobody's, and has left nothing.
    #expect(next.usage.count == 3)
    let files = directory.entryBytes
    #expect(files == next.usage.bytes - 3 * 256)
    for key in ["resumed", "checkpointed", "grown"] {
      let entry = try #require(try await next.entries(for: ArchiveKey(key)).first)
      let writer = try #require(try await next.resumeWriting(entry))
      try await writer.append(.noise(200_000, seed: 3))
      try await writer.commit(.sample(key, head: "by the next"))
    }
    try next.put(.sample("new"), body: .noise(10))
    try await next.flush()
    let before = snapshot()
    for (key, writer) in writers {
      for attempt in ["append", "checkpoint", "commit", "commit"] {
        let error = await #expect(throws: ArchiveError.self) {
          switch attempt {
          case "append": try await writer.append(.noise(100_000))
          case "checkpoint": try await writer.checkpoint(.sample(key))
          default: try await writer.commit(.sample(key))
          }
        }
        #expect(error?.code == .closed, "\(attempt) of \(key)")
      }
    }
    writers = [:]
    let resumed = await #expect(throws: ArchiveError.self) { try await store.resumeWriting(late) }
    #expect(resumed?.code == .closed)
    store.remove([late.id])
    // Whatever the old store still has to do, it has done after this.
    _ = try? await store.flush()
    #expect(snapshot() == before)
    await next.close()
    let last = try directory.store()
    #expect(last.usage.count == 4)
    for (key, count) in [("resumed", 150_000), ("checkpointed", 150_000), ("grown", 100)] {
      let bodies = try await last.bodies(key)
      let expected = Data.noise(count) + Data.noise(200_000, seed: 3)
      #expect(bodies == [expected], "\(key)")
    }
    await last.close()
  }

  @Test("a second close waits for the first one")
  func twice() async throws {
    let hold = Hold(.write)
    let store = try directory.store(hold.options())
    hold.begin()
    try store.put(.sample("a"), body: .noise(100))
    try await hold.wait(for: 1)
    let isClosed = Locked(false)
    let closings = (0..<3).map { _ in
      Task {
        await store.close()
        isClosed.withLock { $0 = true }
      }
    }
    for _ in 0..<200 { await Task.yield() }
    #expect(isClosed.withLock { $0 } == false)
    hold.release()
    for closing in closings { await closing.value }
    await store.close()
    let next = try directory.store()
    let bodies = try await next.bodies("a")
    #expect(bodies == [.noise(100)])
    await next.close()
  }

  @Test(
    "a commit that crosses the close is there afterwards or has failed, and nothing in between", .serialized,
    arguments: 0..<30)
  func crossing(round: Int) async throws {
    let store = try directory.store()
    let committed = try await withThrowingTaskGroup(of: String?.self) { group in
      for number in 0..<6 {
        let writer = try store.makeWriter(for: ArchiveKey("\(number)"))
        try await writer.append(.noise(number * 30_000 + 1))
        group.addTask {
          do {
            for _ in 0..<round { await Task.yield() }
            try await writer.append(.noise(70_000, seed: 2))
            try await writer.commit(.sample("\(number)"))
            return "\(number)"
          } catch let error as ArchiveError where error.code == .closed {
            return nil
          }
        }
      }
      group.addTask {
        await store.close()
        return nil
      }
      return try await group.reduce(into: Set<String>()) { if let key = $1 { $0.insert(key) } }
    }
    let next = try directory.store()
    try next.put(.sample("next"), body: .noise(10))
    await next.close()
    let last = try directory.store()
    let stored = try await last.list().map { String(decoding: $0.key.bytes, as: UTF8.self) }
    #expect(Set(stored) == committed.union(["next"]))
    for key in committed {
      let number = try #require(Int(key))
      let bodies = try await last.bodies(key)
      let expected = Data.noise(number * 30_000 + 1) + Data.noise(70_000, seed: 2)
      #expect(bodies == [expected])
    }
    #expect(directory.entryBytes == last.usage.bytes - Int64(last.usage.count) * 256)
    await last.close()
  }

  @Test("a store that is released without being closed leaves the directory to the next one, with everything in it")
  func release() async throws {
    for round in 0..<5 {
      let store = try await successor()
      #expect(store.usage.count == round)
      try store.put(.sample("\(round)"), body: .noise(100))
      let writer = try store.makeWriter(for: ArchiveKey("never"))
      try await writer.append(.noise(100_000))
    }
    let last = try await successor()
    #expect(last.usage.count == 5)
    await last.close()
  }
}
