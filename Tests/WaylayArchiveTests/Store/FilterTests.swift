import Foundation
import StoreFaults
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("Filters and files", .timeLimit(.minutes(5)))
struct FilterTests {
  let directory = TemporaryDirectory()

  @Test("a closed archive, and one whose directory is gone, says so instead of listing or exporting nothing")
  func closed() async throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-\(UUID().uuidString).export")
    for isLost in [false, true] {
      let directory = TemporaryDirectory()
      let store = try directory.store()
      try await store.put(.sample("a"), body: .noise(10))
      try await store.flush()
      if isLost {
        try FileManager.default.removeItem(at: directory.url)
        await #expect(throws: (any Error).self) { try await store.flush() }
      } else {
        await store.close()
      }
      let code: ArchiveError.Code = isLost ? .directoryUnusable : .closed
      let unexported = await #expect(throws: ArchiveError.self) { try await store.export(to: file) }
      #expect(unexported?.code == code)
      let unlisted = await #expect(throws: ArchiveError.self) { _ = try await store.list() }
      #expect(unlisted?.code == code)
      #expect(!FileManager.default.fileExists(atPath: file.path))
    }
  }

  @Test("an export leaves a user's file beside it alone, and a restore does not go into an archive with entries")
  func beside() async throws {
    let folder = TemporaryDirectory()
    try folder.write(Data("mine".utf8), "archive.export.new")
    let file = folder.url.appendingPathComponent("archive.export")
    let store = try directory.store()
    try await store.put(.sample("a"), body: .noise(10))
    #expect(try await store.export(to: file) == 1)
    #expect(folder.files == ["archive.export", "archive.export.new"])
    #expect(folder.contents("archive.export.new") == Data("mine".utf8))
    await store.close()
    let target = TemporaryDirectory()
    let restored = try await ArchiveCache.restore(from: file, to: .disk(at: target.url))
    #expect(try await restored.usage.count == 1)
    // The same archive, and yet somebody's entries are in it by now.
    let error = await #expect(throws: ArchiveError.self) {
      _ = try await ArchiveCache.restore(from: file, to: .disk(at: target.url))
    }
    #expect(error?.code == .directoryUnusable)
    #expect(try await restored.usage.count == 1)
    await restored.close()
  }
}
