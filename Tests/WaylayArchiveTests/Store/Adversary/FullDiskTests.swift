#if os(Linux)
  import Foundation
  import StoreFaults
  import TestSupport
  import Testing
  import WaylayCore

  @testable import WaylayArchive

  /// A volume of its own in memory, with limits; gone with its owner.
  private final class Volume {
    let url: URL

    static let isPossible = geteuid() == 0 && access("/bin/mount", X_OK) == 0 && canMount

    private static let canMount: Bool = {
      guard let volume = try? Volume("size=64k") else { return false }
      return FileManager.default.fileExists(atPath: volume.url.path)
    }()

    init(_ options: String) throws {
      url = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-volume-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
      guard mount("tmpfs", url.path, "tmpfs", 0, options) == 0 else { throw SystemError("mount") }
    }

    deinit {
      umount2(url.path, Int32(MNT_DETACH))
      rmdir(url.path)
    }

    /// Fills it with a file, to its last block.
    func fill() throws {
      let file = open(url.appendingPathComponent("filler").path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
      guard file >= 0 else { throw SystemError("open") }
      defer { close(file) }
      for size in [65_536, 4096, 512, 1] {
        let bytes = [UInt8](repeating: 1, count: size)
        while write(file, bytes, size) > 0 {}
      }
    }
  }

  /// The sizes of a volume, in KiB.
  private let steps =
    Sizes.isWhole
    ? [64, 80, 96, 112, 128, 144, 160, 192, 224, 256, 320, 384, 448, 512, 640, 768, 1024, 1536, 2048, 3072, 4096, 6144]
    : [64, 160, 448, 1024, 3072]

  @Suite(
    "A disk without room", .serialized, .timeLimit(.minutes(20)),
    .enabled(if: Volume.isPossible, "volumes are mounted by root alone"))
  struct FullDiskTests {
    /// Stores until there is no room, and much more; the volume has to take it, by and by, or to refuse it with a reason.
    private func overfill(_ archive: ArchiveCache, _ count: Int) async throws -> Int {
      var stored = 0
      for key in 0..<count {
        do {
          try await Planted(0, key, 1).store(in: archive)
          try await archive.flush()
          stored += 1
        } catch let error as ArchiveError {
          #expect([.notWritten, .storeFull].contains(error.code), "\(error)")
        }
      }
      return stored
    }

    private func check(_ archive: ArchiveCache, _ count: Int) async throws -> Int {
      var found = 0
      for key in 0..<count {
        do {
          if try await Planted(0, key, 0).version(in: archive) != nil { found += 1 }
        } catch let error as ArchiveError {
          #expect(error.code == .readFailed, "\(error)")
        }
      }
      return found
    }

    @Test(
      "of any size evicts old responses for new ones, loses no byte, and has room again after a removal", .heavy,
      arguments: steps)
    func sized(kibibytes: Int) async throws {
      let volume = try Volume("size=\(kibibytes)k")
      let archive = ArchiveCache(at: volume.url.appendingPathComponent("archive"), Planted.configure)
      do {
        try await archive.waitUntilOpen()
      } catch let error as ArchiveError {
        #expect(kibibytes < 448 && error.code == .directoryUnusable, "\(error)")
        return await archive.close()
      }
      let (count, isRoomy) = (kibibytes / 4, kibibytes >= 1024)
      let stored = try await overfill(archive, count)
      #expect(try await check(archive, count) <= stored)
      if isRoomy {
        // The last ones are there, not the first.
        var last = 0
        for key in count - 20..<count where try await Planted(0, key, 0).version(in: archive) != nil { last += 1 }
        #expect(last > 0, "\(stored) stored")
      }
      // Without a single byte left, removing has to work, where there is room for a reserve.
      try volume.fill()
      do {
        try await archive.removeAll()
        try await archive.flush()
      } catch let error as ArchiveError {
        #expect(!isRoomy, "\(error)")
      }
      try FileManager.default.removeItem(at: volume.url.appendingPathComponent("filler"))
      do {
        try await archive.removeAll()
        try await archive.flush()
      } catch let error as ArchiveError {
        // The archive itself fills a volume without room for a reserve.
        #expect(kibibytes < 448 && error.code == .notWritten, "\(error)")
        return await archive.close()
      }
      let remains = Planted.remains(in: volume.url.appendingPathComponent("archive"))
      #expect(remains.urls.isEmpty && remains.fields.isEmpty && remains.bodies.isEmpty)
      #expect(try await archive.usage.count == 0)
      let next = Planted(0, 1, 7)
      if isRoomy {
        try await next.store(in: archive)
        try await archive.flush()
        #expect(try await next.version(in: archive) == 7)
      }
      await archive.close()
      let again = ArchiveCache(at: volume.url.appendingPathComponent("archive"), Planted.configure)
      #expect(try await check(again, count) == (isRoomy ? 1 : 0))
      await again.close()
    }

    @Test("with few inodes does the same", .heavy, arguments: [6, 8, 12, 20, 40])
    func inodes(count: Int) async throws {
      let volume = try Volume("size=16m,nr_inodes=\(count)")
      let archive = ArchiveCache(at: volume.url.appendingPathComponent("archive"), Planted.configure)
      do {
        try await archive.waitUntilOpen()
      } catch let error as ArchiveError {
        #expect(count < 12 && error.code == .directoryUnusable, "\(error)")
        return await archive.close()
      }
      _ = try await overfill(archive, 200)
      #expect(try await check(archive, 200) > 0)
      try await archive.removeAll()
      try await archive.flush()
      #expect(try await archive.usage.count == 0)
      await archive.close()
    }

    @Test("without an inode, large responses do not evict small ones, which have none")
    func smallOnes() async throws {
      let volume = try Volume("size=16m,nr_inodes=12")
      let store = try DiskStore(at: volume.url.appendingPathComponent("archive"), options: .init(logger: .silent))
      for key in 0..<100 { try await store.put(.sample("small\(key)"), body: .noise(300)) }
      for key in 0..<30 {
        do { try await store.put(.sample("large\(key)"), body: .noise(100_000)) } catch let error as ArchiveError {
          #expect(error.code == .notWritten, "\(error)")
        }
      }
      let entries = try await store.list()
      #expect(entries.filter { $0.bodyLength == 300 }.count == 100)
      #expect(entries.contains { $0.bodyLength == 100_000 })
      await store.close()
    }
  }
#endif
