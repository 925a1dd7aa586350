import Foundation
import HTTPTypes
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("Records kept in memory", .heavy, .timeLimit(.minutes(10)))
struct RecordCacheTests {
  private func entry(_ number: UInt64, padding: Int) throws -> StoredEntry {
    let policy = ArchivePolicy { _ in [UInt8](repeating: 0, count: 32) }
    let now = CacheTime(seconds: 1_800_000_000)
    let fields: HTTPFields = [
      .cacheControl: "max-age=10", HTTPField.Name("X-Padding")!: String(repeating: "x", count: padding),
    ]
    let response = ArchivePolicy.Response(status: 200, fields: fields, requestTime: now, responseTime: now)
    guard
      case .store(let record) = policy.storability(
        of: response, to: CacheRequest(method: "GET", url: URL(string: "http://a.test/")))
    else { throw URLError(.unknown) }
    return StoredEntry(
      id: EntryID(number: number, hash: 0), key: ArchiveKey("\(number)"), head: record.encoded(),
      details: EntryDetails(url: "http://a.test/", stored: now.date), storedBytes: 0, contents: MemoryBody(data: Data())
    )
  }

  @Test("they are bounded by their bytes, and not by their number alone")
  func bytes() throws {
    let cache = RecordCache(generation: 1024, bytes: 1 << 20)
    for number in 0..<1000 {
      #expect(cache.record(of: try entry(UInt64(number), padding: 20_000))?.status == 200)
      #expect(cache.bytes <= 2 << 20)
    }
    #expect(cache.bytes > 0)
    // One head that is larger than all the room is read, and not kept.
    #expect(cache.record(of: try entry(5000, padding: 2_000_000))?.status == 200)
    #expect(cache.bytes <= 2 << 20)
  }

  @Test("one entry with many heads takes the room of one")
  func replaced() throws {
    let cache = RecordCache(generation: 1024, bytes: 1 << 20)
    for padding in 0..<1000 { _ = cache.record(of: try entry(1, padding: 1000 + padding % 7)) }
    #expect(cache.bytes < 8000)
  }
}
