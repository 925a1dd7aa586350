import Foundation
import StoreFaults
import TestOrigin
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("What was flushed outlives a loss of power", .timeLimit(.minutes(5)))
struct FlushTests {
  private static let directory = URL(fileURLWithPath: "/above/archive", isDirectory: true)

  private let disk = ModelDisk()

  private func options(_ system: any SystemCalls, slack: Int? = nil) -> DiskStore.Options {
    var options = DiskStore.Options(memory: 0, logger: .silent)
    if let slack { options.slack = slack }
    options.system = system
    return options
  }

  private func opened(_ system: any SystemCalls, slack: Int? = nil) throws -> DiskStore {
    try DiskStore(at: Self.directory, options: options(system, slack: slack))
  }

  /// Looks at what losses of power may leave now.
  private func afterLosses(_ look: (DiskStore) async throws -> Void) async throws {
    var chance = SplitMix(state: 2026)
    for _ in 0..<40 {
      let store = try opened(disk.afterLossOfPower(&chance))
      try await look(store)
      await store.close()
    }
  }

  /// Has everything that was stored before be written; what is stored itself is a barrier.
  private func writeBehind(_ store: DiskStore) async throws {
    try await store.write(.sample("barrier"), .noise(70_000), by: 70_000)
  }

  @Test("what a flushed entry replaced does not come back when that one is removed before the loss")
  func replacedAndRemoved() async throws {
    let moments = Locked<[ModelDisk]>([])
    let isWatched = Locked(false)
    let chance = Locked(SplitMix(state: 24))
    let disk = disk
    let store = try opened(
      FailingSystem(disk) { call in
        guard isWatched.withLock({ $0 }), [.write, .synchronize, .remove, .rename].contains(call) else { return nil }
        let made = chance.withLock { chance in (0..<6).map { _ in disk.afterLossOfPower(&chance) } }
        moments.withLock { $0 += made }
        return nil
      })
    let first = try store.put(.sample("a"), body: .noise(100, seed: 1))
    try await store.flush()
    let second = try store.put(.sample("a", replacing: [first.id]), body: .noise(100, seed: 2))
    isWatched.withLock { $0 = true }
    try await store.flush()
    // From here on the second one is there: the first one's file has been removed, and no folder synced since.
    moments.withLock { $0 = [] }
    store.remove([second.id])
    _ = await store.settle()
    let unflushed = moments.withLock { moments -> [ModelDisk] in
      defer { moments = [] }
      return moments
    }
    try await store.flush()
    var after = SplitMix(state: 25)
    let flushed = (0..<40).map { _ in disk.afterLossOfPower(&after) }
    await store.close()
    #expect(!unflushed.isEmpty)
    let cases: [(disks: [ModelDisk], allowed: [[Data]])] = [
      (unflushed, [[], [.noise(100, seed: 2)]]), (flushed, [[]]),
    ]
    for (disks, allowed) in cases {
      for disk in disks {
        let store = try opened(disk)
        let bodies = try await store.bodies("a")
        #expect(allowed.contains(bodies))
        await store.close()
      }
    }
  }

  /// How many files of entries there are.
  private var entryFiles: Int {
    get throws {
      let entries = Self.directory.path + "/entries"
      return try names(entries).reduce(0) { try $0 + names(entries + "/" + $1).count }
    }
  }

  private func names(_ path: String) throws -> [String] {
    let folder = try disk.open(path, in: 0, flags: 0, mode: 0)
    defer { disk.close(folder) }
    return try disk.names(in: folder)
  }

  @Test("with the files of its entries and the folders that they are in")
  func files() async throws {
    let store = try opened(disk)
    try store.put(.sample("small"), body: .noise(100))
    try store.put(.sample("large"), body: .noise(70_000))
    try await store.write(.sample("written"), .noise(140_000), by: 50_000)
    try await store.flush()
    try await afterLosses { store in
      let bodies = try await store.bodies("small") + store.bodies("large") + store.bodies("written")
      #expect(bodies == [.noise(100), .noise(70_000), .noise(140_000)])
    }
    await store.close()
  }

  @Test("also an entry that is replaced while a writer goes on with it, until what took its place is there")
  func replacedWhileWritten() async throws {
    let store = try opened(disk)
    var writer: (any EntryWriter)? = try store.makeWriter(for: ArchiveKey("a"))
    try await writer?.append(.noise(140_000))
    let entry = try #require(try await writer?.checkpoint(.sample("a")))
    try await store.flush()
    try await writer?.append(.noise(70_000, seed: 2))
    try store.put(.sample("a", replacing: [entry.id]), body: .noise(100, seed: 3))
    writer = nil
    for _ in 0..<4 { try await writeBehind(store) }
    try await afterLosses { store in
      let bodies = try await store.bodies("a")
      #expect(bodies == [.noise(140_000)] || bodies == [.noise(100, seed: 3)])
    }
    await store.close()
  }

