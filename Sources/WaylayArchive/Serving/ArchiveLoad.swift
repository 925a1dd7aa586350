import Foundation
import HTTPTypes

/// One load through an archive.
struct ArchiveLoad: Sendable {
  let engine: ArchiveEngine
  let store: any ArchiveStore
  let request: InterceptedRequest
  let url: URL
  let next: InterceptorChain.Next
  let policy: ArchivePolicy
  private(set) var asked: CacheRequest
  let options: CacheOptions
  var place: RequestKey
  /// The bytes that the key is made of, too.
  let body: Data?
  /// Whether the load goes on behind a response that was given.
  var isInBackground = false
  /// What becomes of it is noted here, where the archive itself has asked for it.
  var outcome: LoadOutcome?
  /// Whether the load stands for another one of a user that a challenge would have named.
  var isAfterChallenge = false

  /// An entry and what its head says.
  struct Stored: Sendable {
    var entry: StoredEntry
    var record: CacheRecord
  }

  /// A load whose key can be made without waiting; `nil` for one whose body has to be read first.
  init?(
    _ request: InterceptedRequest, _ mode: ArchiveMode, _ engine: ArchiveEngine, _ store: any ArchiveStore,
    _ next: InterceptorChain.Next
  ) {
    var body: Data?
    if RequestKey.wantsBody(request, engine.configuration) {
      guard let data = request.body.inMemory else { return nil }
      if data.count <= engine.configuration.maximumKeyedBody { body = data }
    }
    self.init(request, body, mode, engine, store, next)
  }

  /// The same, after reading the body where a rule keys by it.
  init(
    reading request: InterceptedRequest, _ mode: ArchiveMode, _ engine: ArchiveEngine, _ store: any ArchiveStore,
    _ next: InterceptorChain.Next
  ) async throws {
    var body: Data?
    let limit = engine.configuration.maximumKeyedBody
    if RequestKey.wantsBody(request, engine.configuration), request.body.isReplayable,
      let length = request.body.length, length <= Int64(limit)
    {
      body = try await request.body.collect(upTo: limit)
    }
    self.init(request, body, mode, engine, store, next)
  }

  private init(
    _ request: InterceptedRequest, _ body: Data?, _ mode: ArchiveMode, _ engine: ArchiveEngine,
    _ store: any ArchiveStore, _ next: InterceptorChain.Next
  ) {
    self.engine = engine
    self.store = store
    self.request = request
    url = request.url
    self.next = next
    outcome = LoadOutcome.current.flatMap { $0.engine === engine ? $0 : nil }
    let configuration = engine.configuration
    self.body = body
    place = RequestKey(request, body: body, challenge: request[AnsweredChallengeKey.self], configuration) {
      store.digest($0)
    }
    asked = CacheRequest(request, ignoring: place.ignoredFields)
    // A user whom the app has named needs no guess.
    if !place.isAttributed {
      asked.userCookies = configuration.userCookies
      if !place.ignoredFields.isEmpty { asked.cookie = request.fields[.cookie] }
    }
    options = CacheOptions(mode: mode, isKeyedByBody: body != nil)
    var policy = ArchivePolicy { store.digest($0) }
    policy.staleWhenUnreachable = configuration.servesStaleWhenUnreachable
    policy.staleIfError = configuration.staleIfError.wholeSeconds
    self.policy = policy
  }

  var configuration: ArchiveCache.Configuration { engine.configuration }
  var key: ArchiveKey { place.key }
  var now: CacheTime { configuration.now() }
  var isHead: Bool { asked.method == .head }

  /// The load as it goes on behind a response that was given.
  var inBackground: ArchiveLoad {
    var load = self
    load.isInBackground = true
    return load
  }

  func decide(_ stored: [Stored], _ now: CacheTime) -> CacheDecision {
    policy.decide(asked, records: stored.map(\.record), now: now, options: options)
  }

  // MARK: What is stored

