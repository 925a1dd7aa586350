import Foundation
import StoreFaults
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("What else costs no archive", .timeLimit(.minutes(2)))
struct MarkTests {
  let directory = TemporaryDirectory()

  @Test("a damaged beginning of its log, both copies of it")
  func log() async throws {
    let store = try directory.store()
    for number in 0..<10 { try store.put(.sample("\(number)"), body: .noise(100)) }
    await store.close()
    let log = try #require(directory.files.first { $0.hasPrefix("log/") })
    var bytes = directory.contents(log)
    for position in 0..<90 { bytes[position] = 0xFF }
    try directory.write(bytes, log)
    let again = try directory.store()
    #expect(again.usage.count == 10)
    let bodies = try await again.bodies("7")
    #expect(bodies == [.noise(100)])
    try again.put(.sample("new"), body: .noise(10))
    await again.close()
    let last = try directory.store()
    #expect(last.usage.count == 11)
    await last.close()
  }

  #if Cryptography
    @Test("a damaged export that it is restored from: nothing is left in the directory")
    func restored() async throws {
      let store = MemoryStore()
      for number in 0..<5 { try store.put(.sample("\(number)"), body: .noise(1000)) }
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-\(UUID().uuidString).export")
      defer { try? FileManager.default.removeItem(at: file) }
      try await store.export(to: file)
      var bytes = try Data(contentsOf: file)
      bytes[bytes.count - 100] ^= 1
      try bytes.write(to: file)
      let error = await #expect(throws: ArchiveError.self) {
        _ = try await ArchiveCache.restore(from: file, to: .disk(at: directory.url))
      }
      #expect(error?.code == .unreadable)
      #expect(!FileManager.default.fileExists(atPath: directory.url.path))
    }
  #endif

  @Test("another one that makes an archive of the same new directory at the same time")
  func made() async throws {
    for _ in 0..<20 {
      let place = TemporaryDirectory()
      let isLocked = Barrier()
      var options = DiskStore.Options(logger: .silent)
      options.system = FailingSystem { call in
        if call == .rename { isLocked.pass() }
        return nil
      }
      isLocked.close()
      // Opening waits on the caller's thread: not on one of the few of tasks.
      let settings = options
      async let first = withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try place.store(settings) }) }
      }
      await isLocked.reached()
      async let second = place.store(.init(whenLocked: .readOnly, logger: .silent))
      isLocked.open()
      let stores = try await (first, second)
      #expect(stores.1.isReadOnly)
      await stores.1.close()
      await stores.0.close()
    }
  }
}
