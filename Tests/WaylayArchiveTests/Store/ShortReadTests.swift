import Crypto
import Foundation
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("Reads of a few stored bytes", .heavy, .timeLimit(.minutes(10)))
struct ShortReadTests {
  let directory = TemporaryDirectory()

  /// Up to 14 bytes, `Data` keeps to itself: what it was given the memory of may be gone at once.
  static let lengths = (1...4).flatMap { chunks in (0...20).map { chunks * 65_536 + $0 } }

  @Test(
    "give the bytes that were stored, and no others",
    arguments: [StoreKind.disk, .compressed] + StoreKind.encryptedKinds.prefix(1))
  func everyLength(kind: StoreKind) async throws {
    var store = try kind.make(directory, memory: 0)
    for length in Self.lengths {
      try await store.write(.sample("\(length)"), .noise(length, seed: UInt64(length)), by: 100_000)
    }
    await store.close()
    store = try kind.make(directory, memory: 0)
    for length in Self.lengths {
      let body = Data.noise(length, seed: UInt64(length))
      let entry = try #require(try await store.entries(for: ArchiveKey("\(length)")).first)
      let whole = try await entry.body().collect(upTo: 1 << 20)
      #expect(whole == body)
      for count in Sizes.isWhole ? Array(1...20) : [1, 2, 8, 15, 16, 17, 20] {
        let range = Int64(length - count)..<Int64(length)
        let tail = try await entry.body(in: range).collect(upTo: 1 << 20)
        #expect(tail == body.suffix(count), "the last \(count) of \(length)")
      }
    }
    await store.close()
  }

  @Test("are right where a writer goes on at the end of a chunk, and is read meanwhile")
  func joined() async throws {
    let store = try directory.store(.init(memory: 0, logger: .silent))
    for extra in 0...20 {
      let body = Data.noise(3 * 65_536 + extra, seed: UInt64(extra))
      let draft = EntryDraft.sample("\(extra)")
      let writer = try store.makeWriter(for: draft.key)
      try await writer.append(Data(body.prefix(65_536 + extra)))
      let stored = try await writer.checkpoint(draft)
      let tail = try await writer.read(at: 65_536, upTo: 20)
      #expect(tail == body[65_536..<65_536 + extra])
      writer.abort()
      let known = try await store.entries(for: draft.key).first
      #expect(known?.id == stored.id)
    }
    try await store.flush()
    for extra in 0...20 {
      let body = Data.noise(3 * 65_536 + extra, seed: UInt64(extra))
      let draft = EntryDraft.sample("\(extra)")
      let entry = try #require(try await store.entries(for: draft.key).first)
      var writer: (any EntryWriter)?
      while writer == nil, !Task.isCancelled { writer = try await store.resumeWriting(entry) }
      try await writer?.append(Data(body.dropFirst(65_536 + extra)))
      _ = try await writer?.commit(draft)
      let bodies = try await store.bodies("\(extra)")
      #expect(bodies == [body])
    }
    await store.close()
  }
}