  /// What is stored under the request's own key, and under those that it shares with other URLs (`No-Vary-Search`);
  /// `nil` where that is not known without waiting.
  func cached() -> [StoredEntry]? {
    guard var entries = store.cached(key) else { return nil }
    guard let said = place.variancesKey else { return entries }
    guard let variances = store.cached(said) else { return nil }
    for variance in SearchVariances.decoded(variances) {
      guard let key = place.key(under: variance), let shared = store.cached(key) else { return nil }
      entries += shared.filter { says(variance, $0) }
    }
    return entries
  }

  /// The same, from the disk where it has to be.
  func entries() async throws -> [StoredEntry] {
    var entries = try await store.entries(for: key)
    for variance in try await variances() {
      guard let key = place.key(under: variance) else { continue }
      entries += try await store.entries(for: key).filter { says(variance, $0) }
    }
    return entries
  }

  func variances() async throws -> [NoVarySearch] {
    guard let key = place.variancesKey else { return [] }
    return SearchVariances.decoded(try await store.entries(for: key))
  }

  /// Whether an entry excuses what its key says: the origin may have changed its mind since it was stored.
  private func says(_ variance: NoVarySearch, _ entry: StoredEntry) -> Bool {
    engine.records.record(of: entry).flatMap { NoVarySearch($0.fields) } == variance
  }

  /// The entries that can be understood: their heads say what their bodies are.
  func understood(_ entries: [StoredEntry]) -> [Stored] {
    entries.compactMap { entry in
      guard let record = engine.records.record(of: entry) else {
        // It cannot be told any more whose it is.
        if CacheRecord.isOutdated(entry.head) { store.remove([entry.id]) }
        return nil
      }
      guard record.describes(bodyLength: entry.bodyLength) else { return nil }
      return Stored(entry: entry, record: record)
    }
  }

  // MARK: Inside the loading system's call

  /// The response, where neither a disk nor the network is needed. Neither blocks nor waits.
  func respondAtOnce() throws -> InterceptedResponse? {
    guard let entries = cached() else { return nil }
    let stored = understood(entries)
    let now = now
    let decision = decide(stored, now)
    switch decision.action {
    case .serve(let reply):
      guard let body = bodyAtOnce(reply, stored[reply.index]) else { return nil }
      return respond(reply, stored[reply.index].record, body, decision, now, of: stored[reply.index].entry.id)
    case .gatewayTimeout, .unavailable:
      guard challengeAnswers.isEmpty else { return nil }
      guard decision.action == .gatewayTimeout else { throw unavailable(decision) }
      return gatewayTimeout(decision)
    // Who revalidates needs the rest of the chain.
    case .forward, .serveAndRevalidate: return nil
    }
  }

  // MARK: Giving what is stored

  /// A stored response, after its body was found readable.
  ///
  /// - Throws: Why the body cannot be read. The entry goes when what was read is not what was stored, and only then.
  func give(
    _ reply: CacheReply, of stored: Stored, _ decision: CacheDecision, _ now: CacheTime, wasValidated: Bool = false,
    wasCollapsed: Bool = false, reason: ArchiveReason? = nil
  ) async throws -> InterceptedResponse {
    var body = MessageBody.empty
    if let range = bytes(of: reply, in: stored) {
      do {
        body = try await stored.entry.body(in: range) { couldNotRead(stored, $0) }
      } catch {
        try Task.checkCancellation()
        couldNotRead(stored, error)
        throw error
      }
    }
    return respond(
      reply, stored.record, body, decision, now, of: stored.entry.id, wasValidated: wasValidated,
      wasCollapsed: wasCollapsed, reason: reason)
  }

  /// Says so, and removes what is damaged, so that the next load does not find it.
  private func couldNotRead(_ stored: Stored, _ error: any Error) {
    engine.reporter.report(event(.storeFailed, reason: "a stored body could not be read: \(error.redacted)"))
    if error.provesDamage { store.remove([stored.entry.id]) }
  }

