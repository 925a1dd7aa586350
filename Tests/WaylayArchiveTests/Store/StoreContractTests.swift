import Crypto
import Foundation
import StoreFaults
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

/// The kinds of store that all keep one contract.
enum StoreKind: String, CaseIterable, Sendable {
  case memory, disk, compressed

  /// Those that go on with a body in its place.
  static let resuming = allCases.filter { $0 != .memory }

  #if Cryptography
    case encrypted, encryptedAndCompressed

    static let key = SymmetricKey(data: Array(repeating: 7, count: 32))
    static let encryptedKinds = [StoreKind.encrypted, .encryptedAndCompressed]
  #else
    static let encryptedKinds: [StoreKind] = []
  #endif

  func make(
    _ directory: TemporaryDirectory, limits: StoreLimits = StoreLimits(), memory: Int = 8 << 20
  ) throws -> any ArchiveStore {
    var options = DiskStore.Options(limits: limits, memory: memory, logger: .silent)
    switch self {
    case .memory: return MemoryStore(limits: limits)
    case .disk: break
    case .compressed: options.compressesText = true
    #if Cryptography
      case .encrypted: options.encryptionKey = { Self.key }
      case .encryptedAndCompressed:
        options.encryptionKey = { Self.key }
        options.compressesText = true
    #endif
    }
    return try directory.store(options)
  }
}

@Suite("A store of any kind", .heavy, .timeLimit(.minutes(10)))
struct StoreContractTests {
  let directory = TemporaryDirectory()

  @Test(
    "gives back what was put, at once and later, and surely nothing under another key", arguments: StoreKind.allCases)
  func roundTrip(kind: StoreKind) async throws {
    let store = try kind.make(directory)
    #expect(try await store.entries(for: ArchiveKey("a")).isEmpty)
    let entry = try await store.put(
      .sample("a", tags: ["x", "y"], mediaType: "text/plain"), body: Data("hello hello hello".utf8))
    #expect(store.cached(ArchiveKey("a"))?.map(\.id) == [entry.id])
    try await store.flush()
    let found = try await store.entries(for: ArchiveKey("a"))
    #expect(found.map(\.head) == [Array("head of a".utf8)])
    #expect(found.first?.details == EntryDraft.sample("a", tags: ["x", "y"], mediaType: "text/plain").details)
    let bodies = try await store.bodies("a")
    #expect(bodies == [Data("hello hello hello".utf8)])
    for other in [ArchiveKey("b"), ArchiveKey("a", partition: "alice")] {
      #expect(try await store.entries(for: other).isEmpty)
      #expect(store.cached(other)?.isEmpty == true)
    }
    #expect(store.usage.count == 1)
    await store.close()
  }

  @Test("keeps bodies of every size, whole and in pieces", arguments: StoreKind.allCases)
  func sizes(kind: StoreKind) async throws {
    let store = try kind.make(directory, memory: 0)
    let text = Data(String(repeating: "all work and no play ", count: 20_000).utf8)
    for size in [0, 1, 100, 65_535, 65_536, 65_537, 200_000, 400_000] {
      for (name, source) in [("noise", Data.noise(size)), ("text", text.prefix(size))] {
        let body = Data(source)
        try await store.put(.sample("put \(name) \(size)", mediaType: "text/html"), body: body)
        try await store.write(.sample("written \(name) \(size)"), body, by: 30_000)
      }
    }
    try await store.flush()
    for size in [0, 1, 100, 65_535, 65_536, 65_537, 200_000, 400_000] {
      for (name, body) in [("noise", Data.noise(size)), ("text", Data(text.prefix(size)))] {
        for key in ["put \(name) \(size)", "written \(name) \(size)"] {
          let bodies = try await store.bodies(key)
          #expect(bodies == [body], "\(key)")
        }
      }
    }
    let entry = try #require(try await store.entries(for: ArchiveKey("written noise 400000")).first)
    #expect(entry.bodyLength == 400_000)
    for range in [0..<1, 65_530..<65_540, 131_072..<399_999, 399_999..<400_000, 7..<7] as [Range<Int64>] {
      let part = try await entry.body(in: range).collect(upTo: 1 << 20)
      #expect(part == Data.noise(400_000)[Int(range.lowerBound)..<Int(range.upperBound)])
      let streamed = try await entry.body(in: range).collect(upTo: 1 << 20)
      #expect(streamed == part)
    }
    let beyond = await #expect(throws: ArchiveError.self) { _ = try await entry.body(in: 0..<400_001) }
    #expect(beyond?.code == .unreadable)
    await store.close()
  }

