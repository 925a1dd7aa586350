import Foundation
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("A store with much to do", .timeLimit(.minutes(5)))
struct BoundsTests {
  @Test("ends a transaction before the log has 32 MiB, however large the heads are", arguments: [true, false])
  func log(isRemoval: Bool) async throws {
    let folder = TemporaryDirectory()
    let directory = folder.url.appendingPathComponent("archive")
    let store = try DiskStore(at: directory, options: .init(memory: 0, logger: .silent))
    let log = directory.appendingPathComponent("index.sqlite-wal").path
    func size() throws -> Int { try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int ?? 0 }
    let head = String(repeating: "h", count: 256 << 10)
    // All of them wait when the queue is free again: as few transactions as there may be.
    let gate = DispatchSemaphore(value: 0)
    store.queue.async { gate.wait() }
    await withThrowingTaskGroup(of: Void.self) { group in
      for key in 0..<200 {
        group.addTask { try await store.put(.sample("\(key)", head: head), body: .noise(300)) }
      }
      while store.state.withLock({ $0.jobs.count }) < 200 { await Task.yield() }
      gate.signal()
    }
    #expect(try await store.list().count == 200)
    #expect(try size() < 32 << 20)
    if isRemoval {
      try await store.removeAll(.all)
      #expect(try size() < 32 << 20)
    }
    await store.close()
  }

  @Test("stays near its limits while more waits than one transaction takes", arguments: [(300, 2000), (20_000, 600)])
  func stream(size: Int, count: Int) async throws {
    let folder = TemporaryDirectory()
    let options = DiskStore.Options(limits: StoreLimits(count: count / 5), memory: 0, logger: .silent)
    let store = try DiskStore(at: folder.url.appendingPathComponent("archive"), options: options)
    let most = Locked(0)
    store.observe { [weak store] _ in
      let stored = store?.state.withLock { $0.stored.usage.count } ?? 0
      most.withLock { $0 = max($0, stored) }
    }
    let gate = DispatchSemaphore(value: 0)
    store.queue.async { gate.wait() }
    await withThrowingTaskGroup(of: Void.self) { group in
      for key in 0..<count { group.addTask { try await store.put(.sample("\(key)"), body: .noise(size)) } }
      while store.state.withLock({ $0.jobs.count }) < count { await Task.yield() }
      gate.signal()
    }
    #expect(most.withLock { $0 } <= count / 5 + 200)
    await store.close()
  }

  @Test("reads a page of a filter in the order of an index, without a list of all that match")
  func plans() async throws {
    let folder = TemporaryDirectory()
    let store = try DiskStore(at: folder.url.appendingPathComponent("archive"), options: .init(logger: .silent))
    let filters: [EntryFilter] = [
      .all, .tag("a"), .host("example.com"), .partition("p"), .tag("a").and(.partition("p")),
    ]
    for filter in filters {
      let (selection, values) = store.selection(filter, after: 7)
      var plan: [String] = []
      try store.connections.read { database in
        let sql = "EXPLAIN QUERY PLAN SELECT \(DiskStore.columns) \(selection)"
        try database.run(sql, values) { plan.append($0.text(3)) }
      }
      #expect(!plan.contains { $0.contains("TEMP B-TREE") || $0.contains("SUBQUERY") }, "\(filter): \(plan)")
    }
    await store.close()
  }

  @Test("finds each entry of a tag once, in pages")
  func tagged() async throws {
    let folder = TemporaryDirectory()
    let store = try DiskStore(at: folder.url.appendingPathComponent("archive"), options: .init(logger: .silent))
    for key in 0..<600 {
      try await store.put(.sample("\(key)", tags: key % 2 == 0 ? ["even", "all"] : ["all"]), body: .noise(10))
    }
    for (filter, count) in [(EntryFilter.tag("even"), 300), (.tag("all"), 600), (.tag("none"), 0)] {
      #expect(try await Set(store.list(filter).map(\.id)).count == count)
      #expect(try await store.list(filter).count == count)
    }
    #expect(try await store.removeAll(.tag("even")) == 300)
    #expect(try await store.list().count == 300)
    await store.close()
  }
}
