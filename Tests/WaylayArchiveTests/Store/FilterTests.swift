import Foundation
import StoreFaults
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("Filters and files", .timeLimit(.minutes(5)))
struct FilterTests {
  let directory = TemporaryDirectory()

  @Test("removing by host, tag or partition opens the heads of what is removed, not every head")
  func cost() async throws {
    let opened = Locked(0)
    func options() -> DiskStore.Options {
      var options = DiskStore.Options(memory: 0, logger: .silent)
      options.system = FailingSystem(opened: { name in if name.contains("-") { opened.withLock { $0 += 1 } } }) { _ in
        nil
      }
      return options
    }
    let count = Sizes.of(100_000, small: 600)
    let store = try directory.store(options())
    for number in 0..<count {
      let isMeant = number % (count / 10) == 0
      let draft = EntryDraft.sample(
        "\(number)", host: isMeant ? "www.example.org" : "host\(number % 50).example",
        tags: isMeant ? ["few"] : ["t\(number)"])
      try await store.write(draft, .noise(10), by: 10)
    }
    await store.close()
    let again = try directory.store(options())
    opened.withLock { $0 = 0 }
    #expect(try await again.list(.tag("few")).count == 10)
    // The index has three of 32 bits for a tag, by a key of its own. Where chance makes them one, every eleventh tag has
    // that bit too.
    #expect(opened.withLock { $0 } < count / 5)
    opened.withLock { $0 = 0 }
    #expect(try await again.removeAll(.host("www.example.org")) == 10)
    #expect(opened.withLock { $0 } < count / 10)
    #expect(again.usage.count == count - 10)
    await again.close()
  }

  @Test("a closed archive, and one whose directory is gone, says so instead of listing or exporting nothing")
  func closed() async throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-\(UUID().uuidString).export")
    for isLost in [false, true] {
      let directory = TemporaryDirectory()
      let store = try directory.store()
      try store.put(.sample("a"), body: .noise(10))
      try await store.flush()
      if isLost {
        try FileManager.default.removeItem(at: directory.url)
        await #expect(throws: (any Error).self) { try await store.flush() }
      } else {
        await store.close()
      }
      let code: ArchiveError.Code = isLost ? .directoryUnusable : .closed
      let unexported = await #expect(throws: ArchiveError.self) { try await store.export(to: file) }
      #expect(unexported?.code == code)
      let unlisted = await #expect(throws: ArchiveError.self) { _ = try await store.list() }
      #expect(unlisted?.code == code)
      #expect(!FileManager.default.fileExists(atPath: file.path))
    }
  }

  @Test("a limit counts the blocks of the disk, of which small entries take whole ones")
  func blocks() async throws {
    let store = try directory.store(.init(limits: StoreLimits(bytes: 1 << 20), memory: 0, logger: .silent))
    for number in 0..<400 { try await store.write(.sample("\(number)"), .noise(100), by: 100) }
    try await store.flush()
    #expect(store.usage.bytes < 300_000)
    let files = directory.files.filter { $0.hasPrefix("entries/") }.count
    #expect(files * 4096 <= 1 << 20 && files > 150)
    await store.close()
  }

  @Test("an export leaves a user's file beside it alone, and a restore does not go into an archive with entries")
  func beside() async throws {
    let folder = TemporaryDirectory()
    try folder.write(Data("mine".utf8), "archive.export.new")
    let file = folder.url.appendingPathComponent("archive.export")
    let store = try directory.store()
    try store.put(.sample("a"), body: .noise(10))
    #expect(try await store.export(to: file) == 1)
    #expect(folder.files == ["archive.export", "archive.export.new"])
    #expect(folder.contents("archive.export.new") == Data("mine".utf8))
    await store.close()
    let target = TemporaryDirectory()
    let restored = try await ArchiveCache.restore(from: file, to: .disk(at: target.url))
    #expect(try await restored.usage.count == 1)
    // The same archive, and yet somebody's entries are in it by now.
    let error = await #expect(throws: ArchiveError.self) {
      _ = try await ArchiveCache.restore(from: file, to: .disk(at: target.url))
    }
    #expect(error?.code == .directoryUnusable)
    #expect(try await restored.usage.count == 1)
    await restored.close()
  }
}