  @Test(
    "keeps several entries of a key, oldest first, and replaces the one it is told to", arguments: StoreKind.allCases)
  func variants(kind: StoreKind) async throws {
    let store = try kind.make(directory)
    let first = try await store.put(.sample("a", head: "one"), body: Data("1".utf8))
    try await store.put(.sample("a", head: "two"), body: Data("2".utf8))
    var bodies = try await store.bodies("a")
    #expect(bodies == [Data("1".utf8), Data("2".utf8)])
    try await store.put(.sample("a", head: "three", replacing: [first.id]), body: Data("3".utf8))
    bodies = try await store.bodies("a")
    #expect(bodies == [Data("2".utf8), Data("3".utf8)])
    try await store.flush()
    #expect(store.usage.count == 2)
    await store.close()
  }

  @Test("gives an entry another head, at once and for good, and leaves the body", arguments: StoreKind.allCases)
  func update(kind: StoreKind) async throws {
    let store = try kind.make(directory, memory: 0)
    for size in [100, 300_000] {
      let key = ArchiveKey("\(size)")
      var entry = try await store.put(.sample("\(size)"), body: .noise(size))
      for round in 1...3 {
        var details = entry.details
        details.stored += 60
        details.isPinned = round == 3
        let updated = try store.update(entry, head: Array("head \(round)".utf8), details: details)
        #expect(updated?.head == Array("head \(round)".utf8))
        let seen = try await store.entries(for: key)
        #expect(seen.map(\.head) == [Array("head \(round)".utf8)])
        if round == 2 { try await store.flush() }
        entry = try #require(updated)
      }
      try await store.flush()
      let seen = try await store.entries(for: key)
      #expect(seen.map(\.head) == [Array("head 3".utf8)])
      #expect(seen.first?.details.stored == Date(timeIntervalSince1970: 1_800_000_180))
      #expect(seen.first?.details.isPinned == true)
      let bodies = try await store.bodies("\(size)")
      #expect(bodies == [.noise(size)])
      store.remove([entry.id])
      let gone = try store.update(entry, head: [], details: entry.details)
      #expect(gone == nil)
    }
    await store.close()
  }

  @Test("lists and removes by key, host, prefix, tag, partition, date and closure", arguments: StoreKind.allCases)
  func filters(kind: StoreKind) async throws {
    let store = try kind.make(directory, memory: 1000)
    for number in 0..<20 {
      try await store.put(
        .sample(
          "news/\(number)", partition: number % 2 == 0 ? "alice" : .shared,
          host: number < 10 ? "a.example" : "b.example",
          tags: number % 3 == 0 ? ["third"] : [], stored: TimeInterval(number)),
        body: .noise(10))
    }
    func count(_ filter: EntryFilter) async throws -> Int { try await store.list(filter).count }
    let all = try await store.list()
    #expect(all.map(\.details.stored.timeIntervalSince1970) == (0..<20).map(Double.init))
    let counts = [
      try await count(.host("A.example")), try await count(.prefix("https://b.example/news/1")),
      try await count(.tag("third")),
      try await count(.partition("alice")), try await count(.stored(before: Date(timeIntervalSince1970: 5))),
      try await count(.entries { $0.bodyLength == 10 }), try await count(.tag("third").and(.partition("alice"))),
      try await count(.key(ArchiveKey("news/1"))), try await count(.key(ArchiveKey("news/2"))),
    ]
    #expect(counts == [10, 10, 7, 10, 5, 20, 4, 1, 0])
    let removed = try await store.removeAll(.tag("third"))
    #expect(removed == 7)
    let inPartition = try await store.removeAll(.partition("alice"))
    #expect(inPartition == 6)
    #expect(store.usage.count == 7)
    let rest = try await store.removeAll(.all)
    #expect(rest == 7)
    #expect(store.usage == StoreUsage())
    await store.close()
  }

