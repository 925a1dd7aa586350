import Foundation
import StoreFaults
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("A store whose disk fails or loses its power", .timeLimit(.minutes(5)))
struct PromiseTests {
  private let disk = ModelDisk()

  private func open(_ system: any SystemCalls) throws -> DiskStore { try open(options(system)) }

  private func open(_ options: DiskStore.Options) throws -> DiskStore {
    try DiskStore(at: FaultSession.directory, options: options)
  }

  private func options(_ system: any SystemCalls, memory: Int = 0) -> DiskStore.Options {
    var options = DiskStore.Options(memory: memory, logger: .silent)
    options.disk = system
    return options
  }

  @Test("has no byte of a removed entry after a flush, also when the power goes then", arguments: 0..<4)
  func removal(seed: UInt64) async throws {
    let store = try open(disk)
    var pieces: Set<Data> = []
    for (index, size) in [300, 9000, 100_000, 70_000].enumerated() {
      let body = Data.noise(size, seed: seed * 10 + UInt64(index) + 1)
      pieces.insert(Data(body[100..<132]))
      try await store.put(.sample("\(index)", head: "planted head \(index) \(seed)"), body: body)
    }
    try await store.flush()
    if seed % 2 == 0 {
      try await store.removeAll(.all)
    } else {
      store.remove(try await store.list().map(\.id))
    }
    try await store.flush()
    pieces.insert(Data("planted head".utf8))
    #expect(disk.remains(of: pieces).isEmpty)
    var chance = SplitMix(state: seed)
    for _ in 0..<20 { #expect(disk.afterLossOfPower(&chance).remains(of: pieces).isEmpty) }
    await store.close()
  }

  @Test("throws from a flush while the file of a removed body cannot be removed")
  func kept() async throws {
    let failing = Locked(false)
    let store = try open(FailingSystem(disk) { $0 == .remove && failing.withLock { $0 } ? .error(EIO) : nil })
    let body = Data.noise(100_000)
    try await store.put(.sample("a"), body: body)
    try await store.flush()
    failing.withLock { $0 = true }
    try await store.removeAll(.all)
    await #expect(throws: ArchiveError.self) { try await store.flush() }
    failing.withLock { $0 = false }
    try await store.flush()
    #expect(disk.remains(of: [Data(body[100..<132])]).isEmpty)
    await store.close()
  }

  @Test("reads no long part of the index under the lock for writing when remains are overwritten")
  func scrub() async throws {
    let (isArmed, run, longest) = (Locked(false), Locked(0), Locked(0))
    let system = FailingSystem(disk) { call in
      guard isArmed.withLock({ $0 }) else { return nil }
      switch call {
      case .read: run.withLock { $0 += 1 }
      case .lock, .sharedMemory: run.withLock { $0 = 0 }
      case .write: longest.withLock { $0 = max($0, run.withLock { $0 }) }
      default: break
      }
      if call == .write { run.withLock { $0 = 0 } }
      return nil
    }
    let store = try open(system)
    for key in 0..<300 { try await store.put(.sample("\(key)"), body: .noise(3000)) }
    try await store.removeAll(.key(ArchiveKey("7")))
    isArmed.withLock { $0 = true }
    try await store.flush()
    #expect(longest.withLock { $0 } < 100)
    await store.close()
  }

  @Test("gives out nothing from memory that another process has removed, when the look for changes fails once")
  func failedLook() async throws {
    let (isArmed, failures) = (Locked(false), Locked(0))
    let system = FailingSystem(disk) { call in
      guard [.lock, .sharedMemory, .read].contains(call) else { return nil }
      let fails = isArmed.withLock { isArmed in
        defer { isArmed = false }
        return isArmed
      }
      if fails { failures.withLock { $0 += 1 } }
      return fails ? .error(EIO) : nil
    }
    let options = options(system, memory: 1 << 20)
    let (store, other) = (try open(options), try open(options))
    try await store.put(.sample("a"), body: .noise(300))
    #expect(try await store.bodies("a") == [.noise(300)])
    try await other.removeAll(.all)
    isArmed.withLock { $0 = true }
    #expect(try await store.entries(for: ArchiveKey("a")).isEmpty)
    #expect(failures.withLock { $0 } == 1)
    await other.close()
    await store.close()
  }

  @Test("does not call a body flushed whose bytes the system has dropped after a sync that failed")
  func dropped() async throws {
    let fails = Locked(false)
    let system = FailingSystem(disk) { call in
      guard call == .synchronize else { return nil }
      return fails.withLock { fails in
        defer { fails = false }
        return fails ? .error(EIO) : nil
      }
    }
    let store = try open(system)
    // Its opening syncs what it takes for left over.
    #expect(await store.settle())
    let damaged = Locked(0)
    store.observe { event in if event.kind == .damaged { damaged.withLock { $0 += 1 } } }
    try await store.put(.sample("a"), body: .noise(90_000))
    fails.withLock { $0 = true }
    await #expect(throws: ArchiveError.self) { try await store.flush() }
    disk.dropLostPages()
    await #expect(throws: ArchiveError.self) { try await store.flush() }
    #expect(damaged.withLock { $0 } == 1)
    try await store.flush()
    #expect(try await store.bodies("a").isEmpty)
    await store.close()
  }

  @Test("keeps the flushed part of a body that has grown, when another process's flush syncs the new row")
  func grown() async throws {
    let options = options(disk)
    let (store, other) = (try open(options), try open(options))
    let writer = try store.makeWriter(for: ArchiveKey("a"))
    let body = Data.noise(400_000)
    try await writer.append(body.prefix(150_000))
    try await writer.checkpoint(.sample("a"))
    try await store.flush()
    try await writer.append(body.dropFirst(150_000))
    try await writer.checkpoint(.sample("a"))
    try await other.flush()
    var chance = SplitMix(state: 5)
    for _ in 0..<20 {
      let again = try open(disk.afterLossOfPower(&chance))
      let found = try await again.bodies("a")
      #expect(found.count == 1 && found.allSatisfy { body.starts(with: $0) && $0.count >= 150_000 })
      await again.close()
    }
    await other.close()
    await store.close()
  }

  @Test("syncs the bodies that another process has stored with its own flush")
  func others() async throws {
    let options = options(disk)
    let (store, other) = (try open(options), try open(options))
    try await other.flush()
    try await store.put(.sample("a"), body: .noise(90_000))
    try await other.flush()
    var chance = SplitMix(state: 6)
    for _ in 0..<20 {
      let again = try open(disk.afterLossOfPower(&chance))
      #expect(try await again.bodies("a") == [.noise(90_000)])
      await again.close()
    }
    await other.close()
    await store.close()
  }
}

@Suite("Two stores on one directory, and one that is suspended", .timeLimit(.minutes(5)))
struct SharedDirectoryTests {
  let directory = TemporaryDirectory()

