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
  /// Whether the load goes on behind an answer that was given.
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
    _ store: any ArchiveStore,
    _ next: InterceptorChain.Next
  ) {
    self.engine = engine
    self.store = store
    self.request = request
    url = request.url
    self.next = next
    outcome = LoadOutcome.current(of: engine)
    let configuration = engine.configuration
    self.body = body
    place = RequestKey(request, body: body, challenge: request[AnsweredChallengeKey.self], configuration) {
      store.digest($0)
    }
    asked = CacheRequest(request, ignoring: place.ignoredHeaders)
    // Fixtures are nobody's, and whoever the app has named needs no guess.
    if !place.isAttributed, mode != .record, mode != .replayOnly {
      asked.userCookies = configuration.userCookies
      if !place.ignoredHeaders.isEmpty { asked.cookie = request.fields[.cookie] }
    }
    options = CacheOptions(mode: mode, isKeyedByBody: body != nil)
    var policy = ArchivePolicy { store.digest($0) }
    policy.isShared = configuration.isShared
    policy.staleWhenUnreachable = configuration.servesStaleWhenUnreachable
    self.policy = policy
  }

  var configuration: ArchiveCache.Configuration { engine.configuration }
  var key: ArchiveKey { place.key }
  var now: CacheTime { configuration.now() }
  var isHead: Bool { asked.method == .head }

  func decide(_ stored: [Stored], _ now: CacheTime) -> CacheDecision {
    policy.decide(asked, records: stored.map(\.record), now: now, options: options)
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

  /// The answer, where neither a disk nor the network is needed. Neither blocks nor waits.
  func answerAtOnce() throws -> InterceptedResponse? {
    guard let entries = store.cached(key) else { return nil }
    let stored = understood(entries)
    let now = now
    let decision = decide(stored, now)
    switch decision.action {
    case .serve(let answer):
      guard let body = bodyAtOnce(answer, stored[answer.index]) else { return nil }
      return respond(answer, stored[answer.index].record, body, decision, now, of: stored[answer.index].entry.id)
    case .gatewayTimeout, .unavailable:
      guard challengeAnswers.isEmpty else { return nil }
      guard decision.action == .gatewayTimeout else { throw unavailable(decision) }
      return gatewayTimeout(decision)
    // Who revalidates needs the rest of the chain.
    case .forward, .serveAndRevalidate: return nil
    }
  }

  private func bodyAtOnce(_ answer: CacheAnswer, _ stored: Stored) -> MessageBody? {
    guard let range = bytes(of: answer, in: stored) else { return .empty }
    guard let data = stored.entry.contents.inMemory, range.lowerBound >= 0, range.upperBound <= Int64(data.count) else {
      return nil
    }
    guard range.count < data.count else { return .data(data) }
    return .data(data[data.startIndex + Int(range.lowerBound)..<data.startIndex + Int(range.upperBound)])
  }

  /// The bytes of a stored body that an answer consists of; `nil` for an answer without a body.
  func bytes(of answer: CacheAnswer, in stored: Stored) -> Range<Int64>? {
    guard !isHead else { return nil }
    switch answer.form {
    case .whole: return 0..<max(0, stored.entry.bodyLength)
    case .range(let range):
      // Neither is negative: records with such extents are none.
      let start = stored.record.extent?.lowerBound ?? 0
      return range.lowerBound - start..<range.upperBound - start
    case .notModified, .unsatisfiableRange: return nil
    }
  }

  // MARK: Anywhere else

  /// The answer: from what is stored, from another load that is under way, or from the network.
  func run() async throws -> InterceptedResponse {
    var mayCollapse = configuration.collapses && collapses
    var wasCollapsed = false
    // What could not be read for now, and why.
    var unread: (ids: Set<EntryID>, error: (any Error)?) = ([], nil)
    while true {
      let stored = try await lookUp(&unread.error).filter { !unread.ids.contains($0.entry.id) }
      let now = now
      let decision = decide(stored, now)
      switch decision.action {
      case .serve(let answer), .serveAndRevalidate(let answer):
        guard let body = try await readBody(of: answer, stored[answer.index], &unread.error) else {
          unread.ids.insert(stored[answer.index].entry.id)
          continue
        }
        if case .serveAndRevalidate = decision.action { revalidateInBackground(decision, stored) }
        return respond(
          answer, stored[answer.index].record, body, decision, now, of: stored[answer.index].entry.id,
          wasCollapsed: wasCollapsed)
      case .gatewayTimeout: return await afterChallenge() ?? gatewayTimeout(decision)
      case .unavailable:
        if let response = await afterChallenge() { return response }
        throw unavailable(decision, unread.error)
      case .forward: break
      }
      if wasCollapsed { engine.reporter.report(event(.released, reason: "the other load's answer may not be reused")) }
      guard mayCollapse else { return try await exchange(decision, stored) { try await next($0) } }
      switch engine.flights.join(flightKey) {
      case .lead(let flight):
        // Whoever led before may have ended since we looked.
        if let entries = store.cached(key),
          isServable(decide(understood(entries).filter { !unread.ids.contains($0.entry.id) }, now))
        {
          engine.flights.end(flight, for: flightKey)
          flight.settle(.stored)
          continue
        }
        return try await lead(flight, decision, stored)
      case .follow(let flight):
        let outcome: Flight.Outcome
        switch try await patiently(decision, stored, { try await flight.outcome() }) {
        case .value(let value): outcome = value
        case .late(let stale, let waiting):
          waiting.cancel()
          return stale
        }
        switch outcome {
        case .handedOver: continue
        case .stored: wasCollapsed = true
        case .streaming(let record, let shared):
          if let response = join(record, shared) { return response }
          engine.reporter.report(event(.released, reason: "the other load's answer is not for this request"))
        case .notShared(let reason): engine.reporter.report(event(.released, reason: reason))
        case .originFailed:
          let failure = TransportError(
            .badServerResponse, phase: .receiving, message: "the origin answers with errors.")
          if let stale = try? await unreachable(failure, decision, stored) { return stale }
          try Task.checkCancellation()
        case .failed(let error): return try await unreachable(error, decision, stored)
        }
        mayCollapse = false
      }
    }
  }

  /// Whether this load may wait for another one's answer.
  private var collapses: Bool {
    guard asked.method == .get || options.isKeyedByBody, options.mode == .online || options.mode == .preferArchive
    else { return false }
    // What asks for something newer than what is under way, or for a part of it, goes by itself.
    guard !request.fields.contains(where: { Self.individual.contains($0.name.canonicalName) }) else { return false }
    return request.options.cachePolicy == .useProtocolCachePolicy
      || request.options.cachePolicy == .returnCacheDataElseLoad
  }

  private static let individual: Set<String> = [
    "range", "if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "cache-control", "pragma",
  ]

  private func isServable(_ decision: CacheDecision) -> Bool {
    switch decision.action {
    case .serve, .serveAndRevalidate: true
    default: false
    }
  }

  /// Goes to the network for all who wait.
  private func lead(_ flight: Flight, _ decision: CacheDecision, _ stored: [Stored]) async throws -> InterceptedResponse
  {
    do {
      let response = try await exchange(decision, stored, flight) { try await next($0) }
      flight.settle(.notShared("the other load's answer may not be shared"))
      if !flight.isStreaming { engine.flights.end(flight, for: flightKey) }
      return response
    } catch {
      engine.flights.end(flight, for: flightKey)
      flight.settle(Task.isCancelled || error is CancellationError ? .handedOver : .failed(error))
      throw error
    }
  }

  /// The answer that another load is receiving, where it is one for this request too.
  private func join(_ record: CacheRecord, _ shared: SharedBody) -> InterceptedResponse? {
    let now = now
    let decision = policy.decide(asked, records: [record], now: now, options: options)
    guard case .serve(let answer) = decision.action, answer.form == .whole, let body = shared.body() else { return nil }
    return respond(answer, record, body, decision, now, wasCollapsed: true)
  }

  /// What is stored, as far as it can be read.
  private func lookUp(_ failure: inout (any Error)?) async throws -> [Stored] {
    do {
      return understood(try await store.entries(for: key))
    } catch {
      try Task.checkCancellation()
      engine.reporter.report(event(.storeFailed, reason: "the archive could not be read: \(error.redacted)"))
      failure = error
      return []
    }
  }

  /// The body of an answer; `nil` when it cannot be read. The entry goes when what was read is not what was stored, and
  /// only then.
  private func readBody(
    of answer: CacheAnswer, _ stored: Stored, _ failure: inout (any Error)?
  ) async throws -> MessageBody? {
    guard let range = bytes(of: answer, in: stored) else { return .empty }
    do {
      return try await stored.entry.body(in: range)
    } catch {
      try Task.checkCancellation()
      engine.reporter.report(event(.storeFailed, reason: "a stored body could not be read: \(error.redacted)"))
      if error.provesDamage { store.remove([stored.entry.id]) } else { failure = error }
      return nil
    }
  }
}

extension Error {
  /// Whether it says that what was read is not what was stored, rather than that the system could not read.
  var provesDamage: Bool { (self as? ArchiveError)?.code == .unreadable }
}
