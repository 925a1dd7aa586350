import Foundation
import StoreFaults
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("A read that fails proves nothing", .timeLimit(.minutes(5)))
struct TransientTests {
  let directory = TemporaryDirectory()

  /// Options whose calls fail while `faults` says so.
  private func options(_ faults: Locked<[FailingSystem.Call: Int32]>, memory: Int = 0) -> DiskStore.Options {
    var options = DiskStore.Options(memory: memory, logger: .silent)
    options.system = FailingSystem { call in faults.withLock { $0[call] }.map { .error($0) } }
    return options
  }

  @Test(
    "nor does the store forget an entry over it, in memory or for good",
    arguments: [EMFILE, ENFILE, EIO, EACCES, ENOMEM])
  func entries(code: Int32) async throws {
    let faults = Locked<[FailingSystem.Call: Int32]>([:])
    let store = try directory.store(options(faults))
    try store.put(.sample("small"), body: .noise(100))
    try await store.write(.sample("large"), .noise(500_000), by: 60_000)
    try await store.flush()
    let large = try #require(try await store.entries(for: ArchiveKey("large")).first)
    for call in [FailingSystem.Call.open, .read, .status] {
      faults.withLock { $0 = [call: code] }
      let error = await #expect(throws: ArchiveError.self) { try await store.entries(for: ArchiveKey("small")) }
      #expect(error?.code == .readFailed)
      if call != .status {
        let error = await #expect(throws: ArchiveError.self) { try await large.body().collect(upTo: 1 << 20) }
        #expect(error?.code == .readFailed)
      }
      faults.withLock { $0 = [:] }
      #expect(store.usage.count == 2)
    }
    let bodies = try await store.bodies("small") + store.bodies("large")
    #expect(bodies == [.noise(100), .noise(500_000)])
    await store.close()
  }

  @Test(
    "nor is an archive emptied because its log could not be read",
    arguments: [FailingSystem.Call.read, .open, .status, .names])
  func opening(call: FailingSystem.Call) async throws {
    let store = try directory.store()
    for number in 0..<100 { try store.put(.sample("\(number)"), body: .noise(10)) }
    await store.close()
    for number in 0..<20 {
      let calls = Locked(0)
      var options = DiskStore.Options(logger: .silent)
      options.system = FailingSystem { called in
        guard called == call else { return nil }
        return calls.withLock { calls in
          calls += 1
          return calls == number + 1 ? .error(EIO) : nil
        }
      }
      do {
        let store = try directory.store(options)
        #expect(store.usage.count == 100)
        await store.close()
      } catch {
        #expect((error as? ArchiveError)?.code == .directoryUnusable)
      }
    }
    let again = try directory.store()
    #expect(again.usage.count == 100)
    await again.close()
  }

  @Test(
    "nor does an offline load remove what it could not read: it fails, and the next one finds it",
    arguments: [100, 500_000])
  func offline(length: Int) async throws {
    let faults = Locked<[FailingSystem.Call: Int32]>([:])
    let origin = try await TestOrigin.start()
    let wall = Wall()
    let body = Data.noise(length)
    origin.reply(to: "/file") { _ in Reply(200, [("Cache-Control", "max-age=1000")], .whole(body)) }
    let archive = ArchiveCache(.disk(at: directory.url, options: options(faults))) { $0.now = { wall.now } }
    let site = Site(origin, archive, wall: wall)
    try await archive.waitUntilOpen()
    try await site.get("/file")
    try await archive.store.flush()
    #expect(try await archive.store.usage.count == 1)
    site.archive.mode = .offline
    for call in [FailingSystem.Call.open, .read] {
      faults.withLock { $0 = [call: EMFILE] }
      let error = await failure { try await site.get("/file") }
      #expect(cause(error)?.code == .readFailed)
      faults.withLock { $0 = [:] }
      #expect(try await archive.store.usage.count == 1)
      #expect(try await site.get("/file").body == body)
    }
    // With a network, it is asked instead.
    site.archive.mode = .online
    faults.withLock { $0 = [.open: EMFILE] }
    #expect(try await site.get("/file").body == body)
    faults.withLock { $0 = [:] }
    await site.end()
    await archive.close()
    await origin.stop()
  }
}
