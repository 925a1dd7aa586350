import Foundation
import StoreFaults
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

#if Cryptography
  import Crypto
#endif

@Suite("What is said to be stored is stored", .heavy, .timeLimit(.minutes(10)))
struct WrittenTests {
  private let directory = TemporaryDirectory()

  @Test("a prefetch onto a full disk says how many are there, and which are not")
  func prefetch() async throws {
    let origin = try await TestOrigin.start()
    origin.reply(to: "/page") { _ in Reply(200, [("Cache-Control", "max-age=1000")], .whole(.noise(500))) }
    let room = Locked(200)
    var options = DiskStore.Options(logger: .silent)
    options.disk = FailingSystem { call in
      guard call == .write else { return nil }
      return room.withLock { room in
        room -= 1
        return room < 0 ? .error(ENOSPC) : nil
      }
    }
    let archive = ArchiveCache(.disk(at: directory.url, options: options))
    let registry = InterceptorRegistry { archive }
    let requests = (0..<60).map { URLRequest(url: origin.url("/page?\($0)")) }
    let result = try await archive.prefetch(requests, through: registry)
    // Old ones may have gone for new ones.
    let there = try await archive.usage.count
    #expect(there <= result.stored && result.stored < 60)
    #expect(result.failures.count == 60 - result.stored)
    registry.invalidate()
    await archive.close()
    await origin.stop()
  }

  @Test("a flush throws once after a head was given up, and then no more")
  func flush() async throws {
    let isFull = Locked(false)
    var options = DiskStore.Options(memory: 0, logger: .silent)
    options.disk = FailingSystem { call in call == .write && isFull.withLock { $0 } ? .error(ENOSPC) : nil }
    let store = try directory.store(options)
    let entry = try await store.put(.sample("old"), body: .noise(100))
    try await store.flush()
    isFull.withLock { $0 = true }
    try store.update(entry, head: [1], details: entry.details)
    await #expect(throws: ArchiveError.self) { try await store.put(.sample("new"), body: .noise(100)) }
    let error = await #expect(throws: ArchiveError.self) { try await store.flush() }
    #expect(error?.code == .notWritten)
    isFull.withLock { $0 = false }
    try await store.flush()
    await store.close()
  }

