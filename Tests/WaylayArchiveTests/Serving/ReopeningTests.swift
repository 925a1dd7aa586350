import Foundation
import StoreFaults
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

#if Cryptography
  import Crypto
#endif

@Suite("An archive that could not be opened", .timeLimit(.minutes(2)))
struct ReopeningTests {
  private let directory = TemporaryDirectory()
  private let script = ScriptedNext()
  private let address = "http://example.com/a"

  init() { script.answers("a", [.cacheControl: "max-age=1000"]) }

  private func archive(
    _ options: DiskStore.Options = .init(logger: .silent), _ time: Locked<UInt64>? = nil
  )
    -> ArchiveCache
  {
    ArchiveCache(.disk(at: directory.url, options: options)) { configuration in
      if let time { configuration.clock = TimerClock(now: { time.withLock { $0 } }, schedule: { _, _ in }) }
    }
  }

  /// An archive that had something, has found its directory gone, and may open again.
  private func withoutDirectory() async throws -> ArchiveCache {
    let time = Locked(UInt64(1_000_000_000))
    let archive = archive(.init(memory: 0, logger: .silent), time)
    _ = try await archive.load(address, script)
    try FileManager.default.removeItem(at: directory.url)
    _ = try? await archive.flush()
    #expect(!archive.isOpen)
    time.withLock { $0 += 1_000_000_000 }
    return archive
  }

  @Test("is opened again at the next load, but not more than once a second, and says how it stands")
  func again() async throws {
    let isFailing = Locked(true)
    let attempts = Locked(0)
    var options = DiskStore.Options(logger: .silent)
    options.system = FailingSystem { call in
      guard call == .lock else { return nil }
      attempts.withLock { $0 += 1 }
      return isFailing.withLock { $0 } ? .error(EIO) : nil
    }
    let time = Locked(UInt64(1_000_000_000))
    let archive = archive(options, time)
    var events = archive.events().makeAsyncIterator()
    await #expect(throws: ArchiveError.self) { try await archive.waitUntilOpen() }
    #expect(!archive.isOpen)
    isFailing.withLock { $0 = false }
    // Within the second, nobody asks the disk again.
    for _ in 0..<5 { _ = try await archive.load(address, script) }
    #expect(!archive.isOpen && attempts.withLock { $0 } == 1)
    time.withLock { $0 += 1_000_000_000 }
    _ = try await archive.load(address, script)
    #expect(archive.isOpen && attempts.withLock { $0 } == 2)
    #expect(try await archive.usage.count == 1)
    var kinds: [OpenEnum<ArchiveEvent>] = []
    while kinds.last != .stored, let event = await events.next() { kinds.append(event.kind) }
    // The first opening may have failed before anybody listened.
    #expect(archive.counters.storeFailures == 1 && kinds.filter { $0 == .opened }.count == 1)
    await archive.close()
    #expect(!archive.isOpen)
  }

  @Test("stores again after its directory was removed")
  func removedDirectory() async throws {
    let archive = try await withoutDirectory()
    _ = try await archive.load(address, script)
    #expect(archive.isOpen)
    #expect(try await archive.usage.count == 1)
    await archive.close()
  }

  @Test("is shared by a third one when the first has opened it anew and the second has not noticed yet")
  func third() async throws {
    for _ in 0..<10 {
      let place = TemporaryDirectory()
      let time = Locked(UInt64(1_000_000_000))
      func archive() -> ArchiveCache {
        ArchiveCache(.disk(at: place.url, options: DiskStore.Options(memory: 0, logger: .silent))) {
          $0.clock = TimerClock(now: { time.withLock { $0 } }, schedule: { _, _ in })
        }
      }
      let (first, second) = (archive(), archive())
      try await first.waitUntilOpen()
      try await second.waitUntilOpen()
      // The contents alone go: the directory is the same one.
      for file in try FileManager.default.contentsOfDirectory(atPath: place.url.path) {
        try FileManager.default.removeItem(at: place.url.appendingPathComponent(file))
      }
      _ = try? await first.load(address, script)
      _ = try? await first.flush()
      time.withLock { $0 += 1_000_000_000 }
      _ = try await first.load(address, script)
      #expect(first.isOpen)
      let third = archive()
      try await third.waitUntilOpen()
      for archive in [third, second, first] { await archive.close() }
    }
  }

  @Test("does not make a directory again that has been removed, when it is closed")
  func closedAfterRemoval() async throws {
    let archive = try await withoutDirectory()
    await archive.close()
    #expect(!FileManager.default.fileExists(atPath: directory.url.path))
  }

  @Test("opens while another archive waits for its own directory")
  func independent() async throws {
    let (held, gate) = (TemporaryDirectory(), DispatchSemaphore(value: 0))
    var options = DiskStore.Options(memory: 0, logger: .silent)
    options.system = FailingSystem(
      opened: { _ in
        gate.wait()
        gate.signal()
      }
    ) { _ in nil }
    let waiting = ArchiveCache(.disk(at: held.url, options: options))
    let opening = Task { try await waiting.waitUntilOpen() }
    let other = archive()
    try await other.waitUntilOpen()
    #expect(other.isOpen && !waiting.isOpen)
    gate.signal()
    try await opening.value
    #expect(waiting.isOpen)
    await other.close()
    await waiting.close()
  }

  @Test("shares the store of another archive of the process in the same directory, which the last one closes")
  func shared() async throws {
    let first = archive()
    let second = ArchiveCache(.disk(at: directory.url, limits: StoreLimits(bytes: 1 << 20)))
    try await first.waitUntilOpen()
    try await second.waitUntilOpen()
    _ = try await first.load(address, script)
    #expect(try await second.usage.count == 1)
    #expect(second.limits == first.limits)
    await first.close()
    #expect(!first.isOpen && second.isOpen)
    _ = try await second.load("http://example.com/b", script)
    await second.close()
    let store = try directory.store()
    #expect(store.usage.count == 2)
    await store.close()
  }

  @Test(
    "has the directory as soon as another one was dropped or invalidated, forty times in a row",
    arguments: [false, true])
  func dropped(isInvalidated: Bool) async throws {
    for round in 0..<40 {
      var old: ArchiveCache? = archive()
      try await old?.waitUntilOpen()
      if isInvalidated { old?.invalidate() }
      let new = archive()
      old = nil
      try await new.waitUntilOpen()
      #expect(new.isOpen, "round \(round)")
      await new.close()
    }
  }

  @Test("lets the directory go when it was invalidated while it opened")
  func invalidatedAtOnce() async throws {
    for _ in 0..<20 { archive().invalidate() }
    let last = archive()
    try await last.waitUntilOpen()
    await last.close()
    await (try directory.store()).close()
  }

  #if Cryptography
    @Test("is not tried again with a wrong key, nor shared")
    func keys() async throws {
      let first = archive(.init(encryptionKey: { StoreKind.key }, logger: .silent))
      try await first.waitUntilOpen()
      for key in [SymmetricKey(size: .bits256), nil] {
        var options = DiskStore.Options(logger: .silent)
        if let key { options.encryptionKey = { key } }
        let other = archive(options)
        let error = await #expect(throws: ArchiveError.self) { try await other.waitUntilOpen() }
        #expect(error?.code == .wrongKey)
        await other.close()
      }
      #expect(first.isOpen)
      await first.close()
    }
  #endif
}
