import Foundation
import StoreFaults
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("A disk that fails for a while", .timeLimit(.minutes(5)))
struct TransientTests {
  let directory = TemporaryDirectory()

  @Test(
    "loses nothing that was flushed, gives out no wrong byte, and is written to again afterwards",
    arguments: [EIO, EMFILE, ENFILE, EACCES, ENOMEM, ENOSPC, EROFS, EINTR], [true, false])
  func outage(code: Int32, isOfCalls: Bool) async throws {
    let failing = Locked(false)
    let dice = Locked(Dice(UInt64(code)))
    let system = FailingSystem { call in
      // All of them, or one in three.
      guard failing.withLock({ $0 }), isOfCalls || dice.withLock({ $0.chance(33) }) else { return nil }
      // Interrupted for ever, it would be called for ever.
      return code == EINTR && isOfCalls ? .short : .error(code)
    }
    var options = DiskStore.Options(memory: 0, logger: .silent)
    options.disk = system
    let archive = ArchiveCache(.disk(at: directory.url, options: options), Planted.configure)
    let planted = (1...12).map { Planted(1, $0, 1) }
    for one in planted { try await one.store(in: archive) }
    try await archive.flush()
    func attempt(_ operation: () async throws -> Void) async throws {
      do { try await operation() } catch is ArchiveError {}
    }
    failing.withLock { $0 = true }
    for one in planted { try await attempt { _ = try await one.version(in: archive) } }
    for key in 20..<24 { try await attempt { try await Planted(1, key, 1).store(in: archive) } }
    try await attempt { try await archive.flush() }
    try await attempt { _ = try await archive.entries() }
    failing.withLock { $0 = false }
    // What was given up is said once.
    try await attempt { try await archive.flush() }
    for one in planted { #expect(try await one.version(in: archive) == 1) }
    let next = Planted(1, 30, 1)
    try await next.store(in: archive)
    try await archive.flush()
    #expect(try await next.version(in: archive) == 1)
    await archive.close()
    let again = ArchiveCache(at: directory.url, Planted.configure)
    for one in planted + [next] { #expect(try await one.version(in: again) == 1) }
    for key in 20..<24 { _ = try await Planted(1, key, 1).version(in: again) }
    await again.close()
  }
}
