import Foundation
import HTTPTypes
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("What was decided before a removal is not stored after it", .heavy, .timeLimit(.minutes(10)))
struct BarrierTests {
  /// The ways in which a response gets into an archive.
  enum Way: String, CaseIterable {
    case loaded, streamed, leftAlone, part
    /// By what follows a stale response.
    case behind, confirmedBehind, late
    case prefetched, given, seeded

    /// Those that wait for the queue of a store on disk.
    static let queued: Set<Way> = [.given, .seeded]
  }

  private let directory = TemporaryDirectory(inMemory: true)

  @Test("on disk, whichever of two processes removes, and by which filter", arguments: Way.allCases)
  func disk(way: Way) async throws {
    let stores = [try directory.store(), try directory.store()]
    for number in 0..<40 {
      let run = Run(way, number, stores[0], stores[number / 2 % 2])
      try await run.run()
      for store in stores { #expect(try await store.list().isEmpty, "\(way) \(number), \(run.removal)") }
    }
    for store in stores { #expect(await store.settle()) }
    for store in stores { try await store.flush() }
    for file in directory.files { #expect(directory.contents(file).firstRange(of: Run.mark) == nil, "\(file)") }
    for store in stores { await store.close() }
  }

  @Test("in memory, whichever of two archives removes", arguments: Set(Way.allCases).subtracting(Way.queued))
  func memory(way: Way) async throws {
    let store = MemoryStore()
    for number in 0..<40 {
      let run = Run(way, number, store, store)
      try await run.run()
      #expect(try await store.list().isEmpty, "\(way) \(number), \(run.removal)")
    }
  }

  @Test("a removal for one path, host or partition leaves others alone", arguments: StoreKind.allCases)
  func neighbours(kind: StoreKind) async throws {
    let store = try kind.make(directory)
    let filters: [EntryFilter] = [.key(ArchiveKey("0", partition: "p0")), .host("h0"), .partition("p0")]
    for filter in filters {
      var writers: [any EntryWriter] = []
      let drafts = (0..<20).map { EntryDraft.sample("\($0)", partition: ArchivePartition("p\($0)"), host: "h\($0)") }
      let moment = store.moment
      for draft in drafts { writers.append(try store.makeWriter(for: draft.key, length: nil, since: moment)) }
      try await store.removeAll(filter)
      var refused: [Int] = []
      for (number, writer) in writers.enumerated() {
        do { try await writer.commit(drafts[number]) } catch let error as ArchiveError {
          #expect(error.code == .notWritten)
          refused.append(number)
        }
      }
      // Few share a place with the removed one by chance.
      #expect(refused.first == 0 && refused.count < 8)
      #expect(try await store.removeAll(.all) == 20 - refused.count)
    }
    await store.close()
  }

  @Test("a moment is later than every change before it, also in a new index", arguments: StoreKind.allCases)
  func moments(kind: StoreKind) async throws {
    let store = try kind.make(directory)
    let before = store.moment
    try await store.removeAll(.all)
    let after = store.moment
    #expect(before < after)
    await store.close()
    guard kind != .memory else { return }
    for name in directory.files { try FileManager.default.removeItem(at: directory.url.appendingPathComponent(name)) }
    let next = try kind.make(directory)
    let late = try next.makeWriter(for: ArchiveKey("a"), length: nil, since: after)
    try await next.removeAll(.all)
    await #expect(throws: ArchiveError.self) { try await late.commit(.sample("a")) }
    await next.close()
  }
}

/// One load, and one removal after it was decided.
private struct Run {
  typealias Removal = @Sendable (ArchiveCache, URL) async throws -> Void

  static let mark = Data("planted by the old user".utf8)
  private static let removals: [(name: String, remove: Removal)] = [
    ("everything", { archive, _ in try await archive.removeAll() }),
    ("partition", { archive, _ in try await archive.removeAll(.partition("ada")) }),
    ("request", { archive, url in try await archive.remove(for: URLRequest(url: url)) }),
    ("tag", { archive, _ in try await archive.removeAll(.tag("mine")) }),
    ("host", { archive, _ in try await archive.removeAll(.host("example.com")) }),
    ("prefix", { archive, url in try await archive.removeAll(.prefix("http://example.com/")) }),
  ]

  let removal: String
  private let way: BarrierTests.Way
  private let number: Int
  private let url: URL
  private let store: any ArchiveStore
  private let archive: ArchiveCache
  private let other: ArchiveCache
  private let removing: Removal
  /// Whether the archive that loads removes, or at least one on the same store.
  private let isOwn: Bool
  private let isShared: Bool
  private let wall = Wall()
  private let timer = StepTimer()
  private let script = ScriptedNext()
  private let gate = Latch()
  /// Opened when the response is about to be stored.
  private let isStoring = Latch()
  private let fields: HTTPFields = [.cacheControl: "max-age=10, stale-while-revalidate=1000", .eTag: "\"1\""]
  private let body: Data

  init(
    _ way: BarrierTests.Way, _ number: Int, _ store: any ArchiveStore & AnyObject,
    _ remover: any ArchiveStore & AnyObject
  ) {
    (self.way, self.number, self.store) = (way, number, store)
    (removal, removing) = Self.removals[number % Self.removals.count]
    (isOwn, isShared) = (number % 5 == 0, store === remover)
    url = URL(string: "http://example.com/\(way)/\(number)")!
    let configure: (inout ArchiveCache.Configuration) -> Void = { [wall, timer, isStoring] in
      $0.now = { wall.now }
      $0.clock = timer.clock
      $0.partition = { _ in "ada" }
      $0.willStore = { response in
        response.tags = ["mine"]
        isStoring.open()
      }
    }
    archive = ArchiveCache(store: store, configure)
    other = ArchiveCache(store: remover, configure)
    // In a row, in a file, and with a checkpoint.
    let size = number % 8 == 7 ? 5_000_000 : number % 4 == 1 ? 100_000 : 300
    body = Self.mark + .noise(size, seed: UInt64(number + 1))
  }

  private func remove() async throws {
    try await removing(isOwn ? archive : other, url)
    gate.open()
  }

  private func load() async throws -> InterceptedResponse {
    try await archive.startLoading(InterceptedRequest(URLRequest(url: url)), next: script.next)
  }

  /// Has the origin wait for the gate.
  private func answersLate(_ status: HTTPResponse.Status = .ok) {
    script.answers { [gate, fields, body] request in
      try await gate.wait()
      return InterceptedResponse(
        to: request, status: status, fields: fields, body: status == .ok ? .data(body) : .empty, source: .network)
    }
  }

  /// The body in two pieces, the second one behind the gate or a failure.
  private func stream(splitAt middle: Int, fails: Bool = false) -> MessageBody {
    .stream(length: Int64(body.count)) { [gate, body] in
      let step = Locked(0)
      return AsyncThrowingStream<Data, any Error> {
        let number = step.withLock { step in
          step += 1
          return step
        }
        switch number {
        case 1: return Data(body[..<middle])
        case 2 where fails: throw URLError(.networkConnectionLost)
        case 2:
          try await gate.wait()
          return Data(body[middle...])
        default: return nil
        }
      }
    }
  }

  /// Reads so many bytes of a response, and all of it after the removal where it stays.
  private func read(upTo count: Int, stays: Bool) async throws {
    var chunks = try await load().body.makeAsyncIterator()
    var rest = count
    while rest > 0, let chunk = try await chunks.next() { rest -= chunk.count }
    guard stays else { return }
    try await remove()
    while try await chunks.next() != nil {}
  }

  /// Does something that goes on in the background, and waits for its end.
  private func followed(_ act: () async throws -> Void) async throws {
    let events = archive.events()
    try await act()
    let ends: Set<OpenEnum<ArchiveEvent>> = [.refused, .stored, .storeFailed, .revalidatedInBackground]
    for await event in events where ends.contains(event.kind) { break }
  }

  /// Stores a response, and lets it become stale.
  private func prepare() async throws {
    script.answers { [fields, body] in InterceptedResponse(to: $0, fields: fields, body: .data(body), source: .network)
    }
    _ = try await load().body.collect(upTo: 1 << 24)
    wall.advance(by: 20)
  }

  func run() async throws {
    switch way {
    case .loaded:
      answersLate()
      async let late = load().body.collect(upTo: 1 << 24)
      await script.wasAsked(1)
      try await remove()
      #expect(try await late == body)
    case .streamed, .leftAlone:
      let middle = body.count - 200
      script.answers { [fields, stream = stream(splitAt: middle)] request in
        InterceptedResponse(to: request, fields: fields, body: stream, source: .network)
      }
      try await followed {
        try await read(upTo: middle, stays: way == .streamed)
        if way == .leftAlone { try await remove() }
      }
    case .part:
      let half = body.count / 2
      script.answers { [fields, stream = stream(splitAt: half, fails: true)] request in
        InterceptedResponse(to: request, fields: fields, body: stream, source: .network)
      }
      _ = try? await load().body.collect(upTo: 1 << 24)
      #expect(try await store.list().count == 1)
      script.answers { [fields, body, gate] request in
        try await gate.wait()
        guard request.fields[.range] == "bytes=\(half)-" else {
          return InterceptedResponse(to: request, fields: fields, body: .data(body), source: .network)
        }
        var fields = fields
        fields[.contentRange] = "bytes \(half)-\(body.count - 1)/\(body.count)"
        return InterceptedResponse(
          to: request, status: .partialContent, fields: fields, body: .data(Data(body[half...])), source: .network)
      }
      async let late = load().body.collect(upTo: 1 << 24)
      await script.wasAsked(2)
      try await remove()
      #expect(try await late == body)
    case .behind, .confirmedBehind:
      try await prepare()
      answersLate(way == .behind ? .ok : .notModified)
      try await followed {
        #expect(try await load().body.collect(upTo: 1 << 24) == body)
        // Also before the origin is asked.
        if number % 2 == 0 { await script.wasAsked(2) }
        try await remove()
      }
    case .late:
      try await prepare()
      wall.advance(by: 2000)
      answersLate()
      try await followed {
        async let stale = load().body.collect(upTo: 1 << 24)
        await timer.isAwaited()
        await script.wasAsked(2)
        timer.advance(by: 10)
        #expect(try await stale == body)
        try await remove()
      }
    case .prefetched:
      answersLate()
      let registry = InterceptorRegistry {
        archive
        Origin(script: script)
      }
      let requests = [url, url.appendingPathComponent("next")].map { URLRequest(url: $0) }
      async let prefetched = archive.prefetch(requests, through: registry, atMost: 1)
      await script.wasAsked(1)
      try await remove()
      // The next request is sent after the removal, but was decided before it.
      let end = try await prefetched
      #expect(end.finished == 2 && (removal == "request" || end.failures.count == 2))
      if removal == "request" { try await store.removeAll(.all) }
      registry.invalidate()
    case .given, .seeded:
      let semaphore = DispatchSemaphore(value: 0)
      (store as? DiskStore)?.queue.async { semaphore.wait() }
      async let end: Void = give()
      try await isStoring.wait()
      async let removed: Void = remove()
      // A removal by the store itself waits behind what is queued.
      if isOwn || isShared { semaphore.signal() }
      try await removed
      semaphore.signal()
      try await end
      if removal == "request" { try await store.removeAll(.all) }
    }
    archive.invalidate()
    other.invalidate()
  }

  /// Stores what comes from elsewhere than a load.
  private func give() async throws {
    if way == .given {
      let fields = ["Cache-Control": "max-age=1000"]
      let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields)!
      try? await archive.store(response, body: body, for: URLRequest(url: url))
    } else {
      let folder = TemporaryDirectory(inMemory: true)
      for name in ["a", "b"] { try folder.write(body, name) }
      try await archive.seed(from: folder.url, as: url)
    }
  }

  private struct Origin: RequestInterceptor {
    let script: ScriptedNext

    func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
      try await script.next(request)
    }
  }
}
