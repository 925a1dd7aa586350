import Foundation
import StoreFaults
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("A log that is written anew", .timeLimit(.minutes(2)))
struct CompactionTests {
  private static let directory = URL(fileURLWithPath: "/above/archive", isDirectory: true)
  private let disk = ModelDisk()

  private func options(_ system: any SystemCalls) -> DiskStore.Options {
    var options = DiskStore.Options(memory: 0, logger: .silent)
    options.slack = 16
    options.system = system
    return options
  }

  /// The files in a folder of the archive.
  private func names(_ folder: String) throws -> [String] {
    let file = try disk.open("\(Self.directory.path)/\(folder)", in: -1, flags: O_RDONLY | O_DIRECTORY, mode: 0)
    defer { disk.close(file) }
    return try disk.names(in: file)
  }

  @Test(
    "is not begun again and again where it would not be shorter, because files that should have gone are still there")
  func looseFiles() async throws {
    let failing = Locked(false)
    let renames = Locked(0)
    let system = FailingSystem(disk) { call in
      if call == .rename { renames.withLock { $0 += 1 } }
      return failing.withLock { $0 } && call == .remove ? .error(EIO) : nil
    }
    let store = try DiskStore(at: Self.directory, options: options(system))
    try store.put(.sample("kept"), body: .noise(100))
    let entries = try (0..<100).map { try store.put(.sample("stuck \($0)"), body: .noise(10)) }
    #expect(await store.settle())
    failing.withLock { $0 = true }
    store.remove(entries.map(\.id))
    #expect(await store.settle())
    failing.withLock { $0 = false }
    renames.withLock { $0 = 0 }
    for round in 0..<1000 {
      store.remove([try store.put(.sample("passing \(round)"), body: .noise(1)).id])
      if round % 10 == 9 { #expect(await store.settle()) }
    }
    // Some hundred records each time.
    let count = renames.withLock { $0 }
    #expect((1...100).contains(count), "\(count)")
    await store.close()
    let again = try DiskStore(at: Self.directory, options: options(disk))
    #expect(await again.settle())
    let bodies = try await again.bodies("kept")
    #expect(bodies == [.noise(100)])
    #expect(again.usage.count == 1)
    await again.close()
    #expect(try names("log").count == 1)
  }

  @Test("or because the disk has not taken what took the place of what it had")
  func replacedEntries() async throws {
    let drafts = Locked(0)
    let counting = FailingSystem(disk) { call in
      if call == .rename { drafts.withLock { $0 += 1 } }
      return nil
    }
    let store = try DiskStore(at: Self.directory, options: options(counting))
    let entries = try (0..<100).map { try store.put(.sample("\($0)"), body: .noise(10)) }
    try await store.flush()
    drafts.withLock { $0 = 0 }
    for entry in entries { try store.update(entry, head: Array("newer".utf8), details: entry.details) }
    #expect(await store.settle())
    #expect(drafts.withLock { $0 } <= 2)
    try await store.flush()
    #expect(await store.settle())
    await store.close()
    let again = try DiskStore(at: Self.directory, options: options(disk))
    #expect(try await again.entries(for: ArchiveKey("7")).map(\.head) == [Array("newer".utf8)])
    #expect(again.usage.count == 100)
    await again.close()
  }

  @Test("is given up for good when another one takes its place meanwhile, and leaves no file")
  func overtaken() async throws {
    let hold = Hold(.synchronize)
    let failing = Locked(false)
    let system = FailingSystem(disk) { call in failing.withLock { $0 } && call == .synchronize ? .error(EIO) : nil }
    let store = try DiskStore(at: Self.directory, options: hold.options(options(system), on: system))
    try store.put(.sample("kept"), body: .noise(100))
    // From now on the log is not to be trusted, and the next flush writes it anew.
    failing.withLock { $0 = true }
    await #expect(throws: ArchiveError.self) { try await store.flush() }
    failing.withLock { $0 = false }
    hold.begin()
    for _ in 0..<200 { store.remove([try store.put(.sample("passing"), body: .noise(1)).id]) }
    try await hold.wait(for: 1)
    async let flushed: Void = store.flush()
    async let held: Void = {
      // The one that was under way, and the one that is written anew.
      try? await hold.wait(for: 2)
      hold.release()
    }()
    try await flushed
    await held
    #expect(await store.settle())
    #expect(try names("log").count == 1)
    await store.close()
    #expect(try names("log").count == 1)
    let again = try DiskStore(at: Self.directory, options: options(disk))
    let bodies = try await again.bodies("kept")
    #expect(bodies == [.noise(100)])
    await again.close()
  }
}
