import Foundation
import TestSupport
import Testing

@testable import WaylayArchive

@Suite("Eviction", .timeLimit(.minutes(10)))
struct EvictionTests {
  @Test("keeps what is read often: on a Zipf trace at least as many hits as LRU", .heavy, arguments: [0.7, 0.9, 1.1])
  func zipf(exponent: Double) throws {
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
        try store.put(.sample("\(number)"), body: Data())
      }
    }
    let (ratio, least) = (Double(hits) / Double(trace.count), Double(referenceHits) / Double(trace.count))
    #expect(ratio >= least)
  }

  @Test("the index finds, forgets and evicts as a dictionary and a list would, whatever the order")
  func model() {
    var index = EntryIndex<Int>()
    var model: [Int: (handle: EntryIndex<Int>.Handle, hash: UInt64)] = [:]
    var state: UInt64 = 42
    func roll(_ sides: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % sides
    }
    for number in 0..<4_000 {
      switch roll(5) {
      case 0, 1, 2:
        // Few hashes, so that they collide and wrap round the table.
        let hash = UInt64(bitPattern: Int64(roll(200) - 100))
        model[number] = (index.insert(number, hash: hash, isPinned: roll(10) == 0), hash)
      case 3:
        guard let victim = model.keys.sorted().dropFirst(roll(max(model.count, 1))).first,
          let entry = model.removeValue(forKey: victim)
        else { continue }
        #expect(index.remove(entry.handle) == victim)
      default:
        guard let handle = index.victim() else { continue }
        #expect(!index.isPinned(handle))
        model[index.remove(handle)] = nil
      }
      if number % 500 == 0 {
        #expect(index.count == model.count)
        #expect(index.handles.map { index[$0] } == model.keys.sorted())
        for (number, entry) in model {
          #expect(index.first(entry.hash) { $0 == number } == entry.handle)
          #expect(
            index.handles(entry.hash).map { index[$0] } == model.filter { $0.value.hash == entry.hash }.keys.sorted())
        }
      }
    }
  }
}
