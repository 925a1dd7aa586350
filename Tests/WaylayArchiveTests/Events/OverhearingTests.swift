import Foundation
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("What an archive without a logger says", .timeLimit(.minutes(5)))
struct OverhearingTests {
  @Test("is searched for planted secrets too")
  func archive() async throws {
    let path = "/\(UUID().uuidString)"
    let count = try await Recording.count(of: path) {
      let archive = ArchiveCache()
      let script = ScriptedNext()
      script.answers("a", [.cacheControl: "max-age=100"])
      for _ in 0..<2 { _ = try await archive.load("http://example.com\(path)", script) }
      await archive.close()
    }
    #expect(count >= 2)
  }
}