  private func bodyAtOnce(_ reply: CacheReply, _ stored: Stored) -> MessageBody? {
    guard let range = bytes(of: reply, in: stored) else { return .empty }
    guard let data = stored.entry.contents.inMemory, range.lowerBound >= 0, range.upperBound <= Int64(data.count) else {
      return nil
    }
    guard range.count < data.count else { return .data(data) }
    return .data(data[data.startIndex + Int(range.lowerBound)..<data.startIndex + Int(range.upperBound)])
  }

  /// The bytes of a stored body that a response consists of; `nil` for a response without a body.
  private func bytes(of reply: CacheReply, in stored: Stored) -> Range<Int64>? {
    guard !isHead else { return nil }
    switch reply.form {
    case .whole: return 0..<max(0, stored.entry.bodyLength)
    case .range(let range):
      // Neither is negative: records with such extents are none.
      let start = stored.record.extent?.lowerBound ?? 0
      return range.lowerBound - start..<range.upperBound - start
    case .notModified, .unsatisfiableRange: return nil
    }
  }
}

extension ArchiveLoad {
  func event(
    _ kind: OpenEnum<ArchiveEvent>, reason: String? = nil, bytes: Int64? = nil, age: Duration? = nil
  ) -> ArchiveEvent {
    ArchiveEvent(kind, load: request.id, url: url, reason: reason, bytes: bytes, age: age)
  }

  /// A response out of the archive.
  func respond(
    _ reply: CacheReply, _ record: CacheRecord, _ body: MessageBody, _ decision: CacheDecision, _ now: CacheTime,
    of id: EntryID? = nil, wasValidated: Bool = false, wasCollapsed: Bool = false, reason: ArchiveReason? = nil
  ) -> InterceptedResponse {
    let reason = reason ?? decision.reason
    let head = policy.head(of: reply, record: record, now: now, isValidated: wasValidated)
    var fields = head.fields
    if record.flags.contains(.hadCookies), let id, !fields.contains(where: { $0.name.setsCookie }) {
      for field in engine.cookies.fields(of: id, for: request.context) { fields.append(field) }
    }
    let isMarked = reply.isStale
    outcome?.note(.present)
    var response = InterceptedResponse(
      status: HTTPResponse.Status(code: head.status), fields: fields, url: url, body: body,
      source: isMarked ? .staleArchive : .archive)
    if configuration.statusField == .always || isMarked && configuration.statusField == .whenStale {
      var status = CacheStatus(cache: configuration.name)
      status.isHit = !wasValidated && !wasCollapsed
      status.timeToLive = record.lifetime.saturating(subtracting: record.age(at: now) / 1000)
      status.isCollapsed = wasCollapsed
      if wasValidated {
        status.forwarded = decision.reason.code
        status.forwardedStatus = decision.isCompleting ? 206 : 304
      } else if wasCollapsed {
        status.forwarded = .miss
      }
      if isMarked { status.detail = reason.code.rawValue }
      add(status, to: &response)
    }
    let kind: OpenEnum<ArchiveEvent> =
      isInBackground
      ? .revalidatedInBackground : wasCollapsed ? .collapsed : wasValidated ? .revalidated : isMarked ? .staleHit : .hit
    if !isInBackground || wasValidated {
      engine.reporter.report(kind, bytes: body.length) {
        event(kind, reason: reason.description, bytes: body.length, age: .milliseconds(record.age(at: now)))
      }
    }
    return response
  }

  /// Adds our member to `Cache-Status`, behind those of caches nearer to the origin (RFC 9211, section 2).
  func add(_ status: CacheStatus, to response: inout InterceptedResponse) {
    let before = response.fields[StructuredFields.cacheStatus].map { $0 + ", " } ?? ""
    response.fields[StructuredFields.cacheStatus] = before + status.description
  }

