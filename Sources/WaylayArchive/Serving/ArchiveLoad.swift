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
  /// The request's body, if it is part of the key.
  let body: Data?
  /// ``ArchiveStore/moment`` before the first lookup of the load.
  private(set) var decided: Int64 = 0
  /// Whether the load runs in the background, after its response was served.
  var isInBackground = false
  /// Receives the result, if the archive itself requested the load.
  var outcome: LoadOutcome?
  /// Whether the load looks up responses under the credentials for a challenge.
  var isAfterChallenge = false

  /// An entry with its decoded head.
  struct Stored: Sendable {
    var entry: StoredEntry
    var record: CacheRecord
  }

  /// Makes a load whose key needs no waiting; `nil` if the body has to be read first.
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

  /// Makes a load, after reading the body if it is part of the key.
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
    // With a partition, cookies need not identify the user.
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

  /// A copy of the load for background work.
  var inBackground: ArchiveLoad {
    var load = self
    load.isInBackground = true
    return load
  }

  /// A copy of the load that records the current ``ArchiveStore/moment``, or the one of the archive's own request.
  var decidedNow: ArchiveLoad {
    var load = self
    load.decided = outcome?.decided ?? store.moment
    return load
  }

  func decide(_ stored: [Stored], _ now: CacheTime) -> CacheDecision {
    policy.decide(asked, records: stored.map(\.record), now: now, options: options)
  }

  // MARK: Lookup

  /// The entries under the request's own key and the keys shared with other URLs (`No-Vary-Search`); `nil` if the
  /// lookup needs the disk.
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

  /// The same entries, from the disk if necessary.
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

  /// Whether the entry still has the `No-Vary-Search` value of its key: the origin may have changed the value since.
  private func says(_ variance: NoVarySearch, _ entry: StoredEntry) -> Bool {
    engine.records.record(of: entry).flatMap { NoVarySearch($0.fields) } == variance
  }

  /// The entries with valid heads that match their bodies.
  func understood(_ entries: [StoredEntry]) -> [Stored] {
    entries.compactMap { entry in
      guard let record = engine.records.record(of: entry) else {
        // The old version lacks the data that identifies the user.
        if CacheRecord.isOutdated(entry.head) { store.remove([entry.id]) }
        return nil
      }
      guard record.describes(bodyLength: entry.bodyLength) else { return nil }
      return Stored(entry: entry, record: record)
    }
  }

  // MARK: Inside the loading system's call

  /// The response, if neither the disk nor the network is needed. Never blocks or suspends.
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
    // A revalidation needs the rest of the chain.
    case .forward, .serveAndRevalidate: return nil
    }
  }

  // MARK: Serving stored responses

  /// A stored response, after a check that its body is readable.
  ///
  /// - Throws: The reason why the body cannot be read. Only a damaged entry is removed.
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

  /// Reports a read failure, and removes a damaged entry, so that the next load does not find it.
  private func couldNotRead(_ stored: Stored, _ error: any Error) {
    engine.reporter.report(event(.storeFailed, reason: "a stored body could not be read: \(error.redacted)"))
    if error.provesDamage { store.remove([stored.entry.id]) }
  }

  private func bodyAtOnce(_ reply: CacheReply, _ stored: Stored) -> MessageBody? {
    guard let range = bytes(of: reply, in: stored) else { return .empty }
    return stored.entry.contents.inMemory?.part(range).map { .data($0) }
  }

  /// The byte range of the stored body for a reply; `nil` for a reply without a body.
  private func bytes(of reply: CacheReply, in stored: Stored) -> Range<Int64>? {
    guard !isHead else { return nil }
    switch reply.form {
    case .whole: return 0..<max(0, stored.entry.bodyLength)
    case .range(let range):
      // Both are non-negative: decoding rejects records with negative extents.
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

  /// Makes a response from a stored one.
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
      wasCollapsed ? .collapsed : wasValidated ? .revalidated : isMarked ? .staleHit : .hit
    if !isInBackground {
      engine.reporter.report(kind, bytes: body.length) {
        event(kind, reason: reason.description, bytes: body.length, age: .milliseconds(record.age(at: now)))
      }
    }
    return response
  }

  /// Adds this archive's member to `Cache-Status`, after those of caches nearer to the origin (RFC 9211, section 2).
  func add(_ status: CacheStatus, to response: inout InterceptedResponse) {
    let before = response.fields[StructuredFields.cacheStatus].map { $0 + ", " } ?? ""
    response.fields[StructuredFields.cacheStatus] = before + status.description
  }

  /// The response to `only-if-cached` without a usable stored response (RFC 9111, section 5.2.1.7).
  func gatewayTimeout(_ decision: CacheDecision) -> InterceptedResponse {
    engine.reporter.report(event(.unavailable, reason: decision.reason.description))
    return InterceptedResponse(to: request, status: .gatewayTimeout, fields: [.contentLength: "0"], source: .archive)
  }

  /// The error of a miss if the mode or the cache policy forbids the network.
  ///
  /// - Parameter failure: The error that made stored responses unreadable, if any.
  func unavailable(_ decision: CacheDecision, _ failure: (any Error)? = nil) -> URLError {
    engine.reporter.report(event(.unavailable, reason: decision.reason.description))
    let what = options.mode.allowsNetwork ? "the request's cachePolicy" : "the archive's mode, \(options.mode),"
    if let failure {
      return ArchiveError(
        .readFailed, "the stored response could not be read, and \(what) allows no network: try again.", url: url,
        requestID: request.id, underlying: failure
      ).urlError()
    }
    return ArchiveError(
      .notStored,
      "no response is stored for this request (\(decision.reason)), and \(what) allows no network: load it once while "
        + "online.", url: url, requestID: request.id
    ).urlError()
  }
}

