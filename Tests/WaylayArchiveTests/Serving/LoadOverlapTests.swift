import Foundation
import HTTPTypes
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("Loads and stores that overlap", .timeLimit(.minutes(5)))
struct LoadOverlapTests {
  fileprivate static let size = 200_000
  fileprivate static let bytes = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })

  /// Loads a URL through an archive of a store, and then an origin.
  private func load(_ archive: ArchiveCache, _ origin: Origin) async throws -> Data {
    let registry = InterceptorRegistry {
      archive
      origin
    }
    let response = try await registry.load(URLRequest(url: Origin.url))
    return try await response.body.collect(upTo: 1 << 24)
  }

  @Test(
    "two loads that complete the same part at once leave it whole, and not with its end twice",
    arguments: StoreKind.allCases)
  func completedTwice(kind: StoreKind) async throws {
    let directory = TemporaryDirectory()
    let store = try kind.make(directory)
    let archive = ArchiveCache(store: store) { $0.collapses = false }
    let origin = Origin(breaksOff: true, together: 4)
    #expect(await failure { try await load(archive, origin) } is URLError)
    try await withThrowingTaskGroup(of: Data.self) { group in
      for _ in 0..<4 { group.addTask { try await load(archive, origin) } }
      for try await body in group {
        #expect(body == Self.bytes)
        // All have asked for the rest behind the same half; each gets it when the one before has stored it.
        origin.answerNext()
      }
    }
    archive.mode = .offline
    let stored = try await load(archive, origin)
    #expect(stored == Self.bytes)
    for entry in try await store.list() { #expect(entry.bodyLength == Int64(Self.size)) }
    await archive.close()
  }

  @Test("a store that goes on at the wrong place is found out before its entry can be served")
  func foreignStore() async throws {
    let store = Careless()
    let archive = ArchiveCache(store: store)
    let origin = Origin(breaksOff: true)
    #expect(await failure { try await load(archive, origin) } is URLError)
    #expect(try await load(archive, origin) == Self.bytes)
    for entry in try await store.list() { #expect(entry.bodyLength <= Int64(Self.size)) }
    #expect(try await load(archive, origin) == Self.bytes)
    await archive.close()
  }

  @Test("an entry whose body is not as long as its head says is not served", arguments: [-1, 1])
  func otherLength(by difference: Int) async throws {
    let store = MemoryStore()
    let archive = ArchiveCache(store: store)
    let origin = Origin()
    #expect(try await load(archive, origin) == Self.bytes)
    let entry = try #require(try await store.list().first)
    let body = difference < 0 ? Data(Self.bytes.dropLast(-difference)) : Self.bytes + Data(count: difference)
    try await store.put(
      EntryDraft(key: entry.key, head: entry.head, details: entry.details, replacing: [entry.id]), body: body)
    #expect(try await load(archive, origin) == Self.bytes)
    #expect(origin.asked == 2)
    #expect(try await load(archive, origin) == Self.bytes)
    #expect(origin.asked == 2)
    await archive.close()
  }

  @Test(
    "a load through a read-only archive ends when what it wants to serve has been removed or cannot be read",
    arguments: [true, false])
  func readOnly(isRemoved: Bool) async throws {
    let directory = TemporaryDirectory()
    let writing = try directory.store()
    let first = ArchiveCache(store: writing)
    let origin = Origin()
    #expect(try await load(first, origin) == Self.bytes)
    try await writing.flush()
    let reading = try directory.store(.init(isReadOnly: true, logger: .silent))
    let second = ArchiveCache(store: reading)
    #expect(try await load(second, origin) == Self.bytes)
    #expect(origin.asked == 1)
    if isRemoved {
      writing.remove(try await writing.list().map(\.id))
      try await writing.flush()
    } else {
      for path in directory.bodies {
        try directory.write(Data(count: directory.contents(path).count), path)
      }
    }
    second.mode = .offline
    let failures = Locked(0)
    let events = second.events(bufferingNewest: 1000)
    let loading = Task { await failure { try await load(second, origin) } }
    let watch = Task {
      for await event in events where event.kind == .storeFailed {
        let count = failures.withLock { count in
          count += 1
          return count
        }
        // It would go on for ever.
        if count >= 20 { loading.cancel() }
      }
    }
    let error = await loading.value
    #expect(cause(error)?.code == .notStored)
    #expect(failures.withLock { $0 } < 3)
    await second.close()
    await watch.value
    await first.close()
  }
}

/// An origin without a network.
private final class Origin: RequestInterceptor {
  static let url = URL(string: "https://origin.example/a")!

  private struct State {
    var asked = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let breaksOff: Bool
  private let together: Int
  private let state = Locked(State())

  /// - Parameters:
  ///   - breaksOff: Whether the first answer ends half-way.
  ///   - count: How many have to have asked for the rest before the first of them gets it.
  init(breaksOff: Bool = false, together count: Int = 1) {
    self.breaksOff = breaksOff
    together = count
  }

  var asked: Int { state.withLock { $0.asked } }

  /// Answers one of those who have asked for the rest.
  func answerNext() {
    state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }?.resume()
  }

  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    let (bytes, size) = (LoadOverlapTests.bytes, LoadOverlapTests.size)
    var fields: HTTPFields = [.eTag: "\"1\"", .cacheControl: "max-age=1000"]
    let isFirst = state.withLock { state in
      state.asked += 1
      return state.asked == 1
    }
    let range = request.fields[.range]
    guard let range, let first = Int(range.dropFirst("bytes=".count).dropLast()) else {
      fields[.contentLength] = "\(size)"
      guard breaksOff, isFirst else {
        return InterceptedResponse(to: request, fields: fields, body: .data(bytes), source: .network)
      }
      let half = MessageBody.stream(length: Int64(size)) {
        AsyncThrowingStream { continuation in
          continuation.yield(bytes.prefix(size / 2))
          continuation.finish(throwing: URLError(.networkConnectionLost))
        }
      }
      return InterceptedResponse(to: request, fields: fields, body: half, source: .network)
    }
    await withCheckedContinuation { continuation in
      let isLast = state.withLock { state in
        state.waiting.append(continuation)
        return state.asked > together
      }
      if isLast { answerNext() }
    }
    fields[.contentRange] = "bytes \(first)-\(size - 1)/\(size)"
    fields[.contentLength] = "\(size - first)"
    let rest = MessageBody.stream(length: Int64(size - first)) {
      AsyncStream { continuation in
        continuation.yield(Data(bytes[first...]))
        continuation.finish()
      }
    }
    return InterceptedResponse(to: request, status: .partialContent, fields: fields, body: rest, source: .network)
  }
}

