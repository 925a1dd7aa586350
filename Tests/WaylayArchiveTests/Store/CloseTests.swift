import Foundation
import StoreFaults
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("Closing while others are at work", .timeLimit(.minutes(5)))
struct CloseTests {
  let directory = TemporaryDirectory()

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

    let next = try directory.store()
    try await next.flush()
    // What had not been committed is nobody's, and has left nothing.
    #expect(next.usage.count == 3)
    var grown: Set<String> = []
    for key in ["resumed", "checkpointed", "grown"] {
      let entry = try #require(try await next.entries(for: ArchiveKey(key)).first)
      // As long as its writer is held, the file of a body is that one's.
      guard let writer = try await next.resumeWriting(entry) else { continue }
      grown.insert(key)
      try await writer.append(.noise(200_000, seed: 3))
      try await writer.commit(.sample(key, head: "by the next"))
    }
    try await next.put(.sample("new"), body: .noise(10))
    try await next.flush()
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
    await next.close()
    let last = try directory.store()
    #expect(last.usage.count == 4)
    for (key, count) in [("resumed", 150_000), ("checkpointed", 150_000), ("grown", 100)] {
      let bodies = try await last.bodies(key)
      let expected = Data.noise(count) + (grown.contains(key) ? Data.noise(200_000, seed: 3) : Data())
      #expect(bodies == [expected], "\(key)")
    }
    await last.close()
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
    try await next.put(.sample("next"), body: .noise(10))
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
    #expect(directory.bodies.count == committed.count)
    await last.close()
  }

  @Test("closed, it has no connection open, also where a reader was at work")
  func reading() async throws {
    let store = try directory.store()
    let isEarly = await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        let isClosed = DispatchSemaphore(value: 0)
        let early = try? store.connections.read { _ in
          DispatchQueue.global().async {
            store.leave(as: .closed)
            isClosed.signal()
          }
          // Until the closing has come to the readers.
          while (try? store.connections.read { _ in }) != nil {}
          return isClosed.wait(timeout: .now() + 0.1) == .success
        }
        if early == false { isClosed.wait() }
        continuation.resume(returning: early)
      }
    }
    #expect(isEarly == false)
  }

  @Test("a store that is released without being closed leaves the directory to the next one, with everything in it")
  func release() async throws {
    for round in 0..<5 {
      let store = try directory.store()
      #expect(store.usage.count == round)
      try await store.put(.sample("\(round)"), body: .noise(100))
      try await store.flush()
      let writer = try store.makeWriter(for: ArchiveKey("never"))
      try await writer.append(.noise(100_000))
    }
    let last = try directory.store()
    #expect(last.usage.count == 5)
    await last.close()
  }
}
