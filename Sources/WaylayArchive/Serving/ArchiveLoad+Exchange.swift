import Foundation
import HTTPTypes

/// Loads from the network: sends the request and handles the response.
extension ArchiveLoad {
  /// A request to the network.
  struct OriginExchange: Sendable {
    /// The reason for the request, and its added fields.
    let decision: CacheDecision
    /// The stored responses at the time of the decision.
    let stored: [Stored]
    /// The flight whose followers wait for the response.
    var flight: Flight?
    /// Sends the request to the rest of the chain.
    let send: @Sendable (InterceptedRequest) async throws -> InterceptedResponse

    /// A copy without conditions.
    func unconditional(_ stored: [Stored] = []) -> OriginExchange {
      OriginExchange(decision: decision.unconditional, stored: stored, flight: flight, send: send)
    }

    /// The entries at the given indices of ``stored``.
    func entries(_ indices: [Int]) -> [StoredEntry] { indices.map { stored[$0].entry } }
  }

  /// Forwards the request, stores the response if allowed, and returns the response for the app.
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
        flight?.settle(.failed(Self.silence))
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

  /// The time at which a request was sent.
  struct Sent: Sendable {
    var time: CacheTime
    /// The sequence number of ``Changes``.
    var moment: UInt64
  }

  /// Handles a response from the origin.
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
      // In the background, no interceptor before the archive sees the response, so store its cookies here.
      if isInBackground { request.context.storeCookies(of: response, for: request) }
    }
    return try await store(response, judged, exchange)
  }

  private func reportMiss(_ decision: CacheDecision) {
    guard !isInBackground else { return }
    engine.reporter.report(event(canAnswer ? .miss : .bypassed, reason: decision.reason.description))
  }

  /// The result of the cache rules and of the app's rules for a response.
  struct Judgement {
    var outcome: ResponseOutcome
    var draft: StorableResponse?
    /// The sequence number of ``Changes`` when the request was sent.
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

  /// Invalidates stored responses after an unsafe request, for all users: those of the changed resources (RFC 9111,
  /// section 4.4), and those of the groups that the response or the invalidated responses name (RFC 9875, sections
  /// 2.2.1 and 3).
  ///
  /// - Returns: The sequence number after which changes outdate this response. The response reflects the change of its
  ///   own request (RFC 9110, section 9.3.3), so that change is excluded, unless another request changed the resource
  ///   concurrently.
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
    // Group invalidation is not transitive.
    if !groups.isEmpty { found += (try? await store.list(EntryFilter(.tags(groups)))) ?? [] }
    for stored in understood(found) where !stored.record.flags.contains(.invalidated) {
      update(stored, to: stored.record.invalidated())
      engine.reporter.report(event(.invalidated, reason: "\(request.method) to \(url.redacted)"))
    }
    return since
  }

  /// Updates the heads of stored responses.
  ///
  /// A response requested before another request changed the resource may be outdated: a late 304 does not undo an
  /// invalidation (RFC 9111, section 4.4).
  private func apply(_ outcome: ResponseOutcome, _ stored: [Stored], since moment: UInt64) {
    for change in outcome.updates {
      let entry = stored[change.index].entry
      guard change.record.flags.contains(.invalidated) || !hasChanged(entry.key, entry.details.tags, since: moment)
      else {
        refuse(Self.changedMeanwhile)
        continue
      }
      update(stored[change.index], to: change.record)
      // A change may happen between the check and the update. The changing load notes the change first and then
      // invalidates stored responses, so at least one of the two loads sees the other.
      if hasChanged(entry.key, entry.details.tags, since: moment) {
        update(stored[change.index], to: change.record.invalidated())
      }
    }
  }

  /// Whether another load has changed the resource, or a group of the response, since a sequence number.
  ///
  /// - Parameter key: The key of the stored response.
  func hasChanged(_ key: ArchiveKey, _ tags: Set<String>, since moment: UInt64) -> Bool {
    if engine.changes.hasChanged(place.resource.text, since: moment) { return true }
    // A response shared by several URLs is outdated by a change of any of them.
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

  /// Returns the stored response after the origin validated it, or failed to send a better one.
  private func confirmed(
    _ reply: CacheReply, _ outcome: ResponseOutcome, _ exchange: OriginExchange
  ) async throws -> InterceptedResponse {
    var chosen = exchange.stored[reply.index]
    if let record = outcome.replyRecord { chosen.record = record }
    // Remove the entry after reading it, if the origin now forbids storing it.
    defer { store.remove(exchange.entries(outcome.removals).map(\.id)) }
    // Followers serve the same stale response without another request to a failing origin.
    exchange.flight?.settle(reply.isStale ? .originFailed : .stored)
    do {
      return try await give(
        reply, of: chosen, exchange.decision, now, wasValidated: !reply.isStale, reason: outcome.reason)
    } catch {
      try Task.checkCancellation()
      // The validated body is damaged or missing: load it again.
      return try await self.exchange(exchange.unconditional())
    }
  }

  // MARK: Background revalidation

  /// Revalidates a served response in the background (RFC 5861, section 3).
  func revalidateInBackground(_ decision: CacheDecision, _ stored: [Stored]) {
    engine.background.start(key) {
      let load = inBackground
      await load.check(decision, stored) {
        try await load.exchange(
          OriginExchange(decision: decision, stored: stored) { try await load.sendInBackground($0) })
      }
    }
  }

  /// Reads a response of the origin to its end, and reports whether it differs from the stored one, if that is the
  /// complete response to a `GET`.
  func check(
    _ decision: CacheDecision, _ stored: [Stored], _ receive: () async throws -> InterceptedResponse
  ) async {
    do {
      let served = decision.selected.flatMap { isHead || request.fields[.range] != nil ? nil : stored[$0] }
      let body = try? await served?.entry.body()
      let response = try await receive()
      let isOwn = [.archive, .staleArchive].contains(response.source)
      var isChanged = false
      if let served, let body, !isOwn {
        isChanged = try await !response.body.equals(body) || served.record.status != response.status.code
      } else {
        for try await _ in response.body {}
      }
      guard response.source == .archive || !isOwn && served != nil && response.status.kind != .serverError else {
        return
      }
      var event = event(.revalidatedInBackground, reason: "the response \(isChanged ? "has changed" : "is unchanged")")
      event.isChanged = isChanged
      engine.reporter.report(event)
    } catch {
      reportBackgroundFailure(error)
    }
  }
}

extension MessageBody {
  /// Returns whether another body has the same bytes. Reads this body to its end.
  func equals(_ other: MessageBody) async throws -> Bool {
    var others = other.makeAsyncIterator()
    var (rest, isEqual) = (Data(), true)
    for try await chunk in self where isEqual {
      while rest.count < chunk.count, let more = try await others.next() { rest.append(more) }
      isEqual = rest.starts(with: chunk)
      rest = Data(rest.dropFirst(chunk.count))
    }
    while isEqual, rest.isEmpty, let more = try await others.next() { rest = more }
    return isEqual && rest.isEmpty
  }
}