  @Test("an entry that could not be written leaves what it was to replace, though that was never flushed")
  func replacing() async throws {
    let isFull = Locked(false)
    var options = DiskStore.Options(
      limits: StoreLimits(bytes: 1 << 20, entryBytes: 1 << 20), memory: 0, logger: .silent)
    options.disk = FailingSystem { call in call == .write && isFull.withLock { $0 } ? .error(ENOSPC) : nil }
    let store = try directory.store(options)
    let old = try await store.write(.sample("a"), .noise(100), by: 100)
    isFull.withLock { $0 = true }
    await #expect(throws: ArchiveError.self) {
      try await store.put(.sample("a", replacing: [old.id]), body: .noise(100, seed: 2))
    }
    #expect(try await store.bodies("a") == [.noise(100)])
    // Nor does one that there is no room for.
    isFull.withLock { $0 = false }
    let kept = try #require(try await store.entries(for: ArchiveKey("a")).first)
    let error = await #expect(throws: ArchiveError.self) {
      try await store.put(.sample("a", replacing: [kept.id]), body: .noise((1 << 20) + 1))
    }
    #expect(error?.code == .storeFull || error?.code == .entryTooLarge)
    try await store.flush()
    #expect(try await store.bodies("a") == [.noise(100)])
    await store.close()
    let again = try directory.store()
    #expect(try await again.bodies("a") == [.noise(100)])
    await again.close()
  }

  @Test("a writer waits where an entry that is put is refused")
  func underLoad() async throws {
    let store = try directory.store(.init(limits: StoreLimits(bytes: 1 << 30), memory: 0, logger: .silent))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<6000 {
        group.addTask { try await store.write(.sample("\(number)"), .noise(500), by: 500) }
      }
      try await group.waitForAll()
    }
    #expect(store.usage.count == 6000)
    await store.close()
  }

  @Test("a large body that is found damaged while it is read goes, and the next load asks the origin")
  func damaged() async throws {
    let origin = try await TestOrigin.start()
    let body = Data.noise(700_000)
    origin.reply(to: "/file") { _ in Reply(200, [("Cache-Control", "max-age=1000")], .whole(body)) }
    let archive = ArchiveCache(.disk(at: directory.url, options: DiskStore.Options(memory: 0, logger: .silent)))
    let registry = InterceptorRegistry { archive }
    let request = URLRequest(url: origin.url("/file"))
    let (first, _) = try await registry.data(for: request)
    #expect(first == body)
    try await archive.flush()
    let path = try #require(directory.files.first { directory.contents($0).count == body.count })
    var bytes = directory.contents(path)
    bytes[600_000] ^= 1
    try directory.write(bytes, path)
    await #expect(throws: (any Error).self) { _ = try await registry.data(for: request) }
    let (again, _) = try await registry.data(for: request)
    #expect(again == body)
    #expect(origin.requests.count == 2)
    registry.invalidate()
    await archive.close()
    await origin.stop()
  }

  @Test("a part of a large body is read as such, and nothing else of it")
  func partOfLarge() async throws {
    let read = Locked(0)
    var options = DiskStore.Options(memory: 0, logger: .silent)
    options.system = Counting(read)
    let store = try directory.store(options)
    try await store.write(.sample("a"), .noise(8 << 20), by: 1 << 20)
    try await store.flush()
    let entry = try #require(try await store.entries(for: ArchiveKey("a")).first)
    read.withLock { $0 = 0 }
    let part = try await entry.body(in: 3_000_000..<3_500_000).collect(upTo: 1 << 20)
    #expect(part == Data.noise(8 << 20)[3_000_000..<3_500_000])
    #expect(read.withLock { $0 } < 1_000_000)
    // The head of a stream comes before its bytes.
    read.withLock { $0 = 0 }
    let whole = try await entry.body()
    #expect(read.withLock { $0 } == 0 && whole.length == 8 << 20)
    await store.close()
  }

  #if Cryptography
    @Test("an encrypted archive keeps no secret in clear that its digests could be made with")
    func digests() async throws {
      var options = DiskStore.Options(logger: .silent)
      options.encryptionKey = { StoreKind.key }
      let store = try directory.store(options)
      let digest = store.digest(Array("Bearer ada".utf8))
      try await store.put(.sample("a"), body: .noise(10))
      await store.close()
      // Any 32 bytes that lie in clear, taken for the key of the digests.
      var identity: [UInt8] = []
      let index = try Database(directory.url.appendingPathComponent("index.sqlite").path, .readOnly)
      try index.run("SELECT value FROM meta WHERE name='identity'") { identity = $0.bytes(0) }
      index.close()
      #expect(identity.count > 32)
      for start in 0...identity.count - 32 {
        let guess = SymmetricKey(data: identity[start..<start + 32])
        #expect(Array(HMAC<SHA256>.authenticationCode(for: Data("Bearer ada".utf8), using: guess)) != digest)
      }
      let again = try directory.store(options)
      #expect(again.digest(Array("Bearer ada".utf8)) == digest)
      await again.close()
    }
  #endif
}

/// Counts the bytes that are read.
private struct Counting: SystemCalls {
  private let system = PosixCalls()
  private let bytes: Locked<Int>

  init(_ bytes: Locked<Int>) { self.bytes = bytes }

  func open(_ name: String, in directory: Int32, flags: Int32, mode: UInt32) throws(SystemError) -> Int32 {
    try system.open(name, in: directory, flags: flags, mode: mode)
  }
  func close(_ file: Int32) { system.close(file) }
  func status(of file: Int32) throws(SystemError) -> FileStatus { try system.status(of: file) }
  func status(of name: String, in directory: Int32, followingLinks: Bool) throws(SystemError) -> FileStatus {
    try system.status(of: name, in: directory, followingLinks: followingLinks)
  }
  func read(_ file: Int32, into target: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SystemError) -> Int {
    let count = try system.read(file, into: target, at: offset)
    bytes.withLock { $0 += count }
    return count
  }
  func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError) -> Int {
    try system.write(file, bytes, at: offset)
  }
  func setMode(of file: Int32, to mode: UInt32) throws(SystemError) { try system.setMode(of: file, to: mode) }
  func synchronize(_ file: Int32, isDirectory: Bool) throws(SystemError) {
    try system.synchronize(file, isDirectory: isDirectory)
  }
  func synchronizeAll(_ file: Int32) throws(SystemError) { try system.synchronizeAll(file) }
  func lock(_ file: Int32) throws(SystemError) { try system.lock(file) }
  func unlock(_ file: Int32) { system.unlock(file) }
  func names(in directory: Int32) throws(SystemError) -> [String] { try system.names(in: directory) }
  func makeDirectory(_ name: String, in directory: Int32, mode: UInt32) throws(SystemError) {
    try system.makeDirectory(name, in: directory, mode: mode)
  }
  func remove(_ name: String, in directory: Int32) throws(SystemError) {
    try system.remove(name, in: directory)
  }
  func rename(_ name: String, to new: String, in directory: Int32) throws(SystemError) {
    try system.rename(name, to: new, in: directory)
  }
}