/// A store of somebody else's, which goes on with a body wherever it is by now.
private final class Careless: ArchiveStore {
  private let base = MemoryStore()

  var secretBytes: [UInt8] { base.secretBytes }
  func cached(_ key: ArchiveKey) -> [StoredEntry]? { base.cached(key) }
  func entries(for key: ArchiveKey) async throws -> [StoredEntry] { try await base.entries(for: key) }
  var moment: Int64 { base.moment }
  func makeWriter(for key: ArchiveKey, length: Int64?, since moment: Int64) throws -> any EntryWriter {
    try base.makeWriter(for: key, length: length, since: moment)
  }
  func update(_ entry: StoredEntry, head: [UInt8], details: EntryDetails) throws -> StoredEntry? {
    try base.update(entry, head: head, details: details)
  }
  func remove(_ ids: [EntryID]) { base.remove(ids) }
  func visit(_ filter: EntryFilter, _ visitor: @Sendable (StoredEntry) throws -> Bool) async throws {
    try await base.visit(filter, visitor)
  }
  func removeAll(_ filter: EntryFilter) async throws -> Int { try await base.removeAll(filter) }
  var usage: StoreUsage { base.usage }
  var limits: StoreLimits {
    get { base.limits }
    set { base.limits = newValue }
  }
  func observe(_ handler: @escaping @Sendable (StoreEvent) -> Void) { base.observe(handler) }
  func flush() async throws {}
  func close() async { await base.close() }

  func resumeWriting(_ entry: StoredEntry, since moment: Int64) async throws -> (any EntryWriter)? {
    let writer = try base.makeWriter(for: entry.key, length: nil, since: moment)
    try await writer.append(Data(count: Int(entry.bodyLength) + 1000))
    return writer
  }
}