extension CacheRequest {
  /// Makes a cache request, without the ignored fields.
  init(_ request: InterceptedRequest, ignoring ignored: Set<String> = []) {
    let fields =
      ignored.isEmpty ? request.fields : HTTPFields(request.fields.filter { !ignored.contains($0.name.canonicalName) })
    self.init(
      method: request.method.rawValue, url: request.url, fields: fields, cachePolicy: request.options.cachePolicy)
    isRetry = request.attempt > 1
    hasBody = !request.body.isEmpty
  }
}

/// A cache of decoded records, so that a hit decodes no head.
///
/// It has two generations: when the young one reaches its limit of entries or bytes, it becomes the old one, and the
/// old one is dropped. Bytes are limited too, because servers determine the size of a head.
final class RecordCache: Sendable {
  private struct Known {
    let head: [UInt8]
    let record: CacheRecord

    /// The approximate size in memory: the head, and the fields of its record.
    static func cost(of head: [UInt8]) -> Int { head.count * 3 + 512 }
  }

  private struct State {
    var young: [EntryID: Known] = [:]
    var old: [EntryID: Known] = [:]
    /// The size of the young generation.
    var bytes = 0
    var oldBytes = 0
  }

  private let state = Locked(State())
  private let generation: Int
  private let generationBytes: Int

  /// - Parameters:
  ///   - generation: The maximum number of entries in a generation.
  ///   - bytes: The maximum size of a generation.
  init(generation: Int = 1024, bytes: Int = 2 << 20) {
    self.generation = generation
    generationBytes = bytes
  }

  /// The approximate size in memory.
  var bytes: Int { state.withLock { $0.bytes + $0.oldBytes } }

  /// The record in an entry's head; `nil` if it is invalid or of another version.
  func record(of entry: StoredEntry) -> CacheRecord? {
    let known = state.withLock { state in state.young[entry.id] ?? state.old[entry.id] }
    // Comparing the arrays is fast: a store returns the same storage, which compares by identity.
    if let known, known.head == entry.head { return known.record }
    guard let record = CacheRecord(decoding: entry.head) else { return nil }
    keep(record, head: entry.head, of: entry.id)
    return record
  }

  /// Caches the record of a head that was just written.
  func keep(_ record: CacheRecord, head: [UInt8], of id: EntryID) {
    let cost = Known.cost(of: head)
    // Do not cache a head so large that it would displace the rest.
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
