import Foundation
import StoreFaults
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("Filters", .timeLimit(.minutes(5)))
struct FilterTests {
  let directory = TemporaryDirectory()

  @Test("A closed archive, and one whose directory is gone, says so instead of listing nothing")
  func closed() async throws {
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
      let unlisted = await #expect(throws: ArchiveError.self) { _ = try await store.list() }
      #expect(unlisted?.code == code)
    }
  }
}
