import Foundation
import Waylay
@_spi(Benchmarks) import WaylayArchive

/// A directory with an archive, filled once.
private struct Filled: Sendable {
  let directory = Scratch.folder()
  let body = Data((0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 31) })

  func open(memory: Int, readsWhenLocked: Bool = false) throws -> StoreBenchmark {
    try StoreBenchmark(
      at: directory, limits: StoreLimits(bytes: 4 << 30, count: 10_000_000), memory: memory,
      readsWhenLocked: readsWhenLocked)
  }

  /// Puts so many entries in, no faster than the disk takes them.
  func fill(_ store: StoreBenchmark, with entries: Int, of body: Data) async throws {
    for number in 0..<entries {
      try store.put(StoreBenchmark.Item("\(number)"), body)
      if number % 512 == 0 { try await store.flush() }
    }
    try await store.flush()
  }
}

/// A store that is opened and filled at its first use.
private actor Shelf {
  private let filled = Filled()
  private let memory: Int
  private let entries: Int
  private var store: StoreBenchmark?

  init(memory: Int, entries: Int) {
    self.memory = memory
    self.entries = entries
  }

  func open() async throws -> StoreBenchmark {
    if let store { return store }
    let store = try filled.open(memory: memory)
    self.store = store
    try await filled.fill(store, with: entries, of: Data(filled.body.prefix(1024)))
    try store.put(StoreBenchmark.Item("64 KiB"), filled.body)
    try await store.flush()
    return store
  }
}

/// An archive of 100 000 entries to open, beside a writer that has it open: what is read does not change.
private actor Opened {
  private let filled = Filled()
  private let isClosed: Bool
  private var writer: StoreBenchmark?

  /// - Parameter isClosed: Whether the archive was closed in good order; else its log is that which a kill leaves.
  init(isClosed: Bool) {
    self.isClosed = isClosed
  }

  /// Opens it a second time, and looks for the entry.
  func open(lookingFor item: StoreBenchmark.Item) async throws {
    if writer == nil { writer = try await fill() }
    let reader = try filled.open(memory: 0, readsWhenLocked: true)
    guard try await reader.length(of: item) == nil else { throw URLError(.unknown) }
    await reader.close()
  }

  private func fill() async throws -> StoreBenchmark {
    let store = try filled.open(memory: 0)
    try await filled.fill(store, with: 100_000, of: Data())
    guard isClosed else { return store }
    await store.close()
    return try filled.open(memory: 0)
  }
}

/// A file of 64 MiB, made at its first use, to be copied.
private actor LargeFile {
  private static let size = 64 << 20
  private let folder = Scratch.folder()
  private var isThere = false
  private var source: URL { folder.appendingPathComponent("source") }
  private var copy: URL { folder.appendingPathComponent("copy") }

  /// Copies it portion by portion, as a download comes in.
  func copied() async throws {
    try make()
    FileManager.default.createFile(atPath: copy.path, contents: nil)
    let file = try FileHandle(forWritingTo: copy)
    try await read { try file.write(contentsOf: $0) }
    try file.close()
    try FileManager.default.removeItem(at: copy)
  }

  func read(_ portion: @Sendable (Data) async throws -> Void) async throws {
    try make()
    let file = try FileHandle(forReadingFrom: source)
    while let data = try file.read(upToCount: 65_536), !data.isEmpty { try await portion(data) }
    try file.close()
  }

  private func make() throws {
    guard !isThere else { return }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data((0..<Self.size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }).write(to: source)
    isThere = true
  }
}

extension Scenario {
  /// The archive's store on disk, without the loading system: look-ups, and what the caller pays to store.
  static func archiveStore() -> [Scenario] {
    let dictionary = Dictionary(uniqueKeysWithValues: (0..<100_000).map { ("GET https://example.com/\($0)", $0) })
    let large = Shelf(memory: 8 << 20, entries: 100_000)
    let bare = Shelf(memory: 0, entries: 0)
    let sink = Shelf(memory: 8 << 20, entries: 0)
    let missing = StoreBenchmark.Item("missing")
    let stored = StoreBenchmark.Item("64 KiB")
    let item = StoreBenchmark.Item("put")
    let body = Data(repeating: 1, count: 1024)
    let floor = "store: a dictionary of 100 000"
    return [
      Scenario(floor, against: floor) {
        for _ in 0..<100 where dictionary["GET https://example.com/missing"] != nil { throw URLError(.unknown) }
      },
      Scenario("store: 100 misses in 100 000 entries", against: floor) {
        let store = try await large.open()
        for _ in 0..<100 where store.contains(missing) != false { throw URLError(.unknown) }
      },
      Scenario("store: a hit of 64 KiB on disk", against: floor) {
        let store = try await bare.open()
        guard try await store.length(of: stored) == 65_536 else { throw URLError(.unknown) }
      },
      Scenario("store: an entry of 1 KiB is put, and written", against: floor) {
        let store = try await sink.open()
        try store.put(item, body)
        try await store.flush()
      },
    ] + opened() + largeFile()
  }

  /// How long an archive takes to be there after the start of a process.
  private static func opened() -> [Scenario] {
    let names = ["store: 100 000 entries opened after a close", "store: 100 000 entries opened after a kill"]
    let missing = StoreBenchmark.Item("missing")
    return zip(names, [true, false]).map { name, isClosed in
      let archive = Opened(isClosed: isClosed)
      return Scenario(name, against: names[0]) { try await archive.open(lookingFor: missing) }.large()
    }
  }

  /// A large body into the store, beside a file that is copied.
  private static func largeFile() -> [Scenario] {
    let file = LargeFile()
    let shelf = Shelf(memory: 8 << 20, entries: 0)
    let item = StoreBenchmark.Item("64 MiB")
    let floor = "64 MiB: a file is copied"
    return [
      Scenario(floor, against: floor) { try await file.copied() }.large(),
      Scenario("64 MiB: a file goes into the store", against: floor) {
        let store = try await shelf.open()
        try await store.write(item) { append in try await file.read(append) }
        try await store.flush()
      }.large(),
    ]
  }
}