  @Test("also what was stored and flushed while the log was being shortened")
  func shortening() async throws {
    let hold = Hold(.synchronize)
    let store = try DiskStore(at: Self.directory, options: hold.options(options(disk, slack: 16), on: disk))
    try store.put(.sample("kept"), body: .noise(300))
    try await store.flush()
    hold.begin()
    for _ in 0..<60 { store.remove([try store.put(.sample("passing"), body: .noise(1)).id]) }
    // The shorter log is on its way to the disk.
    try await hold.wait(for: 1)
    try store.put(.sample("late"), body: .noise(200))
    try await writeBehind(store)
    async let flushed: Void = store.flush()
    hold.release()
    try await flushed
    try await afterLosses { store in
      let bodies = try await store.bodies("kept") + store.bodies("late")
      #expect(bodies == [.noise(300), .noise(200)])
    }
    #expect(await store.settle())
    try await afterLosses { store in
      let bodies = try await store.bodies("kept") + store.bodies("late")
      #expect(bodies == [.noise(300), .noise(200)])
    }
    await store.close()
  }

  @Test("a flush that failed is followed by others that fail, until the disk has everything")
  func again() async throws {
    let failing = Locked(false)
    let store = try opened(
      FailingSystem(disk) { call in failing.withLock { $0 } && call == .synchronize ? .error(EIO) : nil })
    try store.put(.sample("a"), body: .noise(1000))
    try await store.write(.sample("b"), .noise(100_000), by: 50_000)
    failing.withLock { $0 = true }
    for _ in 0..<3 {
      let error = await #expect(throws: ArchiveError.self) { try await store.flush() }
      #expect(error?.code == .notWritten)
    }
    failing.withLock { $0 = false }
    // What was refused is written again: a success is one.
    try await store.flush()
    try await afterLosses { store in
      let bodies = try await store.bodies("a") + store.bodies("b")
      #expect(bodies == [.noise(1000), .noise(100_000)])
    }
    await store.close()
  }

  @Test("or what took its place, when that was stored while the flush was under way")
  func changedMeanwhile() async throws {
    let hold = Hold(.synchronize)
    let store = try DiskStore(at: Self.directory, options: hold.options(options(disk), on: disk))
    let freshened = try store.put(.sample("freshened"), body: .noise(100))
    let replaced = try store.put(.sample("replaced"), body: .noise(100))
    hold.begin()
    async let flushed: Void = store.flush()
    try await hold.wait(for: 1)
    try store.update(freshened, head: Array("another head".utf8), details: freshened.details)
    try store.put(.sample("replaced", replacing: [replaced.id]), body: .noise(200))
    try await writeBehind(store)
    hold.release()
    try await flushed
    try await afterLosses { store in
      var bodies = try await store.bodies("freshened")
      #expect(bodies == [.noise(100)])
      bodies = try await store.bodies("replaced")
      #expect(bodies == [.noise(100)] || bodies == [.noise(200)])
    }
    await store.close()
  }

  @Test("until what takes its place is there; a kill leaves the new one alone")
  func replaced() async throws {
    let store = try opened(disk)
    let old = try store.put(.sample("a"), body: .noise(100))
    try await store.flush()
    try store.put(.sample("a", replacing: [old.id]), body: .noise(200))
    try await writeBehind(store)
    try await afterLosses { store in
      let bodies = try await store.bodies("a")
      #expect(bodies == [.noise(100)] || bodies == [.noise(200)])
    }
    let killed = try opened(disk.copy())
    let bodies = try await killed.bodies("a")
    #expect(bodies == [.noise(200)])
    #expect(killed.usage.count == 2)
    await killed.close()
    await store.close()
  }

  @Test("and what it replaced goes, also when the disk refuses another one each time")
  func oneOfMany() async throws {
    let calls = Locked(Int.max)
    let system = FailingSystem(disk) { call in
      guard call == .synchronize else { return nil }
      return calls.withLock { calls in
        calls -= calls == .max ? 0 : 1
        return calls == 0 ? .error(EIO) : nil
      }
    }
    let store = try opened(system)
    for number in 0..<10 { try store.put(.sample("\(number)"), body: .noise(100)) }
    try await store.flush()
    for round in 1...5 {
      for number in 0..<10 {
        let old = try await store.entries(for: ArchiveKey("\(number)")).map(\.id)
        try store.put(.sample("\(number)", replacing: old), body: .noise(100 + round))
      }
      calls.withLock { $0 = round }
      _ = try? await store.flush()
      #expect(await store.settle())
      let left = try entryFiles
      #expect(left < 20)
    }
    calls.withLock { $0 = .max }
    try await store.flush()
    #expect(await store.settle())
    #expect(try entryFiles == 10)
    await store.close()
  }
}