  @Test("an update of an entry that the other has removed does not bring it back", arguments: [true, false])
  func staleUpdate(isLookedUp: Bool) async throws {
    let (store, other) = (try directory.store(), try directory.store())
    try await store.put(.sample("a"), body: .noise(300))
    let entry = try #require(try await store.entries(for: ArchiveKey("a")).first)
    try await other.removeAll(.all)
    if isLookedUp { #expect(try await store.entries(for: ArchiveKey("a")).isEmpty) }
    let gate = DispatchSemaphore(value: 0)
    store.queue.async { gate.wait() }
    _ = try store.update(entry, head: [1, 2, 3], details: entry.details)
    for _ in 0..<2 { #expect(try await store.entries(for: ArchiveKey("a")).isEmpty) }
    gate.signal()
    try await store.flush()
    #expect(try await store.entries(for: ArchiveKey("a")).isEmpty)
    #expect(store.usage.count == 0)
    await other.close()
    await store.close()
  }

  @Test("an update that waits is found before the index has it")
  func waitingUpdate() async throws {
    let store = try directory.store()
    try await store.put(.sample("a"), body: .noise(300))
    await store.close()
    let again = try directory.store()
    let entry = try #require(try await again.list().first)
    let gate = DispatchSemaphore(value: 0)
    again.queue.async { gate.wait() }
    _ = try again.update(entry, head: [1, 2, 3], details: entry.details)
    for _ in 0..<2 { #expect(try await again.entries(for: ArchiveKey("a")).map(\.head) == [[1, 2, 3]]) }
    gate.signal()
    await again.close()
  }

  @Test("a copy of a body is not stored once the other has removed its entry", arguments: [true, false])
  func copied(isRemoved: Bool) async throws {
    let (store, other) = (try directory.store(), try directory.store())
    let body = Data.noise(50_000)
    let entry = try await store.put(.sample("a"), body: body)
    let writer = try store.makeWriter(for: entry.key, length: nil, since: store.moment)
    try await writer.append(body)
    if isRemoved {
      try await other.removeAll(.all)
      try await other.flush()
    }
    try await writer.append(.noise(10, seed: 2))
    let draft = EntryDraft.sample("a", replacing: [entry.id])
    if isRemoved {
      let error = await #expect(throws: ArchiveError.self) { try await writer.commit(draft) }
      #expect(error?.code == .notWritten)
    } else {
      try await writer.commit(draft)
    }
    for one in [store, other] { #expect(try await one.bodies("a").map(\.count) == (isRemoved ? [] : [50_010])) }
    await other.close()
    await store.close()
  }

  @Test("a removal that was accepted before a suspension has happened at the next opening")
  func suspended() async throws {
    let store = try directory.store()
    let entry = try await store.put(.sample("a"), body: .noise(300))
    let gate = DispatchSemaphore(value: 0)
    store.queue.async { gate.wait() }
    store.remove([entry.id])
    await suspend(store) { gate.signal() }
    let again = try directory.store()
    #expect(try await again.list().isEmpty)
    await again.close()
  }

  @Test("a suspension gives back the lock of a body that is being written")
  func suspendedWriter() async throws {
    let store = try directory.store()
    let writer = try store.makeWriter(for: ArchiveKey("a"))
    try await writer.append(.noise(200_000))
    #expect(directory.bodies.count == 1)
    await suspend(store)
    // Its opening removes bodies without a row that no writer has.
    let again = try directory.store()
    #expect(await again.settle())
    #expect(directory.bodies.isEmpty)
    await #expect(throws: ArchiveError.self) { try await writer.append(.noise(200_000)) }
    await again.close()
  }

  private func suspend(_ store: DiskStore, meanwhile: () -> Void = {}) async {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        store.leave(as: .lost)
        continuation.resume()
      }
      meanwhile()
    }
    #expect(!store.isOpen)
  }

  @Test(
    "without its log or the memory that its log is shared by, a store is lost and says so", arguments: ["-wal", "-shm"])
  func companions(suffix: String) async throws {
    let store = try directory.store()
    try await store.put(.sample("a"), body: .noise(300))
    try FileManager.default.removeItem(at: directory.url.appendingPathComponent("index.sqlite" + suffix))
    await #expect(throws: ArchiveError.self) { try await store.put(.sample("b"), body: .noise(300)) }
    await #expect(throws: ArchiveError.self) { try await store.flush() }
    #expect(!store.isOpen)
    await store.close()
    let again = try directory.store()
    try await again.put(.sample("c"), body: .noise(300))
    try await again.flush()
    #expect(try await again.bodies("c") == [.noise(300)])
    await again.close()
  }

  @Test(
    "without its folder of bodies, or with another one, a store is lost, and the next one stores large bodies",
    arguments: [true, false])
  func folder(isReplaced: Bool) async throws {
    let store = try directory.store()
    try await store.put(.sample("a"), body: .noise(300))
    let folder = directory.url.appendingPathComponent("bodies")
    if isReplaced {
      try FileManager.default.moveItem(at: folder, to: directory.url.appendingPathComponent(".old"))
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    } else {
      try FileManager.default.removeItem(at: folder)
    }
    #expect(store.isGone() && !store.isOpen)
    let again = try directory.store()
    try await again.put(.sample("b"), body: .noise(100_000))
    #expect(try await again.bodies("b") == [.noise(100_000)])
    #expect(try await again.bodies("a") == [.noise(300)])
    await again.close()
    await store.close()
  }

  @Test("a head that damage has left without its entry goes with the rest, and an entry without its head is dropped")
  func orphans() async throws {
    let store = try directory.store(.init(memory: 0, logger: .silent))
    for key in ["a", "b"] { try await store.put(.sample(key, head: "planted head \(key)"), body: .noise(300)) }
    try store.queue.sync {
      let writer = try #require(store.connections.writer)
      try writer.run("DELETE FROM entry WHERE id=(SELECT min(id) FROM entry)")
      try writer.run("DELETE FROM content WHERE id=(SELECT max(id) FROM entry)")
    }
    let damaged = Locked(0)
    store.observe { event in if event.kind == .damaged { damaged.withLock { $0 += 1 } } }
    #expect(try await store.list().isEmpty)
    #expect(damaged.withLock { $0 } == 1)
    try await store.removeAll(.all)
    try await store.flush()
    for file in directory.files {
      #expect(directory.contents(file).firstRange(of: Data("planted head".utf8)) == nil, "\(file)")
    }
    await store.close()
  }

  @Test(
    "a body is stored in another file if the other store removes its first one before that is locked",
    arguments: [false, true])
  func stray(isModel: Bool) async throws {
    let sweeping = Locked<DiskStore?>(nil)
    let opened = { @Sendable (name: String) in
      // The file of a body, which has no lock yet.
      guard UInt64(name, radix: 16) != nil, let other = sweeping.withLock({ $0.take() }) else { return }
      other.queue.sync { other.clearAway() }
    }
    var options = DiskStore.Options(memory: 0, logger: .silent)
    if isModel {
      options.disk = FailingSystem(ModelDisk(), opened: opened) { _ in nil }
    } else {
      options.system = FailingSystem(opened: opened) { _ in nil }
    }
    let place = isModel ? FaultSession.directory : directory.url
    let (store, other) = (try DiskStore(at: place, options: options), try DiskStore(at: place, options: options))
    // After the sweeps of the openings, which open bodies on these queues.
    for one in [store, other] { one.queue.sync {} }
    sweeping.withLock { $0 = other }
    try await store.put(.sample("a"), body: .noise(90_000))
    #expect(sweeping.withLock { $0 } == nil)
    await other.close()
    #expect(try await store.bodies("a") == [.noise(90_000)])
    await store.close()
  }

  @Test("an entry is not resumed if another store removes it meanwhile")
  func removedMeanwhile() async throws {
    let doomed = Locked<(store: DiskStore, entry: StoredEntry)?>(nil)
    let system = FailingSystem { call in
      // The row has been read, and the file of the body is about to be opened.
      if call == .open, let (other, entry) = doomed.withLock({ $0.take() }) {
        other.remove([entry.id])
        other.queue.sync {}
      }
      return nil
    }
    var options = DiskStore.Options(memory: 0, logger: .silent)
    let other = try DiskStore(at: directory.url, options: options)
    options.system = system
    let store = try DiskStore(at: directory.url, options: options)
    try await store.put(.sample("a"), body: .noise(90_000))
    let entry = try #require(try await store.entries(for: ArchiveKey("a")).first)
    doomed.withLock { $0 = (other, entry) }
    #expect(try await store.resumeWriting(entry, since: store.moment) == nil)
    #expect(doomed.withLock { $0 } == nil)
    await other.close()
    await store.close()
  }

  @Test("a reader that opens while a writer begins finds what is flushed, or is lost", arguments: 0..<30)
  func reader(call: Int) async throws {
    await (try directory.store()).close()
    let (reader, other) = opened(.init(memory: 0, isReadOnly: true, logger: .silent), at: call) {}
    if let other {
      try await other.put(.sample("a"), body: .noise(300))
      try await other.flush()
      let found = try? await reader?.bodies("a")
      #expect(found == [.noise(300)] || reader?.isOpen != true)
    }
    await reader?.close()
    await other?.close()
  }

  @Test(
    "an opening whose directory is moved meanwhile leaves the next archive there alone", arguments: 0..<40,
    [true, false])
  func moved(call: Int, isNew: Bool) async throws {
    if !isNew { await (try directory.store()).close() }
    let elsewhere = TemporaryDirectory()
    let (store, other) = opened(.init(memory: 0, logger: .silent), at: call) {
      try? FileManager.default.moveItem(at: directory.url, to: elsewhere.url)
    }
    if let other {
      let isStored = (try? await store?.put(.sample("a"), body: .noise(90_000))) != nil
      try await other.put(.sample("b"), body: .noise(90_000))
      try await other.flush()
      #expect(try await other.bodies("a") == (isStored ? [.noise(90_000)] : []))
      #expect(try await other.bodies("b") == [.noise(90_000)])
    }
    await store?.close()
    await other?.close()
  }

  /// Opens a store, and another one at a call of its opening; `nil` for one that did not open.
  private func opened(
    _ options: DiskStore.Options, at call: Int, _ before: @Sendable @escaping () -> Void
  ) -> (DiskStore?, other: DiskStore?) {
    let (left, other) = (Locked(call), Locked<DiskStore?>(nil))
    var options = options
    options.system = FailingSystem { [directory] _ in
      let isNow = left.withLock { left in
        left -= 1
        return left == -1
      }
      guard isNow else { return nil }
      before()
      if let store = try? directory.store() { other.withLock { $0 = store } }
      return nil
    }
    let store = try? DiskStore(at: directory.url, options: options)
    left.withLock { $0 = .max }
    return (store, other.withLock { $0 })
  }

  @Test("room on a full volume is made without the hits that wait")
  func hits() async throws {
    let store = try directory.store()
    for number in 0..<20 { try await store.put(.sample("\(number)"), body: .noise(300)) }
    for number in 0..<20 { #expect(try await store.entries(for: ArchiveKey("\(number)")).count == 1) }
    let waiting = store.state.withLock { $0.hits.count }
    store.makeRoomOnVolume(forFile: false)
    #expect(waiting == 20 && store.state.withLock { $0.hits.count } == waiting)
    #expect(store.usage.count < 20)
    await store.close()
  }
}
