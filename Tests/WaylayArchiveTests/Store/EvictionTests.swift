import Foundation
import TestSupport
import Testing

@testable import WaylayArchive

@Suite("Eviction", .timeLimit(.minutes(10)))
struct EvictionTests {
  @Test("keeps what is read often: on a Zipf trace at least as many hits as LRU", .heavy, arguments: [0.7, 0.9, 1.1])
  func zipf(exponent: Double) async throws {
    let trace = ZipfTrace(keys: 10_000, exponent: exponent).keys(60_000)
    let capacity = 500
    var reference = LeastRecentlyUsed(capacity: capacity)
    let referenceHits = trace.count { reference.access($0) }
    let store = MemoryStore(limits: StoreLimits(bytes: 1 << 30, count: capacity, evictionTarget: 1))
    var hits = 0
    for number in trace {
      let key = ArchiveKey("\(number)")
      if store.cached(key)?.isEmpty == false {
        hits += 1
      } else {
        try await store.put(.sample("\(number)"), body: Data())
      }
    }
    let (ratio, least) = (Double(hits) / Double(trace.count), Double(referenceHits) / Double(trace.count))
    #expect(ratio >= least)
  }
}