  @Test("never holds more than its limits, and says what it evicts", arguments: StoreKind.allCases)
  func limits(kind: StoreKind) async throws {
    let limits = StoreLimits(bytes: 200_000, count: 40, entryBytes: 50_000)
    let store = try kind.make(directory, limits: limits, memory: 20_000)
    let evicted = Locked<[String]>([])
    store.observe { event in
      if event.kind == .evicted { evicted.withLock { $0.append(event.url ?? "?") } }
    }
    for number in 0..<200 {
      try await store.put(.sample("\(number)"), body: .noise(number * 37 % 9000))
      #expect(store.usage.bytes <= 200_000)
      #expect(store.usage.count <= 40)
    }
    try await store.flush()
    let left = try await store.list().map(\.details.url)
    #expect(left.contains("https://example.com/199"))
    #expect(Set(left).union(evicted.withLock { $0 }).count == 200)
    let tooLarge = await #expect(throws: ArchiveError.self) {
      try await store.put(.sample("large"), body: .noise(60_000))
    }
    #expect(tooLarge?.code == .entryTooLarge)
    let streamed = await #expect(throws: ArchiveError.self) {
      try await store.write(.sample("large"), .noise(60_000), by: 1000)
    }
    #expect(streamed?.code == .entryTooLarge)
    try await store.flush()
    let total = try await store.list().reduce(0) { $0 + $1.storedBytes }
    #expect(store.usage.bytes == total)
    await store.close()
  }

  @Test("does not evict what is pinned, and refuses rather than do so", arguments: StoreKind.allCases)
  func pinning(kind: StoreKind) async throws {
    let store = try kind.make(directory, limits: StoreLimits(bytes: 100_000, count: 10, entryBytes: 100_000))
    for number in 0..<5 { try await store.put(.sample("pinned \(number)", isPinned: true), body: .noise(100)) }
    for number in 0..<50 { try await store.put(.sample("\(number)"), body: .noise(100)) }
    try await store.flush()
    for number in 0..<5 {
      let bodies = try await store.bodies("pinned \(number)")
      #expect(bodies.count == 1)
    }
    for number in 5..<10 { try await store.put(.sample("pinned \(number)", isPinned: true), body: .noise(100)) }
    let error = await #expect(throws: ArchiveError.self) { try await store.put(.sample("one more"), body: .noise(100)) }
    #expect(error?.code == .storeFull)
    // What is refused replaces nothing.
    let kept = try #require(try await store.entries(for: ArchiveKey("pinned 0")).first)
    let replacing = await #expect(throws: ArchiveError.self) {
      try await store.put(.sample("large", replacing: [kept.id]), body: .noise(99_000))
    }
    #expect(replacing?.code == .storeFull)
    #expect(try await store.bodies("pinned 0") == [.noise(100)])
    await store.close()
  }

  @Test(
    "a writer shows what it has so far, and leaves nothing behind when it is released", arguments: StoreKind.allCases)
  func writers(kind: StoreKind) async throws {
    let store = try kind.make(directory)
    do {
      let writer = try store.makeWriter(for: ArchiveKey("a"))
      try await writer.append(.noise(150_000))
      var seen = Data()
      while seen.count < 150_000 {
        let piece = try await writer.read(at: Int64(seen.count), upTo: 40_000)
        try #require(!piece.isEmpty)
        seen += piece
      }
      #expect(seen == .noise(150_000))
      let beyond = try await writer.read(at: 150_000, upTo: 10)
      #expect(beyond.isEmpty)
      #expect(try await store.entries(for: ArchiveKey("a")).isEmpty)
      #expect(store.usage.bytes >= 150_000)
    }
    // A thread that has answered may hold the writer a moment longer.
    repeat { try await store.flush() } while store.usage != StoreUsage()
    let writer = try store.makeWriter(for: ArchiveKey("b"))
    try await writer.append(.noise(10))
    writer.abort()
    let error = await #expect(throws: ArchiveError.self) { try await writer.append(.noise(10)) }
    #expect(error?.code == .notWritten)
    let wrong = await #expect(throws: ArchiveError.self) {
      try await store.makeWriter(for: ArchiveKey("b")).commit(.sample("c"))
    }
    #expect(wrong?.code == .notWritten)
    await store.close()
  }

  @Test(
    "a body that is known to be too long is refused before anything makes room for it", arguments: StoreKind.allCases)
  func tooLong(kind: StoreKind) async throws {
    let store = try kind.make(directory, limits: StoreLimits(bytes: 100_000, entryBytes: 50_000))
    for number in 0..<8 { try await store.put(.sample("\(number)"), body: .noise(10_000)) }
    let error = #expect(throws: ArchiveError.self) { try store.makeWriter(for: ArchiveKey("long"), length: 50_001) }
    #expect(error?.code == .entryTooLarge)
    #expect(store.usage.count == 8)
    try await store.makeWriter(for: ArchiveKey("not so long"), length: 100).commit(.sample("not so long"))
    await store.close()
  }

  @Test("a transfer goes on where it broke off, without its body being written again", arguments: StoreKind.resuming)
  func resuming(kind: StoreKind) async throws {
    let store = try kind.make(directory, memory: 0)
    let body = Data.noise(500_000)
    for first in [100, 200_000] {
      let key = "\(first)"
      do {
        let writer = try store.makeWriter(for: ArchiveKey(key))
        try await writer.append(body[0..<first])
        try await writer.checkpoint(.sample(key, head: "partial"))
        try await writer.append(.noise(70_000, seed: 9))
      }
      try await store.flush()
      var seen = try await store.bodies(key)
      #expect(seen == [Data(body[0..<first])])
      let partial = try #require(try await store.entries(for: ArchiveKey(key)).first)
      #expect(partial.head == Array("partial".utf8))
      do {
        let writer = try #require(try await store.resumeWriting(partial))
        #expect(writer.length == Int64(first))
        try await writer.append(body[first..<300_000])
        try await writer.checkpoint(.sample(key, head: "more"))
        try await writer.append(body[300_000...])
        try await writer.commit(.sample(key, head: "whole"))
      }
      seen = try await store.bodies(key)
      #expect(seen == [body])
      let whole = try await store.entries(for: ArchiveKey(key))
      #expect(whole.map(\.head) == [Array("whole".utf8)])
      #expect(whole.first?.id == partial.id)
    }
    #expect(store.usage.count == 2)
    let total = try await store.list().reduce(0) { $0 + $1.storedBytes }
    #expect(store.usage.bytes == total)
    await store.close()
  }

  @Test(
    "goes on with a body as the caller saw it, or not at all, and one writer at a time", arguments: StoreKind.resuming)
  func resumedTwice(kind: StoreKind) async throws {
    let store = try kind.make(directory, memory: 0)
    for size in [200, 200_000] {
      let body = Data.noise(size)
      let key = ArchiveKey("\(size)")
      do {
        let writer = try store.makeWriter(for: key)
        try await writer.append(body[..<(size / 2)])
        try await writer.checkpoint(.sample("\(size)", head: "half"))
      }
      try await store.flush()
      let seen = try #require(try await store.entries(for: key).first)
      let first = try #require(try await store.resumeWriting(seen))
      let second = try await store.resumeWriting(seen)
      #expect(second == nil)
      try await first.append(body[(size / 2)...])
      try await first.commit(.sample("\(size)", head: "whole"))
      // A holder of the entry as it was would put the same bytes behind it again.
      if let late = try await store.resumeWriting(seen) {
        #expect(late.length == Int64(size / 2))
        try await late.append(body[(size / 2)...])
        try await late.commit(.sample("\(size)", head: "whole"))
      }
      // Nor does its old head come before the longer body.
      let stale = try store.update(seen, head: Array("half, confirmed".utf8), details: seen.details)
      #expect(stale == nil)
      let heads = try await store.entries(for: key).map(\.head)
      #expect(heads == [Array("whole".utf8)])
      let bodies = try await store.bodies("\(size)")
      #expect(bodies == [body])
      let now = try #require(try await store.entries(for: key).first)
      let more = try #require(try await store.resumeWriting(now))
      #expect(more.length == Int64(size))
    }
    await store.close()
  }

  @Test(
    "an entry that was removed does not come back with the writer that went on with it", arguments: StoreKind.allCases)
  func removedWhileResumed(kind: StoreKind) async throws {
    let store = try kind.make(directory)
    for size in [100, 100_000] {
      do {
        let writer = try store.makeWriter(for: ArchiveKey("a"))
        try await writer.append(.noise(size))
        let half = try await writer.checkpoint(.sample("a", head: "half"))
        store.remove([half.id])
        let error = await #expect(throws: ArchiveError.self) {
          try await writer.append(.noise(100_000))
          try await writer.checkpoint(.sample("a", head: "more"))
        }
        #expect(error?.code == .notWritten)
      }
      if StoreKind.resuming.contains(kind) {
        let entry = try await store.put(.sample("a"), body: .noise(size))
        let writer = try #require(try await store.resumeWriting(entry))
        try await writer.append(.noise(100_000))
        try await store.removeAll(.all)
        let error = await #expect(throws: ArchiveError.self) { try await writer.commit(.sample("a", head: "whole")) }
        #expect(error?.code == .notWritten)
      }
      try await store.flush()
      let found = try await store.entries(for: ArchiveKey("a"))
      #expect(found.isEmpty)
      #expect(store.usage == StoreUsage())
    }
    await store.close()
  }

  @Test("closed, it takes nothing from a writer either, and says why", arguments: StoreKind.allCases)
  func closingWriters(kind: StoreKind) async throws {
    let store = try kind.make(directory)
    let entry = try await store.put(.sample("a"), body: .noise(10))
    let resumed = try await store.resumeWriting(entry)
    #expect((resumed != nil) == StoreKind.resuming.contains(kind))
    var writers = [resumed].compactMap { $0 }
    for size in [10, 100_000] {
      let writer = try store.makeWriter(for: ArchiveKey("a"))
      try await writer.append(.noise(size))
      writers.append(writer)
    }
    await store.close()
    for writer in writers {
      for isLast in [false, true] {
        let error = await #expect(throws: ArchiveError.self) {
          if !isLast { try await writer.append(.noise(10)) }
          try await writer.commit(.sample("a"))
        }
        #expect(error?.code == .closed)
      }
    }
    var error = #expect(throws: ArchiveError.self) { try store.makeWriter(for: ArchiveKey("a")) }
    #expect(error?.code == .closed)
    error = await #expect(throws: ArchiveError.self) { try await store.resumeWriting(entry) }
    #expect(error?.code == .closed)
    error = #expect(throws: ArchiveError.self) { try store.update(entry, head: [], details: entry.details) }
    #expect(error?.code == .closed)
    error = await #expect(throws: ArchiveError.self) { try await store.removeAll(.all) }
    #expect(error?.code == .closed)
    #expect(store.usage == StoreUsage())
  }

  @Test("counts the look-ups that find an entry", arguments: StoreKind.allCases)
  func hits(kind: StoreKind) async throws {
    let store = try kind.make(directory)
    try await store.put(.sample("a"), body: .noise(10))
    for _ in 0..<5 { _ = try await store.entries(for: ArchiveKey("a")) }
    let entry = try await store.list().first
    #expect(entry?.hits == 5)
    await store.close()
  }

  @Test("closed, it finds nothing and takes nothing", arguments: StoreKind.allCases)
  func closing(kind: StoreKind) async throws {
    let store = try kind.make(directory)
    try await store.put(.sample("a"), body: .noise(10))
    await store.close()
    #expect(store.cached(ArchiveKey("a"))?.isEmpty == true)
    let error = await #expect(throws: ArchiveError.self) { try await store.put(.sample("a"), body: .noise(10)) }
    #expect(error?.code == .closed)
  }
}
