import Foundation
import Logging
import StoreFaults
import TestSupport
import WaylayCore

@testable import WaylayArchive

extension ArchiveKey {
  init(_ text: String, partition: ArchivePartition = .shared) {
    self.init(bytes: Array(text.utf8), partition: partition)
  }
}

extension EntryDraft {
  /// A draft whose parts all come from one word.
  static func sample(
    _ key: String, partition: ArchivePartition = .shared, host: String = "example.com", head: String? = nil,
    tags: Set<String> = [],
    isPinned: Bool = false, mediaType: String = "application/octet-stream", stored: TimeInterval = 1_800_000_000,
    replacing: [EntryID] = []
  ) -> EntryDraft {
    EntryDraft(
      key: ArchiveKey(key, partition: partition), head: Array((head ?? "head of \(key)").utf8),
      details: EntryDetails(
        url: "https://\(host)/\(key)", host: host, mediaType: mediaType, stored: Date(timeIntervalSince1970: stored),
        tags: tags, isPinned: isPinned),
      replacing: replacing)
  }
}

extension Data {
  /// Bytes that look random and are the same each time.
  static func noise(_ count: Int, seed: UInt64 = 1) -> Data {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    var bytes = [UInt8](repeating: 0, count: count)
    for index in bytes.indices {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      bytes[index] = UInt8(truncatingIfNeeded: state >> 24)
    }
    return Data(bytes)
  }
}

/// A directory that goes with the test.
final class TemporaryDirectory: Sendable {
  let url: URL

  /// - Parameter inMemory: Whether it is in memory where the system has such a place, for what opens thousands of archives.
  init(inMemory: Bool = false) {
    let shared = URL(fileURLWithPath: "/dev/shm", isDirectory: true)
    let isShared = inMemory && FileManager.default.isWritableFile(atPath: shared.path)
    url = (isShared ? shared : FileManager.default.temporaryDirectory).appendingPathComponent(
      "waylay-store-\(UUID().uuidString)", isDirectory: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }

  /// All files, by their paths within the directory.
  var files: [String] {
    (FileManager.default.enumerator(atPath: url.path)?.allObjects as? [String] ?? []).filter { path in
      var isDirectory: ObjCBool = false
      return FileManager.default.fileExists(atPath: url.appendingPathComponent(path).path, isDirectory: &isDirectory)
        && !isDirectory.boolValue
    }.sorted()
  }

  /// The files of bodies.
  var bodies: [String] { files.filter { $0.hasPrefix("bodies/") } }

  func contents(_ path: String) -> Data {
    (try? Data(contentsOf: url.appendingPathComponent(path))) ?? Data()
  }

  func write(_ data: Data, _ path: String) throws {
    let file = url.appendingPathComponent(path)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try data.write(to: file)
  }

  func store(_ options: DiskStore.Options = .init(logger: .silent)) throws -> DiskStore {
    try DiskStore(at: url, options: options)
  }
}

extension DiskStore.Options {
  /// What all files are on, SQLite's too.
  var disk: any SystemCalls {
    get { system }
    set { (system, vfs) = (newValue, TestVFS.name(for: newValue)) }
  }
}

extension DiskStore {
  /// Waits until nothing is done in the background any more; `false` when there is always something.
  func settle() async -> Bool {
    for _ in 0..<100 {
      bodies.pool.wait()
      // On the queue: elsewhere, jobs may be in a transaction.
      let isIdle = await withCheckedContinuation { continuation in
        queue.async { [state] in continuation.resume(returning: state.withLock { $0.jobs.isEmpty }) }
      }
      if isIdle { return true }
    }
    return false
  }
}

extension Logger {
  static var silent: Logger { .recording() }

  /// A logger that keeps its lines.
  static func keeping(_ lines: Locked<[String]>) -> Logger {
    .recording { line in lines.withLock { $0.append(line) } }
  }
}

extension ArchiveStore {
  /// Makes a writer whose entry is decided on when it is committed, so that no removal is a barrier for it.
  func makeWriter(for key: ArchiveKey, length: Int64? = nil) throws -> any EntryWriter {
    try makeWriter(for: key, length: length, since: .max)
  }

  func resumeWriting(_ entry: StoredEntry) async throws -> (any EntryWriter)? {
    try await resumeWriting(entry, since: .max)
  }

  /// The bodies under a key, oldest first.
  func bodies(_ key: String, partition: ArchivePartition = .shared) async throws -> [Data] {
    var bodies: [Data] = []
    for entry in try await entries(for: ArchiveKey(key, partition: partition)) {
      bodies.append(try await entry.body().collect(upTo: 1 << 30))
    }
    return bodies
  }

  /// Writes an entry at once.
  @discardableResult
  func put(_ draft: EntryDraft, body: Data) async throws -> StoredEntry {
    try await write(draft, body, by: max(body.count, 1))
  }

  /// Writes an entry piece by piece.
  @discardableResult
  func write(_ draft: EntryDraft, _ body: Data, by size: Int) async throws -> StoredEntry {
    let writer = try makeWriter(for: draft.key)
    var rest = body[...]
    while !rest.isEmpty {
      try await writer.append(Data(rest.prefix(size)))
      rest = rest.dropFirst(size)
    }
    return try await writer.commit(draft)
  }
}
