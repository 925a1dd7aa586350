import Foundation
import StoreFaults
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("A directory that somebody has", .timeLimit(.minutes(10)))
struct HeldDirectoryTests {
  let directory = TemporaryDirectory()

  @Test(
    "is free again when locking or opening it failed, whatever the system lacked",
    arguments: [EMFILE, ENFILE, ENOLCK, EIO, EACCES])
  func failing(code: Int32) async throws {
    let store = try directory.store()
    try store.put(.sample("a"), body: .noise(100))
    await store.close()
    for call in [FailingSystem.Call.lock, .open, .status, .names, .read] {
      for number in 1...6 {
        let calls = Locked(0)
        var options = DiskStore.Options(logger: .silent)
        options.system = FailingSystem { called in
          guard called == call else { return nil }
          return calls.withLock { calls in
            calls += 1
            return calls == number ? .error(code) : nil
          }
        }
        do {
          await (try directory.store(options)).close()
        } catch {
          #expect((error as? ArchiveError)?.code == .directoryUnusable, "\(call) \(number)")
        }
        let again = try directory.store()
        #expect(try await again.bodies("a") == [.noise(100)], "\(call) \(number)")
        await again.close()
      }
    }
  }

  @Test("is kept from another process until it is closed", .exitTest)
  func processes() async throws {
    let store = try directory.store()
    try store.put(.sample("a"), body: .noise(100))
    try await store.flush()
    await #expect(processExitsWith: .success) { [path = directory.url.path as String] in
      Process.limit()
      let directory = URL(fileURLWithPath: path)
      do {
        _ = try DiskStore(at: directory)
        Process.require(false, "two processes write to one directory")
      } catch let error as ArchiveError {
        Process.require(error.code == .locked, "\(error)")
      }
      let reader = try DiskStore(at: directory, options: .init(whenLocked: .readOnly))
      let bodies = try await reader.bodies("a")
      Process.require(reader.isReadOnly && bodies == [.noise(100)], "the reader does not find what is there")
      await reader.close()
    }
    await store.close()
    await #expect(processExitsWith: .success) { [path = directory.url.path as String] in
      Process.limit()
      // Killed, as it were: the system gives the lock back.
      let store = try DiskStore(at: URL(fileURLWithPath: path))
      try store.put(.sample("b"), body: .noise(100))
      try await store.flush()
      exit(0)
    }
    let again = try directory.store()
    #expect(again.usage.count == 2)
    await again.close()
  }

  @Test(
    "is not opened by another user, and nothing in it is changed", .exitTest,
    .enabled(if: geteuid() == 0, "only the system's user can become another one"), arguments: [0o700, 0o755, 0o777])
  func users(mode: Int) async throws {
    let store = try directory.store()
    try store.put(.sample("a"), body: .noise(100))
    await store.close()
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: directory.url.path)
    let before = directory.files.map { directory.contents($0) }
    await #expect(processExitsWith: .success) { [path = directory.url.path as String] in
      Process.limit()
      Process.require(seteuid(65534) == 0, "the user stays")
      for lock in [DiskStore.Lock.fail, .readOnly] {
        do {
          _ = try DiskStore(at: URL(fileURLWithPath: path), options: .init(whenLocked: lock))
          Process.require(false, "another user opened it")
        } catch let error as ArchiveError {
          Process.require(error.code == .directoryUnusable, "\(error)")
        }
      }
    }
    #expect(directory.files.map { directory.contents($0) } == before)
    // The other way round: its owner can put anything in it.
    try FileManager.default.setAttributes([.ownerAccountID: 65534], ofItemAtPath: directory.url.path)
    let error = #expect(throws: ArchiveError.self) { try directory.store() }
    #expect(error?.code == .directoryUnusable)
    let reader = try directory.store(.init(whenLocked: .readOnly, logger: .silent))
    #expect(reader.isReadOnly)
    await reader.close()
  }

  @Test("is open to the next store as soon as a close has returned, and not before", .heavy)
  func closing() async throws {
    for round in 0..<40 {
      let store = try directory.store()
      try store.put(.sample("\(round)"), body: .noise(100))
      let isClosed = Locked(false)
      async let closed: Void = {
        await store.close()
        isClosed.withLock { $0 = true }
      }()
      while true {
        try Task.checkCancellation()
        let wasClosed = isClosed.withLock { $0 }
        do {
          let next = try directory.store()
          #expect(next.usage.count == round + 1)
          await next.close()
          break
        } catch {
          #expect((error as? ArchiveError)?.code == .locked)
          if wasClosed {
            Issue.record("it was closed, and is locked: \(error)")
            break
          }
        }
        await Task.yield()
      }
      await closed
    }
  }

  @Test("has each entry for a reader, whatever the writer changes while it looks", arguments: 1...8)
  func reading(call: Int) async throws {
    let writer = try directory.store(.init(memory: 0, logger: .silent))
    let entry = try writer.put(.sample("a"), body: .noise(100))
    try writer.put(.sample("gone"), body: .noise(100))
    try await writer.flush()
    let gate = Barrier()
    let calls = Locked(0)
    var options = DiskStore.Options(memory: 0, whenLocked: .readOnly, logger: .silent)
    options.system = FailingSystem { called in
      guard called == .open || called == .names else { return nil }
      if calls.withLock({ calls in
        calls += 1
        return calls == call
      }) {
        gate.pass()
      }
      return nil
    }
    let reader = try directory.store(options)
    let events = Locked<[StoreEvent]>([])
    reader.observe { event in events.withLock { $0.append(event) } }
    // What opening took is not counted.
    calls.withLock { $0 = 0 }
    gate.close()
    async let bodies = reader.bodies("a")
    async let gone = reader.bodies("gone")
    let isHeld = Locked(false)
    async let held: Void = {
      await gate.reached()
      isHeld.withLock { $0 = true }
      // The head gets another file, the old one goes, and the log is shortened.
      try writer.update(entry, head: [1, 2, 3], details: entry.details)
      try await writer.removeAll(.key(ArchiveKey("gone")))
      try await writer.flush()
      gate.open()
    }()
    #expect(try await bodies == [.noise(100)])
    _ = try? await gone
    if !isHeld.withLock({ $0 }) { gate.arrive() }
    try await held
    #expect(try await reader.bodies("gone").isEmpty)
    #expect(events.withLock { $0 }.isEmpty)
    await reader.close()
    await writer.close()
  }

  @Test("has nothing for a reader that was closed while it read the log")
  func closedWhileFollowing() async throws {
    let writer = try directory.store()
    try writer.put(.sample("a"), body: .noise(100))
    try await writer.flush()
    let gate = Barrier()
    var options = DiskStore.Options(memory: 0, whenLocked: .readOnly, logger: .silent)
    options.system = FailingSystem { call in
      if call == .read { gate.pass() }
      return nil
    }
    let reader = try directory.store(options)
    try writer.put(.sample("b"), body: .noise(100))
    try await writer.flush()
    gate.close()
    async let found = reader.entries(for: ArchiveKey("b"))
    await gate.reached()
    await reader.close()
    gate.open()
    #expect(try await found.isEmpty)
    // A list of nothing would say that there is nothing.
    let unlisted = await #expect(throws: ArchiveError.self) { _ = try await reader.list() }
    #expect(unlisted?.code == .closed)
    #expect(reader.usage.count == 0)
    await writer.close()
  }

  @Test("never has an entry in the log before the partition that it is in")
  func partitions() async throws {
    let disk = ModelDisk()
    let place = URL(fileURLWithPath: "/above/archive", isDirectory: true)
    let moments = Locked<[ModelDisk]>([])
    var options = DiskStore.Options(memory: 0, logger: .silent)
    options.system = FailingSystem(disk) { call in
      if call == .write { moments.withLock { $0.append(disk.copy()) } }
      return nil
    }
    let store = try DiskStore(at: place, options: options)
    for number in 0..<4 {
      let writer = try store.makeWriter(for: ArchiveKey("a", partition: ArchivePartition("\(number)")))
      _ = try await writer.checkpoint(.sample("a", partition: ArchivePartition("\(number)")))
      try store.put(.sample("b", partition: ArchivePartition("b\(number)")), body: .noise(100))
    }
    await store.close()
    moments.withLock { $0.append(disk.copy()) }
    for moment in moments.withLock({ $0 }) {
      options.system = moment
      let store = try DiskStore(at: place, options: options)
      let count = store.usage.count
      #expect(try await store.list().count == count)
      await store.close()
    }
  }
}