  /// The response to `only-if-cached` that nothing stored can give (RFC 9111, section 5.2.1.7).
  func gatewayTimeout(_ decision: CacheDecision) -> InterceptedResponse {
    engine.reporter.report(event(.unavailable, reason: decision.reason.description))
    return InterceptedResponse(to: request, status: .gatewayTimeout, fields: [.contentLength: "0"], source: .archive)
  }

  /// The error of a miss in a mode, or under a policy, that keeps the request from the network.
  ///
  /// - Parameter failure: Why what is stored could not be read, where that was it.
  func unavailable(_ decision: CacheDecision, _ failure: (any Error)? = nil) -> URLError {
    engine.reporter.report(event(.unavailable, reason: decision.reason.description))
    let what = options.mode.allowsNetwork ? "the request's cachePolicy" : "the archive's mode, \(options.mode),"
    if let failure {
      return ArchiveError(
        .readFailed, "\(what) allows no network, and the stored response could not be read: try again.", url: url,
        requestID: request.id, underlying: failure
      ).urlError()
    }
    return ArchiveError(
      .notStored,
      "\(what) allows no network, and nothing stored answers the request (\(decision.reason)): load it once while "
        + "online.", url: url, requestID: request.id
    ).urlError()
  }
}

extension CacheRequest {
  /// Reads a request, without some of its fields.
  init(_ request: InterceptedRequest, ignoring ignored: Set<String> = []) {
    let fields =
      ignored.isEmpty ? request.fields : HTTPFields(request.fields.filter { !ignored.contains($0.name.canonicalName) })
    self.init(
      method: request.method.rawValue, url: request.url, fields: fields, cachePolicy: request.options.cachePolicy)
    isRetry = request.attempt > 1
    hasBody = !request.body.isEmpty
  }
}

/// The records of entries that were looked at lately, so that a hit takes no head apart.
///
/// Two generations: when the young one is full, by entries or by bytes, the old one is forgotten and the young one
/// grows old. A head is as large as a server makes it, so their number alone bounds nothing.
final class RecordCache: Sendable {
  private struct Known {
    let head: [UInt8]
    let record: CacheRecord

    /// What it takes, roughly: the head, and the fields of the record that was made of it.
    static func cost(of head: [UInt8]) -> Int { head.count * 3 + 512 }
  }

  private struct State {
    var young: [EntryID: Known] = [:]
    var old: [EntryID: Known] = [:]
    /// The bytes of the young generation.
    var bytes = 0
    var oldBytes = 0
  }

  private let state = Locked(State())
  private let generation: Int
  private let generationBytes: Int

  /// - Parameters:
  ///   - generation: The entries of one generation.
  ///   - bytes: The bytes of one generation.
  init(generation: Int = 1024, bytes: Int = 2 << 20) {
    self.generation = generation
    generationBytes = bytes
  }

  /// The bytes that are held, roughly.
  var bytes: Int { state.withLock { $0.bytes + $0.oldBytes } }

  /// The record in an entry's head; `nil` when it is of another version, or no record.
  func record(of entry: StoredEntry) -> CacheRecord? {
    let known = state.withLock { state in state.young[entry.id] ?? state.old[entry.id] }
    // Identical arrays, which is what a store gives out, compare by reference.
    if let known, known.head == entry.head { return known.record }
    guard let record = CacheRecord(decoding: entry.head) else { return nil }
    keep(record, head: entry.head, of: entry.id)
    return record
  }

  /// Remembers what was just put into an entry's head.
  func keep(_ record: CacheRecord, head: [UInt8], of id: EntryID) {
    let cost = Known.cost(of: head)
    // What would push everything else out is read again each time.
    guard cost <= generationBytes / 4 else { return }
    state.withLock { state in
      if state.young.count >= generation || state.bytes + cost > generationBytes {
        (state.old, state.oldBytes) = (state.young, state.bytes)
        (state.young, state.bytes) = ([:], 0)
      }
      if let before = state.young.updateValue(Known(head: head, record: record), forKey: id) {
        state.bytes -= Known.cost(of: before.head)
      }
      state.bytes += cost
    }
  }
}
