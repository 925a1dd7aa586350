import Foundation
import HTTPTypes

/// A load that goes to the network: what is asked, and what becomes of the response.
extension ArchiveLoad {
  /// A request to the network.
  struct OriginExchange: Sendable {
    /// Why it goes out, and with which fields.
    let decision: CacheDecision
    /// What the decision was about.
    let stored: [Stored]
    /// Those who wait for the response.
    var flight: Flight?
    /// The way out.
    let send: @Sendable (InterceptedRequest) async throws -> InterceptedResponse

    /// The same without conditions.
    func unconditional(_ stored: [Stored] = []) -> OriginExchange {
      OriginExchange(decision: decision.unconditional, stored: stored, flight: flight, send: send)
    }

    /// The entries at some positions of what the decision was about.
    func entries(_ indices: [Int]) -> [StoredEntry] { indices.map { stored[$0].entry } }
  }

  /// Sends the request on, stores what may be stored, and returns what the app gets.
  func exchange(_ exchange: OriginExchange) async throws -> InterceptedResponse {
    let (decision, stored, flight) = (exchange.decision, exchange.stored, exchange.flight)
    var outgoing = request
    for name in decision.removedFields { outgoing.fields[name] = nil }
    for name in Set(decision.addedFields.map(\.name)) {
      outgoing.fields[name] = decision.addedFields[values: name].joined(separator: ", ")
    }
    let sent = Sent(time: now, moment: engine.changes.now)
    let response: InterceptedResponse
    do {
      switch try await withinNetworkTimeout(decision, stored, { [outgoing] in try await exchange.send(outgoing) }) {
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
    return try await received(response, sent, exchange)
  }

  /// When a request went out.
  struct Sent: Sendable {
    var time: CacheTime
    /// As ``Changes`` counts.
    var moment: UInt64
  }

  /// What becomes of a response.
  func received(
    _ response: InterceptedResponse, _ sent: Sent, _ exchange: OriginExchange
  ) async throws -> InterceptedResponse {
    let (moment, stored) = (sent.moment, exchange.stored)
    let head = ArchivePolicy.Response(
      status: response.status.code, fields: response.fields, requestTime: sent.time, responseTime: now)
    var judged = judge(head, response, exchange)
    judged.moment = moment
    if case .again = judged.outcome.reply {
      await response.body.discard()
      apply(judged.outcome, stored, since: moment)
      store.remove(exchange.entries(judged.outcome.removals).map(\.id))
      return try await self.exchange(exchange.unconditional(stored))
    }
    noteSharing(judged)
    judged.moment = await dropInvalidated(by: head, since: moment)
    apply(judged.outcome, stored, since: moment)
    switch judged.outcome.reply {
    case .stored(let reply):
      request.context.storeCookies(of: response, for: request)
      await response.body.discard()
      return try await confirmed(reply, judged.outcome, exchange)
    case .joined: request.context.storeCookies(of: response, for: request)
    case .network, .again:
      reportMiss(exchange.decision)
      // Nobody above sees a response that comes behind another.
      if isInBackground { request.context.storeCookies(of: response, for: request) }
    }
    return try await store(response, judged, exchange)
  }

  private func reportMiss(_ decision: CacheDecision) {
    guard !isInBackground else { return }
    engine.reporter.report(event(canAnswer ? .miss : .bypassed, reason: decision.reason.description))
  }

  /// What the rules say about a response, the app's own among them.
  struct Judgement {
    var outcome: ResponseOutcome
    var draft: StorableResponse?
    /// When the request was sent, as ``Changes`` counts.
    var moment: UInt64 = 0
  }

  private func judge(
    _ head: ArchivePolicy.Response, _ response: InterceptedResponse, _ exchange: OriginExchange
  ) -> Judgement {
    let decision = exchange.decision
    var options = options
    if !configuration.lifetimes.isEmpty {
      let reply = StorableResponse(
        request: request.urlRequest, status: response.status, length: nil, fields: response.fields)
      if let seconds = configuration.lifetimes.seconds(for: reply, overridingServer: true) {
        options.lifetime = .forced(seconds)
      } else if let seconds = configuration.lifetimes.seconds(for: reply, overridingServer: false) {
        options.lifetime = .absent(seconds)
      }
    }
    let records = exchange.stored.map(\.record)
    guard let willStore = configuration.willStore else {
      return Judgement(outcome: policy.receive(head, for: asked, decision, records: records, options: options))
    }
    let request = request.urlRequest
    @Sendable func draft(_ status: HTTPResponse.Status, _ length: Int64?, _ fields: HTTPFields) -> StorableResponse {
      var draft = StorableResponse(request: request, status: status, length: length, fields: fields)
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

  /// Marks what an unsafe request has made doubtful: for all users, what is stored of the resources that a success has
  /// changed (RFC 9111, section 4.4), and of the groups that the response names or that went with those (RFC 9875,
  /// sections 2.2.1 and 3).
  ///
  /// - Returns: Since when changes by others count against this very response: it says itself what the resource is
  ///   after its own change (RFC 9110, section 9.3.3), so that one does not, unless somebody else changed the resource
  ///   while it was on its way.
  private func dropInvalidated(by head: ArchivePolicy.Response, since moment: UInt64) async -> UInt64 {
    let urls = policy.invalidations(status: head.status, fields: head.fields, for: asked, options: options)
    let isSafe = asked.method.isSafe || options.isKeyedByBody
    var groups = isSafe ? [] : CacheGroups.tags(head.fields, StructuredFields.cacheGroupInvalidation, of: url)
    guard !urls.isEmpty || !groups.isEmpty else { return moment }
    var since = moment
    var bare = request
    bare.method = .get
    let resources = urls.map { url in
      bare.url = url
      return RequestKey(bare, body: nil, configuration) { [store] in store.digest($0) }.resource
    }
    for resource in resources {
      if resource.text == place.resource.text, let own = engine.changes.noteOwn(resource.text, since: moment) {
        since = own
      } else {
        engine.changes.note(resource.text)
      }
      if let path = resource.path, path != resource.text { engine.changes.note(path) }
    }
    engine.flights.close { flight in resources.contains { $0.text.elementsEqual(flight.key.text) } }
    var found: [StoredEntry] = []
    for resource in resources { found += (try? await store.list(EntryFilter(.resource(resource)))) ?? [] }
    groups.formUnion(found.flatMap(\.details.tags).filter(CacheGroups.isGroup))
    for group in groups { engine.changes.note(Array(group.utf8)) }
    // No group drags another one along.
    if !groups.isEmpty { found += (try? await store.list(EntryFilter(.tags(groups)))) ?? [] }
    for stored in understood(found) where !stored.record.flags.contains(.invalidated) {
      update(stored, to: stored.record.invalidated())
      engine.reporter.report(event(.invalidated, reason: "\(request.method) to \(url.redacted)"))
    }
    return since
  }

  /// Gives stored responses their new heads.
  ///
  /// A response that was asked for before another request changed the resource says nothing of what it is now: a late
  /// 304 does not restore what an invalidation has made doubtful (RFC 9111, section 4.4).
  private func apply(_ outcome: ResponseOutcome, _ stored: [Stored], since moment: UInt64) {
    for change in outcome.updates {
      let entry = stored[change.index].entry
      guard change.record.flags.contains(.invalidated) || !hasChanged(entry.key, entry.details.tags, since: moment)
      else {
        refuse(Self.changedMeanwhile)
        continue
      }
      update(stored[change.index], to: change.record)
      // The change may have come between the look and the update. A load that makes one notes it first and marks what
      // is stored then, so that one of the two sees the other.
      if hasChanged(entry.key, entry.details.tags, since: moment) {
        update(stored[change.index], to: change.record.invalidated())
      }
    }
  }

  /// Whether somebody has changed the resource, or what has a group in common with it, since a moment.
  ///
  /// - Parameter key: The key that the response is stored under.
  func hasChanged(_ key: ArchiveKey, _ tags: Set<String>, since moment: UInt64) -> Bool {
    if engine.changes.hasChanged(place.resource.text, since: moment) { return true }
    // What several URLs share is changed with each of them.
    if key != self.key, let path = place.resource.path, engine.changes.hasChanged(path, since: moment) { return true }
    return tags.contains { CacheGroups.isGroup($0) && engine.changes.hasChanged(Array($0.utf8), since: moment) }
  }

  static let changedMeanwhile = "another request changed the resource while the response was on its way"

  private func update(_ stored: Stored, to record: CacheRecord) {
    var details = stored.entry.details
    details.stored = record.responseTime.date
    if record.fields[StructuredFields.cacheGroups] != stored.record.fields[StructuredFields.cacheGroups] {
      details.tags = details.ownTags.union(CacheGroups.tags(record.fields, of: url))
    }
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
    _ reply: CacheReply, _ outcome: ResponseOutcome, _ exchange: OriginExchange
  ) async throws -> InterceptedResponse {
    var chosen = exchange.stored[reply.index]
    if let record = outcome.replyRecord { chosen.record = record }
    // Read before it is removed, where the origin has just forbidden to keep it.
    defer { store.remove(exchange.entries(outcome.removals).map(\.id)) }
    // Those who wait find the same stale response, without asking an origin that fails.
    exchange.flight?.settle(reply.isStale ? .originFailed : .stored)
    do {
      return try await give(
        reply, of: chosen, exchange.decision, now, wasValidated: !reply.isStale, reason: outcome.reason)
    } catch {
      try Task.checkCancellation()
      // What was confirmed is damaged or gone: load it whole.
      return try await self.exchange(exchange.unconditional())
    }
  }

  // MARK: Behind a response

  /// Validates what was just given, behind the response (RFC 5861, section 3).
  func revalidateInBackground(_ decision: CacheDecision, _ stored: [Stored]) {
    engine.background.start(key) {
      let load = inBackground
      do {
        let response = try await load.exchange(
          OriginExchange(decision: decision, stored: stored) { try await load.sendInBackground($0) })
        for try await _ in response.body {}
      } catch {
        load.reportBackgroundFailure(error)
      }
    }
  }
}
