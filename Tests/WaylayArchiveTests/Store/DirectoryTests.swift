import Foundation
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("The directory of an archive", .timeLimit(.minutes(5)))
struct DirectoryTests {
  let directory = TemporaryDirectory()

  private func removeDirectory() throws { try FileManager.default.removeItem(at: directory.url) }

  private func mode(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return try #require(attributes[.posixPermissions] as? NSNumber).intValue
  }

  @Test(
    "removed and opened again, has all of the new store's entries, whatever the old store does",
    arguments: [false, true])
  func removedAndOpenedAgain(isCompacting: Bool) async throws {
    let old = try directory.store()
    for number in 0..<1500 {
      let entry = try old.put(.sample("old \(number)"), body: .noise(100))
      if isCompacting { old.remove([entry.id]) }
    }
    try await old.flush()
    try removeDirectory()
    let new = try directory.store()
    for number in 0..<40 { try new.put(.sample("new \(number)"), body: .noise(100, seed: UInt64(number))) }
    try await new.flush()
    // Everything that an old store may still do.
    _ = try? old.put(.sample("late"), body: .noise(100))
    _ = try? await old.write(.sample("late and large"), .noise(200_000), by: 70_000)
    _ = try? await old.removeAll(.all)
    try? await old.flush()
    await old.close()
    await new.close()
    let again = try directory.store()
    #expect(again.usage.count == 40)
    for number in 0..<40 {
      let bodies = try await again.bodies("new \(number)")
      #expect(bodies == [.noise(100, seed: UInt64(number))])
    }
    #expect(directory.files.filter { $0.hasPrefix("entries/") }.count == 40)
    await again.close()
  }

  @Test("that is another one's now is an error of the old store, and a miss")
  func lost() async throws {
    let lines = Locked<[String]>([])
    let old = try directory.store(.init(memory: 0, logger: .keeping(lines)))
    try old.put(.sample("a"), body: .noise(100))
    try await old.flush()
    try removeDirectory()
    let new = try directory.store()
    try new.put(.sample("b"), body: .noise(100))
    try await new.flush()
    let found = try await old.entries(for: ArchiveKey("a"))
    #expect(found.isEmpty)
    let error = #expect(throws: ArchiveError.self) { try old.put(.sample("c"), body: .noise(1)) }
    #expect(error?.code == .directoryUnusable)
    let flushed = await #expect(throws: ArchiveError.self) { try await old.flush() }
    #expect(flushed?.code == .directoryUnusable)
    #expect(lines.withLock { $0.filter { $0.hasPrefix("error") }.count } == 1)
    await old.close()
    await new.close()
  }

  @Test("moved elsewhere is no longer written to")
  func moved() async throws {
    let store = try directory.store(.init(memory: 0, logger: .silent))
    try store.put(.sample("a"), body: .noise(100))
    try await store.flush()
    let other = TemporaryDirectory()
    try FileManager.default.moveItem(at: directory.url, to: other.url)
    _ = try? store.put(.sample("b"), body: .noise(100))
    let error = await #expect(throws: ArchiveError.self) { try await store.flush() }
    #expect(error?.code == .directoryUnusable)
    // The store releases it: it can be opened where it is now.
    let again = try other.store()
    let bodies = try await again.bodies("a")
    #expect(bodies == [.noise(100)])
    await again.close()
    await store.close()
  }

  @Test("whose files are all removed stays closed to a second writer, and is nobody's then")
  func filesRemoved() async throws {
    let first = try directory.store()
    try first.put(.sample("a"), body: .noise(100))
    try await first.flush()
    let refused = #expect(throws: ArchiveError.self) { try directory.store() }
    #expect(refused?.code == .locked)
    // There is no file that is the lock.
    #expect(
      Set(try FileManager.default.contentsOfDirectory(atPath: directory.url.path)) == [
        "waylay-archive", "log", "entries",
      ])
    for name in directory.files { try FileManager.default.removeItem(at: directory.url.appendingPathComponent(name)) }
    // Without the file that says what it is, it is nobody's archive.
    let error = #expect(throws: ArchiveError.self) { try directory.store() }
    #expect(error?.code == .foreignFormat)
    await first.close()
    let second = #expect(throws: ArchiveError.self) { try directory.store() }
    #expect(second?.code == .foreignFormat)
  }

  @Test("that was there before is for its owner alone")
  func existing() async throws {
    try FileManager.default.createDirectory(
      at: directory.url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    var store = try directory.store()
    #expect(try mode(directory.url.path) == 0o700)
    await store.close()
    try FileManager.default.setAttributes([.posixPermissions: 0o775], ofItemAtPath: directory.url.path)
    store = try directory.store()
    #expect(try mode(directory.url.path) == 0o700)
    await store.close()
  }

  @Test(
    """
    that has a link in the place of a folder of its own is refused or an error, and nothing is written where the link \
    leads
    """
  )
  func links() async throws {
    let store = try directory.store()
    try store.put(.sample("a"), body: .noise(100))
    await store.close()
    let elsewhere = TemporaryDirectory()
    try FileManager.default.createDirectory(at: elsewhere.url, withIntermediateDirectories: true)
    for name in ["entries", "log"] {
      let folder = directory.url.appendingPathComponent(name)
      let aside = directory.url.appendingPathComponent(name + "-aside")
      try FileManager.default.moveItem(at: folder, to: aside)
      try FileManager.default.createSymbolicLink(at: folder, withDestinationURL: elsewhere.url)
      do {
        let store = try directory.store(.init(memory: 0, logger: .silent))
        _ = try? await store.entries(for: ArchiveKey("a"))
        _ = try? store.put(.sample("b"), body: .noise(100))
        _ = try? await store.write(.sample("c"), .noise(100_000), by: 50_000)
        try? await store.flush()
        await store.close()
      } catch {
        #expect((error as? ArchiveError)?.code == .directoryUnusable)
      }
      #expect(elsewhere.files.isEmpty)
      try FileManager.default.removeItem(at: folder)
      try FileManager.default.moveItem(at: aside, to: folder)
    }
    let again = try directory.store()
    let bodies = try await again.bodies("a")
    #expect(bodies == [.noise(100)])
    await again.close()
  }

  @Test("may be one that a link leads to")
  func linkToIt() async throws {
    let elsewhere = TemporaryDirectory()
    try FileManager.default.createDirectory(at: elsewhere.url, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(at: directory.url, withDestinationURL: elsewhere.url)
    let store = try directory.store()
    try store.put(.sample("a"), body: .noise(100))
    try await store.flush()
    let error = #expect(throws: ArchiveError.self) { try elsewhere.store() }
    #expect(error?.code == .locked)
    await store.close()
    let again = try elsewhere.store()
    #expect(again.usage.count == 1)
    await again.close()
  }

  @Test("names folders of partitions by a closure that may use the store")
  func folderNames() async throws {
    let own = Locked<DiskStore?>(nil)
    var options = DiskStore.Options(logger: .silent)
    options.folderName = { _ in own.withLock { $0 }.map { "entries-\($0.usage.count)" } }
    let store = try directory.store(options)
    own.withLock { $0 = store }
    try store.put(.sample("a", partition: "alice"), body: .noise(100))
    try await store.write(.sample("b", partition: "bob"), .noise(100_000), by: 50_000)
    try await store.flush()
    #expect(store.usage.count == 2)
    own.withLock { $0 = nil }
    await store.close()
  }
}
