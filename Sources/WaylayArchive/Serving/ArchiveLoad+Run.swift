import Foundation
import HTTPTypes

extension ArchiveLoad {
  /// Loads the response: from the store, from a concurrent load, or from the network.
  func run() async throws -> InterceptedResponse {
    // The request's values for the fields of `Vary`, once it is known.
    var variant: RequestDigest?
    var mayCollapse = configuration.collapses && collapses
    var wasCollapsed = false
    // Entries that cannot be read at the moment, and the error.
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
      // Among several variants, only loads for the same variant collapse.
      if let newest = stored.last(where: { $0.record.vary != .nothing }), let digest = digest(newest.record) {
        mayCollapse = mayCollapse || wasCollapsed && variant == nil && decision.reason.code == .varyMiss
        variant = digest
      }
      let role = mayCollapse ? engine.flights.join(flightKey(variant), now) : .alone
      switch role {
      case .alone: return try await exchange(OriginExchange(decision: decision, stored: stored) { try await next($0) })
      case .lead(let flight):
        // The previous leader may have stored a response since the lookup.
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

  /// Whether the load may wait for the response of a concurrent one.
  private var collapses: Bool {
    guard asked.method == .get && !asked.hasBody || options.isKeyedByBody,
      options.mode == .online || options.mode == .preferArchive
    else { return false }
    // A request for a part, or with conditions or cache directives, is sent separately.
    guard !request.fields.contains(where: { Self.individual.contains($0.name.canonicalName) }) else { return false }
    return request.options.cachePolicy == .useProtocolCachePolicy
      || request.options.cachePolicy == .returnCacheDataElseLoad
  }

  private static let individual: Set<String> = [
    "range", "if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "cache-control", "pragma",
  ]

  /// Goes to the network on behalf of all followers.
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

  /// Notes whether responses can be shared with concurrent loads; otherwise collapsing would only delay them.
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

  /// The response that another load is receiving, if it answers this request too.
  private func join(_ record: CacheRecord, _ shared: SharedBody) -> InterceptedResponse? {
    let now = now
    let decision = policy.decide(asked, records: [record], now: now, options: options)
    guard case .serve(let reply) = decision.action, reply.form == .whole, let body = shared.body() else { return nil }
    return respond(reply, record, body, decision, now, wasCollapsed: true)
  }

  /// The readable stored responses.
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

  /// Serves a stale response if the origin cannot be reached and the rules allow it; otherwise throws the error.
  ///
  /// An error thrown by an interceptor after the archive is not a failure of the origin, so it is not replaced.
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
  /// Whether the stored data is damaged, as opposed to a temporary read failure.
  var provesDamage: Bool { (self as? ArchiveError)?.code == .unreadable }
}

extension Error {
  /// Whether the origin could not be reached or violated HTTP, as opposed to an interceptor's own error.
  fileprivate var isNetworkFailure: Bool {
    (self as? any LoadError)?.isNetworkFailure ?? (self as? URLError)?.isNetworkFailure ?? false
  }
}

/// The network timeout: silence of the network after which a stale response is served (RFC 9111, section 4.2.4; RFC
/// 5861, section 4).
///
/// The load's own timeout cannot serve this purpose: it covers the whole chain, and would end the load along with any
/// fallback.
extension ArchiveLoad {
  /// The result of a wait with a timeout.
  enum Waited<Value: Sendable>: Sendable {
    case value(Value)
    /// A stale response, and the pending work.
    case late(InterceptedResponse, TimedWork<Value>)
  }

  /// The failure of a load whose network timeout has passed.
  static let silence = TransportError(
    .timedOut, phase: .receiving, message: "no response within the archive's network timeout.")

  /// Waits for `work`; after the network timeout, serves a stale response if the rules allow it.
  ///
  /// Without a usable stale response, only the request's own timeout applies.
  func withinNetworkTimeout<Value: Sendable>(
    _ decision: CacheDecision, _ stored: [Stored], _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Waited<Value> {
    guard let limit = networkTimeout(decision, stored) else { return .value(try await work()) }
    let pending = TimedWork(work)
    let clock = configuration.clock
    let (deadline, isNever) = clock.now().addingReportingOverflow(limit)
    clock.schedule(isNever ? .max : deadline) { [weak pending] in pending?.becomeLate() }
    if let value = try await pending.outcome() { return .value(value) }
    do {
      return .late(try await unreachable(Self.silence, decision, stored), pending)
    } catch {
      // The stored response is too stale by now, or unreadable: wait for the network.
      return .value(try await pending.lateOutcome())
    }
  }

  /// ``ArchiveCache/Configuration/networkTimeout`` in nanoseconds, at most half of the request's own timeout, which
  /// would end the load; `nil` without a usable stale response.
  private func networkTimeout(_ decision: CacheDecision, _ stored: [Stored]) -> UInt64? {
    guard !isInBackground, decision.selected != nil,
      policy.fail(for: asked, decision, records: stored.map(\.record), now: now, options: options) != nil
    else { return nil }
    var seconds = configuration.networkTimeoutFor?(request.urlRequest, options.mode) ?? configuration.networkTimeout
    for timeout in [request.idleTimeout, request.context.resourceTimeout] where timeout > 0 {
      seconds = min(seconds, timeout / 2)
    }
    // NaN, and more than thirty years, mean no limit.
    guard seconds < 1e9 else { return nil }
    return UInt64(max(0, seconds) * 1e9)
  }

  /// Stores a late response in the background. Otherwise responses of an origin that is always slower than the network
  /// timeout would never be used.
  func receiveInBackground(
    _ pending: TimedWork<InterceptedResponse>, _ sent: Sent, _ decision: CacheDecision, _ stored: [Stored]
  ) {
    let load = inBackground
    let exchange = OriginExchange(decision: decision, stored: stored) { try await load.sendInBackground($0) }
    let isTaken = engine.background.start(key, giveUpAfter: configuration.backgroundTimeout, on: configuration.clock) {
      await load.check(decision, stored) { try await load.received(try await pending.lateOutcome(), sent, exchange) }
      pending.cancel()
    }
    if !isTaken { pending.cancel() }
  }

  /// Sends a request in the background.
  func sendInBackground(_ outgoing: InterceptedRequest) async throws -> InterceptedResponse {
    var outgoing = outgoing
    // A timeout different from the load's own makes the transport enforce it, since the load has ended.
    outgoing.options.timeout = configuration.backgroundTimeout
    return try await next.inBackground(outgoing)
  }

  func reportBackgroundFailure(_ error: any Error) {
    engine.reporter.report(event(.storeFailed, reason: "a revalidation in the background failed: \(error.redacted)"))
  }
}

/// Sharing and authentication.
extension ArchiveLoad {
  /// The key shared by equal loads of the same user.
  func flightKey(_ variant: RequestDigest?) -> FlightKey {
    FlightKey(key: key, user: policy.user(of: asked), attempt: request.attempt, variant: variant)
  }

  /// The request's values for the fields of a response's `Vary`; `nil` if that names none.
  private func digest(_ record: CacheRecord) -> RequestDigest? {
    guard case .fields(let names) = record.vary else { return nil }
    return asked.digest(of: names, policy.digest)
  }

  // MARK: Cookies

  /// The record without `Set-Cookie`, whose values are credentials and are never stored.
  func withoutCookies(_ record: CacheRecord) -> CacheRecord {
    guard record.fields.contains(where: { $0.name.setsCookie }) else { return record }
    var bare = record
    bare.fields = HTTPFields(record.fields.filter { !$0.name.setsCookie })
    bare.flags.insert(.hadCookies)
    return bare
  }

  // MARK: Challenges

  /// The session's credentials for a challenge, if the request has none and credentials are part of the key.
  var challengeAnswers: [AnsweredChallenge] {
    guard place.splitsByCredentials, !isAfterChallenge, !asked.hasAuthorization,
      request[AnsweredChallengeKey.self] == nil
    else {
      return []
    }
    return request.context.challengeAnswers(for: url)
  }

  /// A response that was loaded with credentials after a challenge, for a session that has the same credentials.
  /// Offline, the origin cannot send the challenge again. Used only if no other stored response answers the request.
  ///
  /// - Parameter error: The network error; `nil` if the network is not allowed.
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

/// The key for request collapsing.
struct FlightKey: Hashable, Sendable {
  let key: ArchiveKey
  let user: RequestDigest?
  /// The attempt number: a retry does not wait for the request that it replaces.
  let attempt: Int
  /// The request's values for the fields of `Vary`, if known.
  var variant: RequestDigest?
}
