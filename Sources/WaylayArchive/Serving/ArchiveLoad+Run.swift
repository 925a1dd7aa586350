import Foundation
import HTTPTypes

/// Loads that need the disk, another load or the network.
extension ArchiveLoad {
  /// The response: from what is stored, from another load that is under way, or from the network.
  func run() async throws -> InterceptedResponse {
    // The values that the request has for the fields of a Vary, once one is known.
    var variant: RequestDigest?
    var mayCollapse = configuration.collapses && collapses
    var wasCollapsed = false
    // What could not be read for now, and why.
    var unread: (ids: Set<EntryID>, error: (any Error)?) = ([], nil)
    while true {
      let stored = try await lookUp(&unread.error).filter { !unread.ids.contains($0.entry.id) }
      let now = now
      let decision = decide(stored, now)
      switch decision.action {
      case .serve(let reply), .serveAndRevalidate(let reply):
        let response: InterceptedResponse
        do {
          response = try await give(reply, of: stored[reply.index], decision, now, wasCollapsed: wasCollapsed)
        } catch {
          try Task.checkCancellation()
          unread.ids.insert(stored[reply.index].entry.id)
          if !error.provesDamage { unread.error = error }
          continue
        }
        if case .serveAndRevalidate = decision.action { revalidateInBackground(decision, stored) }
        return response
      case .gatewayTimeout: return await afterChallenge() ?? gatewayTimeout(decision)
      case .unavailable:
        if let response = await afterChallenge() { return response }
        throw unavailable(decision, unread.error)
      case .forward: break
      }
      if wasCollapsed {
        engine.reporter.report(event(.released, reason: "the other load's response may not be reused"))
      }
      // Of several variants, those who want the same one wait for it.
      if let newest = stored.last(where: { $0.record.vary != .nothing }), let digest = digest(newest.record) {
        mayCollapse = mayCollapse || wasCollapsed && variant == nil && decision.reason.code == .varyMiss
        variant = digest
      }
      let role = mayCollapse ? engine.flights.join(flightKey(variant), now) : .alone
      switch role {
      case .alone: return try await exchange(OriginExchange(decision: decision, stored: stored) { try await next($0) })
      case .lead(let flight):
        // The previous leader may have ended since we looked.
        if let entries = cached(),
          decide(understood(entries).filter { !unread.ids.contains($0.entry.id) }, now).reply != nil
        {
          engine.flights.end(flight)
          flight.settle(.stored)
          continue
        }
        return try await lead(flight, decision, stored)
      case .follow(let flight):
        let outcome: Flight.Outcome
        switch try await withinNetworkTimeout(decision, stored, { try await flight.outcome() }) {
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
          if variant == nil, let digest = digest(record), !record.requests.contains(digest) {
            variant = digest
            continue
          }
          engine.reporter.report(event(.released, reason: "the other load's response is not for this request"))
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

  /// Whether this load may wait for another one's response.
  private var collapses: Bool {
    guard asked.method == .get && !asked.hasBody || options.isKeyedByBody,
      options.mode == .online || options.mode == .preferArchive
    else { return false }
    // What asks for something newer than what is under way, or for a part of it, goes by itself.
    guard !request.fields.contains(where: { Self.individual.contains($0.name.canonicalName) }) else { return false }
    return request.options.cachePolicy == .useProtocolCachePolicy
      || request.options.cachePolicy == .returnCacheDataElseLoad
  }

  private static let individual: Set<String> = [
    "range", "if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "cache-control", "pragma",
  ]

  /// Goes to the network for all who wait.
  private func lead(_ flight: Flight, _ decision: CacheDecision, _ stored: [Stored]) async throws -> InterceptedResponse
  {
    do {
      let response = try await exchange(
        OriginExchange(decision: decision, stored: stored, flight: flight) { try await next($0) })
      flight.settle(.notShared("the other load's response may not be shared"))
      if !flight.isStreaming { engine.flights.end(flight) }
      return response
    } catch {
      engine.flights.end(flight)
      flight.settle(Task.isCancelled || error is CancellationError ? .handedOver : .failed(error))
      throw error
    }
  }

  /// Notes whether those who wait for equal loads can have their responses: where they cannot, waiting only costs time.
  func noteSharing(_ judged: Judgement) {
    guard configuration.collapses, collapses, !isInBackground else { return }
    var record = judged.outcome.replyRecord
    switch judged.outcome.reply {
    case .stored(let reply) where record == nil || reply.isStale: return
    case .joined, .again: return
    case .stored, .network:
      if case .new(let new) = judged.outcome.storing, judged.draft?.refusal == nil { record = new }
      if case .join = judged.outcome.storing { return }
    }
    let now = now
    let isShared = record.flatMap { policy.decide(asked, records: [$0], now: now, options: options).reply } != nil
    engine.flights.note(flightKey(nil), isShared: isShared, now)
  }

  /// The response that another load is receiving, where it is one for this request too.
  private func join(_ record: CacheRecord, _ shared: SharedBody) -> InterceptedResponse? {
    let now = now
    let decision = policy.decide(asked, records: [record], now: now, options: options)
    guard case .serve(let reply) = decision.action, reply.form == .whole, let body = shared.body() else { return nil }
    return respond(reply, record, body, decision, now, wasCollapsed: true)
  }

  /// What is stored, as far as it can be read.
  private func lookUp(_ failure: inout (any Error)?) async throws -> [Stored] {
    do {
      return understood(try await entries())
    } catch {
      try Task.checkCancellation()
      engine.reporter.report(event(.storeFailed, reason: "the archive could not be read: \(error.redacted)"))
      failure = error
      return []
    }
  }

  /// The origin cannot be reached: something stale, where that is allowed, or the error.
  ///
  /// What an interceptor behind the archive throws for reasons of its own says nothing of the origin, and is not hidden
  /// behind something stale.
  func unreachable(
    _ error: any Error, _ decision: CacheDecision, _ stored: [Stored]
  ) async throws -> InterceptedResponse {
    let now = now
    guard error.isNetworkFailure,
      let failure = policy.fail(for: asked, decision, records: stored.map(\.record), now: now, options: options)
    else {
      if error.isNetworkFailure, let response = await afterChallenge(error) { return response }
      throw error
    }
    guard
      let response = try? await give(
        failure.reply, of: stored[failure.reply.index], decision, now, reason: failure.reason)
    else { throw error }
    return response
  }
}

extension Error {
  /// Whether it says that what was read is not what was stored, rather than that the system could not read.
  var provesDamage: Bool { (self as? ArchiveError)?.code == .unreadable }
}

extension Error {
  /// Whether the origin could not be reached, or did not answer as HTTP asks; what an interceptor throws for reasons of
  /// its own is none.
  fileprivate var isNetworkFailure: Bool {
    (self as? any LoadError)?.isNetworkFailure ?? (self as? URLError)?.isNetworkFailure ?? false
  }
}

/// How long the network may be silent before something stale is given in its place (RFC 9111, section 4.2.4; RFC 5861,
/// section 4).
///
/// The load's own timeout cannot do it: it runs round the whole chain, and ends the load with whatever was about to
/// answer it.
extension ArchiveLoad {
  /// What came of waiting.
  enum Waited<Value: Sendable>: Sendable {
    case value(Value)
    /// Something stale, and the work, which goes on.
    case late(InterceptedResponse, TimedWork<Value>)
  }

  /// Waits for `work`; when that is silent for too long and something stale may be given, gives that.
  ///
  /// Where nothing stored may stand in for the response, the request's own timeout counts, as without an archive.
  func withinNetworkTimeout<Value: Sendable>(
    _ decision: CacheDecision, _ stored: [Stored], _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Waited<Value> {
    guard let limit = networkTimeout(decision, stored) else { return .value(try await work()) }
    let pending = TimedWork<Value>()
    pending.start(work)
    let clock = configuration.clock
    let (deadline, isNever) = clock.now().addingReportingOverflow(limit)
    clock.schedule(isNever ? .max : deadline) { [weak pending] in pending?.becomeLate() }
    if let value = try await pending.outcome() { return .value(value) }
    do {
      let silence = TransportError(
        .timedOut, phase: .receiving, message: "nothing came within the archive's network timeout.")
      return .late(try await unreachable(silence, decision, stored), pending)
    } catch {
      // Too stale by now, or it cannot be read: then the network is all there is.
      guard let value = try await pending.outcome(evenLate: true) else { throw CancellationError() }
      return .value(value)
    }
  }

  /// The nanoseconds of ``ArchiveCache/Configuration/networkTimeout``, and no more than half of the request's own
  /// timeout, which would end the load; `nil` where nothing stale could be given.
  private func networkTimeout(_ decision: CacheDecision, _ stored: [Stored]) -> UInt64? {
    guard !isInBackground, decision.selected != nil,
      policy.fail(for: asked, decision, records: stored.map(\.record), now: now, options: options) != nil
    else { return nil }
    var seconds = configuration.networkTimeoutFor?(request.urlRequest, options.mode) ?? configuration.networkTimeout
    for timeout in [request.idleTimeout, request.context.resourceTimeout] where timeout > 0 {
      seconds = min(seconds, timeout / 2)
    }
    // No number, and more than thirty years, are no limit.
    guard seconds < 1e9 else { return nil }
    return UInt64(max(0, seconds) * 1e9)
  }

  /// Has a response that nobody waits for any more stored when it comes after all: an origin that is always slower than
  /// the network timeout would otherwise never be used again.
  func receiveInBackground(
    _ pending: TimedWork<InterceptedResponse>, _ sent: Sent, _ decision: CacheDecision, _ stored: [Stored]
  ) {
    let load = inBackground
    let exchange = OriginExchange(decision: decision, stored: stored) { try await load.sendInBackground($0) }
    let isTaken = engine.background.start(key, giveUpAfter: configuration.backgroundTimeout, on: configuration.clock) {
      do {
        guard let response = try await pending.outcome(evenLate: true) else { return }
        let rest = try await load.received(response, sent, exchange)
        for try await _ in rest.body {}
      } catch {
        pending.cancel()
        load.reportBackgroundFailure(error)
      }
    }
    if !isTaken { pending.cancel() }
  }

  /// The way out for what goes on behind a response.
  func sendInBackground(_ outgoing: InterceptedRequest) async throws -> InterceptedResponse {
    var outgoing = outgoing
    // Nobody watches over the load any more: another timeout than its own has the transport do it.
    outgoing.options.timeout = configuration.backgroundTimeout
    return try await next.inBackground(outgoing)
  }

  func reportBackgroundFailure(_ error: any Error) {
    engine.reporter.report(event(.storeFailed, reason: "a revalidation in the background failed: \(error.redacted)"))
  }
}

/// Whose responses a load may give and take.
extension ArchiveLoad {
  /// What equal loads have in common, their user included.
  func flightKey(_ variant: RequestDigest?) -> FlightKey {
    FlightKey(key: key, user: policy.user(of: asked), attempt: request.attempt, variant: variant)
  }

  /// What the request has for the fields that a response's `Vary` names; `nil` where that names none.
  private func digest(_ record: CacheRecord) -> RequestDigest? {
    guard case .fields(let names) = record.vary else { return nil }
    return asked.digest(of: names, policy.digest)
  }

  // MARK: Cookies

  /// The record as it is stored: what `Set-Cookie` carries is a credential, and never goes to a store.
  func withoutCookies(_ record: CacheRecord) -> CacheRecord {
    guard record.fields.contains(where: { $0.name.setsCookie }) else { return record }
    var bare = record
    bare.fields = HTTPFields(record.fields.filter { !$0.name.setsCookie })
    bare.flags.insert(.hadCookies)
    return bare
  }

  // MARK: Challenges

  /// What the session would answer a challenge with, where the request carries no credentials and the archive goes by
  /// them.
  var challengeAnswers: [AnsweredChallenge] {
    guard place.splitsByCredentials, !isAfterChallenge, !asked.hasAuthorization,
      request[AnsweredChallengeKey.self] == nil
    else {
      return []
    }
    return request.context.challengeAnswers(for: url)
  }

  /// What was loaded with the response to a challenge, for a session that would answer it again: without the origin
  /// there is nobody to pose it. Only where nothing else answers the request.
  ///
  /// - Parameter error: Why the origin cannot be reached; `nil` where it may not be asked.
  func afterChallenge(_ error: (any Error)? = nil) async -> InterceptedResponse? {
    for reply in challengeAnswers {
      var other = self
      other.isAfterChallenge = true
      other.place = RequestKey(request, body: body, challenge: reply, configuration) { store.digest($0) }
      guard let entries = try? await other.entries() else { continue }
      let stored = other.understood(entries)
      let now = now
      let decision = other.decide(stored, now)
      if let reply = decision.reply {
        if let response = try? await other.give(reply, of: stored[reply.index], decision, now) { return response }
      } else if decision.action == .forward, let error {
        if let response = try? await other.unreachable(error, decision, stored) { return response }
      }
    }
    return nil
  }
}

/// What loads that are under way for the same thing, and the same user, have in common.
struct FlightKey: Hashable, Sendable {
  let key: ArchiveKey
  let user: RequestDigest?
  /// Who tries again does not wait for what he has given up.
  let attempt: Int
  /// Their values for the fields of a `Vary`, where that is known.
  var variant: RequestDigest?
}
