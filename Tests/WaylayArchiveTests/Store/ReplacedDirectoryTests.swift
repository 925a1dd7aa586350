import Foundation
import StoreFaults
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("A directory that is replaced", .timeLimit(.minutes(5)))
struct ReplacedDirectoryTests {
  let directory = TemporaryDirectory()

  enum What: CaseIterable { case renamed, removed }
  enum After: CaseIterable { case nothing, another }

  /// Options that have something done at a call of the system's, and then count on.
  private func options(at call: Int, _ calls: Locked<Int>, _ work: @escaping @Sendable () -> Void) -> DiskStore.Options
  {
    var options = DiskStore.Options(memory: 0, logger: .silent)
    options.system = FailingSystem { _ in
      let isDue = calls.withLock { calls in
        calls += 1
        return calls == call
      }
      if isDue { work() }
      return nil
    }
    return options
  }

  @Test(
    "at any call of an opening is not the one that was opened, or is not written to", arguments: What.allCases,
    After.allCases)
  func whileOpening(what: What, after: After) async throws {
    var call = 0
    var isReached = true
    while isReached {
      call += 1
      let (place, aside) = (TemporaryDirectory(), TemporaryDirectory())
      let before = try place.store()
      try before.put(.sample("before"), body: .noise(100))
      await before.close()
      let new = Locked<DiskStore?>(nil)
      let calls = Locked(0)
      let options = options(at: call, calls) {
        if what == .renamed {
          try? FileManager.default.moveItem(at: place.url, to: aside.url)
        } else {
          try? FileManager.default.removeItem(at: place.url)
        }
        guard after != .nothing, let store = try? place.store() else { return }
        _ = try? store.put(.sample("new"), body: .noise(200))
        new.withLock { $0 = store }
      }
      let opened: DiskStore?
      do {
        opened = try place.store(options)
      } catch {
        #expect((error as? ArchiveError)?.code == .locked)
        #expect(after != .nothing)
        opened = nil
      }
      isReached = calls.withLock { calls in
        defer { calls = .max / 2 }
        return calls >= call
      }
      let wasReplaced = isReached
      var isStored = false
      if let opened {
        do {
          try opened.put(.sample("opened"), body: .noise(300))
          try await opened.flush()
          isStored = true
        } catch {
          // Replaced after it had been opened, as far as anybody can tell.
          #expect((error as? ArchiveError)?.code == .directoryUnusable)
        }
        await opened.close()
      }
      await new.withLock { $0 }?.close()
      let last = try place.store()
      #expect(try await last.bodies("opened") == (isStored ? [.noise(300)] : []), "call \(call)")
      #expect(try await last.bodies("before") == (wasReplaced ? [] : [.noise(100)]), "call \(call)")
      if after != .nothing, wasReplaced { #expect(try await last.bodies("new") == [.noise(200)], "call \(call)") }
      await last.close()
      guard what == .renamed, wasReplaced else { continue }
      // What was there before is where it is now, with all it had.
      let old = try aside.store()
      #expect(try await old.bodies("before") == [.noise(100)], "call \(call)")
      await old.close()
    }
    #expect(call > 15)
  }

  @Test("by a file is an error of the old store and of the next, and the file stays as it is")
  func byFile() async throws {
    let store = try directory.store()
    try store.put(.sample("a"), body: .noise(100))
    try await store.flush()
    try FileManager.default.removeItem(at: directory.url)
    try Data("mine".utf8).write(to: directory.url)
    _ = try? store.put(.sample("b"), body: .noise(100))
    let flushed = await #expect(throws: ArchiveError.self) { try await store.flush() }
    #expect(flushed?.code == .directoryUnusable)
    let opened = #expect(throws: ArchiveError.self) { try directory.store() }
    #expect(opened?.code == .directoryUnusable)
    await store.close()
    #expect(try Data(contentsOf: directory.url) == Data("mine".utf8))
  }

  @Test("because a link leads elsewhere is released, and the other one is another store's")
  func byLink() async throws {
    let (first, second) = (TemporaryDirectory(), TemporaryDirectory())
    for place in [first, second] {
      try FileManager.default.createDirectory(at: place.url, withIntermediateDirectories: true)
    }
    try FileManager.default.createSymbolicLink(at: directory.url, withDestinationURL: first.url)
    let old = try directory.store()
    try old.put(.sample("a"), body: .noise(100))
    try await old.flush()
    try FileManager.default.removeItem(at: directory.url)
    try FileManager.default.createSymbolicLink(at: directory.url, withDestinationURL: second.url)
    let new = try directory.store()
    try new.put(.sample("b"), body: .noise(100))
    try await new.flush()
    let error = await #expect(throws: ArchiveError.self) { try await old.flush() }
    #expect(error?.code == .directoryUnusable)
    let again = try first.store()
    #expect(try await again.bodies("a") == [.noise(100)])
    for store in [again, old, new] { await store.close() }
    let last = try directory.store()
    #expect(last.usage.count == 1)
    await last.close()
  }

  @Test("is released only when the store that had it has done what it had begun")
  func underWay() async throws {
    let gate = Barrier()
    var options = DiskStore.Options(memory: 0, logger: .silent)
    options.system = FailingSystem { call in
      if call == .create { gate.pass() }
      return nil
    }
    let store = try directory.store(options)
    let known = try store.put(.sample("a"), body: .noise(100))
    try await store.flush()
    gate.close()
    try store.put(.sample("b"), body: .noise(100))
    await gate.reached()
    // The thread that writes is within a call. Somebody else finds out that the directory is another's.
    let aside = TemporaryDirectory()
    try FileManager.default.moveItem(at: directory.url, to: aside.url)
    for path in aside.files where path.hasPrefix("entries/") {
      try FileManager.default.removeItem(at: aside.url.appendingPathComponent(path))
    }
    #expect(try await store.entries(for: known.key).isEmpty)
    let error = #expect(throws: ArchiveError.self) { try store.put(.sample("c"), body: .noise(100)) }
    #expect(error?.code == .directoryUnusable)
    let refused = #expect(throws: ArchiveError.self) { try aside.store() }
    #expect(refused?.code == .locked)
    gate.open()
    await #expect(throws: ArchiveError.self) { try await store.flush() }
    let found = try aside.store()
    await found.close()
    await store.close()
  }
}

/// Holds calls up while it is closed.
final class Barrier: Sendable {
  private let isClosed = Locked(false)
  private let arrived = AsyncStream.makeStream(of: Void.self)
  private let permit = DispatchSemaphore(value: 0)

  func close() { isClosed.withLock { $0 = true } }

  /// Lets the one that waits go on, and everybody after it.
  func open() { permit.signal() }

  /// Waits where the gate is closed; the next ones do not.
  func pass() {
    let waits = isClosed.withLock { isClosed in
      defer { isClosed = false }
      return isClosed
    }
    guard waits else { return }
    arrived.continuation.yield()
    permit.wait()
  }

  /// Says that somebody waits, though nobody does.
  func arrive() { arrived.continuation.yield() }

  /// Waits until somebody waits.
  func reached() async {
    for await _ in arrived.stream { return }
  }
}
