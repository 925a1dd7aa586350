import Foundation
import HTTPTypes

/// A load that goes to the network: what is asked, and what becomes of the response.
extension ArchiveLoad {
  /// Sends the request on, stores what may be stored, and returns what the app gets.
  ///
  /// - Parameters:
  ///   - decision: Why it goes out, and with which fields.
  ///   - stored: What the decision was about.
  ///   - flight: Those who wait for the response.
  ///   - send: The way out.
  func exchange(
    _ decision: CacheDecision, _ stored: [Stored], _ flight: Flight? = nil,
    _ send: @escaping @Sendable (InterceptedRequest) async throws -> InterceptedResponse
  ) async throws -> InterceptedResponse {
    var outgoing = request
    for name in decision.removedFields { outgoing.fields[name] = nil }
    for name in Set(decision.addedFields.map(\.name)) {
      outgoing.fields[name] = decision.addedFields[values: name].joined(separator: ", ")
    }
    let sent = Sent(time: now, moment: engine.changes.now)
    let response: InterceptedResponse
    do {
      switch try await withinNetworkTimeout(decision, stored, { [outgoing] in try await send(outgoing) }) {
      case .value(let value): response = value
      case .late(let stale, let pending):
        flight?.settle(
          .failed(
            TransportError(.timedOut, phase: .receiving, message: "nothing came within the archive's network timeout."))
        )
        receiveInBackground(pending, sent, decision, stored)
        return stale
      }
    } catch {
      if isInBackground || Task.isCancelled || error is CancellationError { throw error }
      flight?.settle(.failed(error))
      do {
        return try await unreachable(error, decision, stored)
      } catch {
        reportMiss(decision)
        throw error
      }
    }
    return try await received(response, sent, decision, stored, flight, send)
  }

  /// When a request went out.
  struct Sent: Sendable {
    var time: CacheTime
    /// As ``Changes`` counts.
    var moment: UInt64
  }

  /// What becomes of a response.
  func received(
    _ response: InterceptedResponse, _ sent: Sent, _ decision: CacheDecision, _ stored: [Stored], _ flight: Flight?,
    _ send: @escaping @Sendable (InterceptedRequest) async throws -> InterceptedResponse
  ) async throws -> InterceptedResponse {
    let moment = sent.moment
    let head = ArchivePolicy.Response(
      status: response.status.code, fields: response.fields, requestTime: sent.time, responseTime: now)
    var judged = judge(head, response, decision, stored)
    judged.moment = moment
    if case .again = judged.outcome.reply {
      await response.body.discard()
      apply(judged.outcome, stored, since: moment)
      store.remove(judged.outcome.removals.map { stored[$0].entry.id })
      return try await exchange(decision.unconditional, stored, flight, send)
    }
    noteSharing(judged)
    judged.moment = await dropInvalidated(by: head, since: moment)
    apply(judged.outcome, stored, since: moment)
    switch judged.outcome.reply {
    case .stored(let reply):
      request.context.storeCookies(of: response, for: request)
      await response.body.discard()
      return try await confirmed(reply, judged.outcome, decision, stored, flight, send)
    case .joined: request.context.storeCookies(of: response, for: request)
    case .network, .again:
      reportMiss(decision)
      // Nobody above sees a response that comes behind another.
      if isInBackground { request.context.storeCookies(of: response, for: request) }
    }
    return try await store(response, judged, decision, stored, flight, send)
  }

  private func reportMiss(_ decision: CacheDecision) {
    guard !isInBackground else { return }
    let isLookedUp = (asked.method == .get || asked.method == .head) && !asked.hasBody || options.isKeyedByBody
    engine.reporter.report(event(isLookedUp ? .miss : .bypassed, reason: decision.reason.description))
  }

  /// What the rules say about a response, the app's own among them.
  struct Judgement {
    var outcome: ResponseOutcome
    var draft: ResponseDraft?
    /// When the request was sent, as ``Changes`` counts.
    var moment: UInt64 = 0
  }

  private func judge(
    _ head: ArchivePolicy.Response, _ response: InterceptedResponse, _ decision: CacheDecision, _ stored: [Stored]
  ) -> Judgement {
    var options = options
    if !configuration.lifetimes.isEmpty {
      let reply = LifetimeRule.Response(request: request.urlRequest, status: response.status, fields: response.fields)
      if let seconds = configuration.lifetimes.seconds(for: reply, overridingServer: true) {
        options.lifetime = .forced(seconds)
      } else if let seconds = configuration.lifetimes.seconds(for: reply, overridingServer: false) {
        options.lifetime = .absent(seconds)
      }
    }
    let records = stored.map(\.record)
    guard let willStore = configuration.willStore else {
      return Judgement(outcome: policy.receive(head, for: asked, decision, records: records, options: options))
    }
    let request = request.urlRequest
    @Sendable func draft(_ status: HTTPResponse.Status, _ length: Int64?, _ fields: HTTPFields) -> ResponseDraft {
      var draft = ResponseDraft(request: request, status: status, length: length, fields: fields)
      willStore(&draft)
      return draft
    }
    let refusal = Locked<String?>(nil)
    options.revise = { status, fields in
      let revised = draft(HTTPResponse.Status(code: status), nil, fields)
      refusal.withLock { $0 = $0 ?? revised.refusal }
      return CacheOptions.Revision(fields: revised.fields, lifetime: revised.override)
    }
    var outcome = policy.receive(head, for: asked, decision, records: records, options: options)
    guard case .new = outcome.storing else {
      if let refusal = refusal.withLock({ $0 }) {
        outcome.removals += outcome.updates.map(\.index).filter { !outcome.removals.contains($0) }
        refuse(refusal)
      }
      return Judgement(outcome: outcome)
    }
    let draft = draft(response.status, response.body.length, response.fields)
    guard draft.refusal == nil, draft.lifetime != nil || draft.fields != response.fields else {
      return Judgement(outcome: outcome, draft: draft)
    }
    var edited = head
    edited.fields = draft.fields
    options.lifetime = draft.override ?? options.lifetime
    return Judgement(
      outcome: policy.receive(edited, for: asked, decision, records: records, options: options), draft: draft)
  }

