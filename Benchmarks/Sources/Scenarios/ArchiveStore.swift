import Foundation
import Waylay

/// A directory with an archive, filled once and removed with the process's temporary files.
private struct Filled: Sendable {
  let directory = FileManager.default.temporaryDirectory.appendingPathComponent("waylay-benchmark-\(UUID().uuidString)")
  let body = Data((0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 31) })

  static func draft(_ text: String) -> EntryDraft {
    EntryDraft(
      key: ArchiveKey("GET https://example.com/\(text)"), head: [UInt8](repeating: 9, count: 600),
      details: EntryDetails(url: "https://example.com/\(text)", host: "example.com", stored: Date(timeIntervalSince1970: 1_800_000_000)))
  }

  func open(memory: Int) throws -> DiskStore {
    try DiskStore(at: directory, options: .init(limits: StoreLimits(bytes: 4 << 30, count: 10_000_000), memory: memory))
  }
}

/// A store that is opened and filled at its first use.
private actor Shelf {
  private let filled = Filled()
  private let memory: Int
  private let entries: Int
  private var store: DiskStore?

  init(memory: Int, entries: Int) {
    self.memory = memory
    self.entries = entries
  }

  func open() async throws -> DiskStore {
    if let store { return store }
    let store = try filled.open(memory: memory)
    self.store = store
    for number in 0..<entries {
      try store.put(Filled.draft("\(number)"), body: Data(filled.body.prefix(1024)))
      if number % 512 == 0 { try await store.flush() }
    }
    try store.put(Filled.draft("64 KiB"), body: filled.body)
    try await store.flush()
    return store
  }
}

extension Scenario {
  /// The archive's store on disk, without the loading system: look-ups, and what the caller pays to store.
  static func archiveStore() -> [Scenario] {
    let dictionary = Dictionary(uniqueKeysWithValues: (0..<100_000).map { ("GET https://example.com/\($0)", $0) })
    let large = Shelf(memory: 8 << 20, entries: 100_000)
    let bare = Shelf(memory: 0, entries: 0)
    let sink = Shelf(memory: 8 << 20, entries: 0)
    let missing = ArchiveKey("GET https://example.com/missing")
    let stored = ArchiveKey("GET https://example.com/64 KiB")
    let draft = Filled.draft("put")
    let body = Data(repeating: 1, count: 1024)
    let floor = "store: a dictionary of 100 000"
    return [
      Scenario(floor, against: floor) {
        for _ in 0..<100 where dictionary["GET https://example.com/missing"] != nil { throw URLError(.unknown) }
      },
      Scenario("store: 100 misses in 100 000 entries", against: floor) {
        let store = try await large.open()
        for _ in 0..<100 where store.cached(missing)?.isEmpty != true { throw URLError(.unknown) }
      },
      Scenario("store: a hit of 64 KiB on disk", against: floor) {
        let store = try await bare.open()
        guard try await store.entries(for: stored).first?.bodyLength == 65_536 else { throw URLError(.unknown) }
      },
      Scenario("store: an entry of 1 KiB is put, and written", against: floor) {
        let store = try await sink.open()
        try store.put(draft, body: body)
        try await store.flush()
      },
    ]
  }
}
