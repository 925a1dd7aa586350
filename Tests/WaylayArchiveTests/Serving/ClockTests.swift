import Foundation
import HTTPTypes
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("A clock that is set back", .timeLimit(.minutes(5)))
struct ClockTests {
  private func run(
    _ directory: URL, _ now: @escaping @Sendable () -> CacheTime,
    _ body: (ArchiveCache, ScriptedNext) async throws -> Void
  ) async throws {
    let archive = ArchiveCache(at: directory) { $0.now = now }
    try await archive.waitUntilOpen()
    try await body(archive, ScriptedNext())
    await archive.close()
  }

  @Test("what another process stored at a time that is still to come is validated, and what it says then holds")
  func future() async throws {
    let wall = Wall()
    try await withDirectory { directory in
      try await run(directory, { wall.now }) { (archive: ArchiveCache, script: ScriptedNext) async throws in
        script.answers("stored ahead of time", [.cacheControl: "max-age=100", .eTag: "\"1\""])
        _ = try await archive.load(script)
      }
      wall.advance(by: -365 * 86_400)
      try await run(directory, { wall.now }) { (archive: ArchiveCache, script: ScriptedNext) async throws in
        let asked = ScriptedNext()
        asked.answers("", status: .notModified, [.eTag: "\"1\""])
        #expect(try await archive.load(asked).text == "stored ahead of time")
        #expect(asked.asked.count == 1)
        #expect(asked.asked.first?.fields[.ifNoneMatch] == "\"1\"")
        // Now it has a place in time.
        #expect(try await archive.load(asked).response.source == .archive)
        #expect(asked.asked.count == 1)
        wall.advance(by: 101)
        _ = try await archive.load(asked)
        #expect(asked.asked.count == 2)
      }
    }
  }

  @Test("it is still given, as stale, where there is no network")
  func offline() async throws {
    let wall = Wall()
    try await withDirectory { directory in
      try await run(directory, { wall.now }) { (archive: ArchiveCache, script: ScriptedNext) async throws in
        script.answers("a", [.cacheControl: "max-age=100"])
        _ = try await archive.load(script)
      }
      wall.advance(by: -86_400)
      try await run(directory, { wall.now }) { (archive: ArchiveCache, script: ScriptedNext) async throws in
        script.answers { _ in throw TransportError(.notConnectedToInternet, message: "no network") }
        #expect(try await archive.load(script).response.source == .staleArchive)
        archive.mode = .offline
        #expect(try await archive.load(script).response.source == .staleArchive)
      }
    }
  }

  @Test("what this process stored grows old by a clock that nobody sets")
  func steady() async throws {
    let wall = Wall()
    let steady = Locked<Int64>(0)
    let archive = ArchiveCache {
      $0.now = { CacheTime(milliseconds: wall.now.milliseconds, steady: steady.withLock { $0 }) }
    }
    let script = ScriptedNext()
    script.answers("a", [.cacheControl: "max-age=100"])
    _ = try await archive.load(script)
    wall.advance(by: -365 * 86_400)
    steady.withLock { $0 += 50_000 }
    script.answers("b")
    let fresh = try await archive.load(script)
    #expect(fresh.text == "a" && fresh.response.fields[HTTPField.Name("Age")!] == "50")
    steady.withLock { $0 += 51_000 }
    #expect(try await archive.load(script).text == "b")
  }
}