  /// Marks what a successful unsafe request has made doubtful (RFC 9111, section 4.4): with the request's own
  /// credentials, and without any.
  ///
  /// - Returns: Since when changes by others count against this very answer: it says itself what the resource is after
  ///   its own change (RFC 9110, section 9.3.3), so that one does not, unless somebody else changed the resource while
  ///   it was on its way.
  private func dropInvalidated(by head: ArchivePolicy.Response, since moment: UInt64) async -> UInt64 {
    let urls = policy.invalidations(status: head.status, fields: head.fields, for: asked, options: options)
    guard !urls.isEmpty else { return moment }
    var since = moment
    var bare = request
    bare.method = .get
    var anonymous = bare
    for name in [HTTPField.Name.authorization, .proxyAuthorization] { anonymous.fields[name] = nil }
    for url in urls {
      (bare.url, anonymous.url) = (url, url)
      var places = [bare, anonymous].map { RequestKey($0, body: nil, configuration) { store.digest($0) } }
      if let challenge = request[AnsweredChallengeKey.self] {
        places.append(RequestKey(bare, body: nil, challenge: challenge, configuration) { store.digest($0) })
      }
      let keys = Set(places.map(\.key))
      for key in keys {
        if key == self.key, let own = engine.changes.noteOwn(key, since: moment) {
          since = own
        } else {
          engine.changes.note(key)
        }
        engine.flights.close { $0.key == key }
        let entries: [StoredEntry]
        if let cached = store.cached(key) {
          entries = cached
        } else {
          entries = (try? await store.entries(for: key)) ?? []
        }
        for stored in understood(entries) where !stored.record.flags.contains(.invalidated) {
          update(stored, to: stored.record.invalidated())
          engine.reporter.report(event(.invalidated, reason: "\(request.method) to \(self.url.redacted)"))
        }
      }
    }
    return since
  }

  /// Gives stored responses their new heads.
  ///
  /// A response that was asked for before another request changed the resource says nothing of what it is now: a late
  /// 304 does not restore what an invalidation has made doubtful (RFC 9111, section 4.4).
  private func apply(_ outcome: ResponseOutcome, _ stored: [Stored], since moment: UInt64) {
    for change in outcome.updates {
      guard change.record.flags.contains(.invalidated) || !engine.changes.hasChanged(key, since: moment) else {
        refuse(Self.changedMeanwhile)
        continue
      }
      update(stored[change.index], to: change.record)
      // The change may have come between the look and the update. A load that makes one notes it first and marks what
      // is stored then, so that one of the two sees the other.
      if engine.changes.hasChanged(key, since: moment) { update(stored[change.index], to: change.record.invalidated()) }
    }
  }

  static let changedMeanwhile = "another request changed the resource while the answer was on its way"

  private func update(_ stored: Stored, to record: CacheRecord) {
    var details = stored.entry.details
    details.stored = record.responseTime.date
    let bare = withoutCookies(record)
    do {
      guard let entry = try store.update(stored.entry, head: bare.encoded(), details: details) else { return }
      engine.cookies.keep(of: record.fields, as: entry.id, request.context)
      engine.records.keep(bare, head: entry.head, of: entry.id)
    } catch {
      engine.reporter.report(event(.storeFailed, reason: "an entry could not be freshened: \(error.redacted)"))
    }
  }

  /// The stored response, after the origin has confirmed it or failed to give a better one.
  private func confirmed(
    _ reply: CacheReply, _ outcome: ResponseOutcome, _ decision: CacheDecision, _ stored: [Stored], _ flight: Flight?,
    _ send: @escaping @Sendable (InterceptedRequest) async throws -> InterceptedResponse
  ) async throws -> InterceptedResponse {
    var chosen = stored[reply.index]
    if let record = outcome.replyRecord { chosen.record = record }
    // Read before it is removed, where the origin has just forbidden to keep it.
    defer { store.remove(outcome.removals.map { stored[$0].entry.id }) }
    // Those who wait find the same stale response, without asking an origin that fails.
    flight?.settle(reply.isStale ? .originFailed : .stored)
    var body = MessageBody.empty
    if let range = bytes(of: reply, in: chosen) {
      do {
        body = try await self.body(of: chosen, range)
      } catch {
        try Task.checkCancellation()
        // What was confirmed is damaged or gone: load it whole.
        engine.reporter.report(event(.storeFailed, reason: "a stored body could not be read: \(error.redacted)"))
        if error.provesDamage { store.remove([chosen.entry.id]) }
        return try await exchange(decision.unconditional, [], flight, send)
      }
    }
    return respond(
      reply, chosen.record, body, decision, now, of: chosen.entry.id, wasValidated: !reply.isStale,
      reason: outcome.reason)
  }

  // MARK: Behind a response

  /// Validates what was just given, behind the response (RFC 5861, section 3).
  func revalidateInBackground(_ decision: CacheDecision, _ stored: [Stored]) {
    engine.background.start(key) {
      var limited = self
      limited.isInBackground = true
      do {
        let load = limited
        let response = try await load.exchange(decision, stored) { try await load.sendInBackground($0) }
        for try await _ in response.body {}
      } catch {
        limited.reportBackgroundFailure(error)
      }
    }
  }
}
