import Foundation
import HTTPTypes
import Logging

/// Handles a response's body: it goes to the app and, if it is to be stored, into the store at the same time.
extension ArchiveLoad {
  /// Stores the response by the outcome, and returns the response for the app.
  func store(
    _ response: InterceptedResponse, _ judged: Judgement, _ exchange: OriginExchange
  ) async throws -> InterceptedResponse {
    let decision = exchange.decision
    let replaced = exchange.entries(judged.outcome.removals)
    if let refusal = judged.draft?.refusal {
      refuse(refusal)
      return marked(response, judged, decision, isStored: false)
    }
    switch judged.outcome.storing {
    case nil:
      store.remove(replaced.map(\.id))
      if asked.method == .get, response.status != .notModified {
        refuse(judged.outcome.reason.description)
      }
      return marked(response, judged, decision, isStored: false)
    case .new(let record):
      let key = NoVarySearch(record.fields).flatMap { place.key(under: $0) } ?? key
      let placement = placement(judged, record, as: key, taking: replaced)
      let (kept, refusal) = await keep(response, as: record, placement, exchange.flight)
      return marked(kept, judged, decision, isStored: refusal == nil, refusal)
    case .join(let index, let offset, let record):
      let response = marked(response, judged, decision, isStored: true)
      return try await complete(index, at: offset, with: response, as: record, judged, exchange)
    }
  }

  /// The network's response with this archive's member of `Cache-Status`, if configured.
  ///
  /// - Parameter refusal: The refusal of the store, if it is known already.
  private func marked(
    _ response: InterceptedResponse, _ judged: Judgement, _ decision: CacheDecision, isStored: Bool,
    _ refusal: Refusal? = nil
  ) -> InterceptedResponse {
    guard configuration.statusField == .always, judged.outcome.reply == .network else { return response }
    var status = CacheStatus(cache: configuration.name)
    status.forwarded = decision.reason.code
    if !decision.addedFields.isEmpty { status.forwardedStatus = response.status.code }
    status.isStored = isStored
    status.detail = refusal?.code?.description
    var response = response
    add(status, to: &response)
    return response
  }

  /// The key and marks of a new entry, and the entries it replaces.
  private struct Placement {
    /// The request's own key, or one shared with other URLs.
    var key: ArchiveKey
    var tags: Set<String>
    var isPinned: Bool
    var replacing: [EntryID]
    /// The sequence number of ``Changes`` when the request was sent.
    var moment: UInt64

    /// Whether no entry is replaced: an incomplete body never replaces an entry.
    var isFirst: Bool { replacing.isEmpty }
  }

  /// A new entry inherits the marks of those it replaces, unless `willStore` sets them.
  private func placement(
    _ judged: Judgement, _ record: CacheRecord, as key: ArchiveKey, taking entries: [StoredEntry]
  ) -> Placement {
    let tags = judged.draft?.tags ?? Set(entries.flatMap(\.details.ownTags))
    return Placement(
      key: key, tags: tags.union(CacheGroups.tags(record.fields, of: url)),
      isPinned: judged.draft?.isPinned ?? entries.contains { $0.details.isPinned }, replacing: entries.map(\.id),
      moment: judged.moment)
  }

  /// Whether no known change has outdated the response; otherwise reports a refusal.
  private func isCurrent(_ placement: Placement) -> Bool {
    guard hasChanged(placement.key, placement.tags, since: placement.moment) else { return true }
    refuse(Self.changedMeanwhile)
    return false
  }

  /// Commits an entry, and removes it again if the resource has changed since ``isCurrent(_:)``.
  ///
  /// - Parameter bytes: The number of bytes passed to the writer.
  /// - Returns: A refusal if the entry was removed again.
  @discardableResult
  private func commit(
    _ writer: any EntryWriter, _ record: CacheRecord, _ placement: Placement, reason: String? = nil, bytes: Int64
  ) async throws -> Refusal? {
    guard writer.length == bytes else {
      throw ArchiveError(
        .notWritten,
        "the store has \(writer.length) bytes of a body but was given \(bytes): none of it is kept.")
    }
    let entry = try await writer.commit(draft(record, placement))
    guard isCurrent(placement) else {
      store.remove([entry.id])
      return Refusal()
    }
    do {
      // Write the note before the entry is reported as stored: lookups need it to find the entry.
      if placement.key != key { try await noteVariance(record, isPinned: placement.isPinned) }
    } catch {
      store.remove([entry.id])
      throw error
    }
    engine.cookies.keep(of: record.fields, as: entry.id, request.context)
    engine.records.keep(withoutCookies(record), head: entry.head, of: entry.id)
    engine.quotas.add(entry, store, engine.reporter)
    engine.reporter.report(event(.stored, reason: reason, bytes: bytes))
    engine.commits.send { entry.key }
    outcome?.note(.stored(bytes))
    return nil
  }

  /// Notes the response's `No-Vary-Search` for lookups of the path's other URLs.
  private func noteVariance(_ record: CacheRecord, isPinned: Bool) async throws {
    guard let key = place.variancesKey, let text = record.fields[StructuredFields.noVarySearch] else { return }
    let said = try await store.entries(for: key)
    let isSaid = SearchVariances.decoded(said).contains { $0 == NoVarySearch(text) }
    guard !isSaid || isPinned && !said.allSatisfy(\.details.isPinned) else { return }
    let path = String(place.listedURL.prefix { $0 != "?" })
    let details = EntryDetails(
      url: path, host: HostName.comparable(url.host ?? ""), stored: now.date,
      isPinned: isPinned || said.contains { $0.details.isPinned })
    let head = SearchVariances.head(said, adding: text)
    let writer = try store.makeWriter(for: key, length: 0, since: decided)
    try await writer.commit(EntryDraft(key: key, head: head, details: details, replacing: said.map(\.id)))
  }

  private func draft(_ record: CacheRecord, _ placement: Placement, replaces: Bool = true) -> EntryDraft {
    let details = EntryDetails(
      url: place.listedURL, host: HostName.comparable(url.host ?? ""), status: record.status,
      mediaType: record.fields.mediaType, stored: record.responseTime.date,
      tags: placement.tags, isPinned: placement.isPinned)
    let record = withoutCookies(record)
    return EntryDraft(
      key: placement.key, head: record.encoded(), details: details, replacing: replaces ? placement.replacing : [])
  }

  /// Stores a response's body: a body in memory before it returns, any other while it is read.
  ///
  /// - Returns: The response for the app, and the refusal, if it is known already.
  private func keep(
    _ response: InterceptedResponse, as record: CacheRecord, _ placement: Placement, _ flight: Flight?
  ) async -> (InterceptedResponse, Refusal?) {
    if let data = response.body.inMemory {
      let refusal =
        response.isBodyCut
        ? refuse("its content coding says that the body is cut off") : await keep(data, as: record, placement)
      flight?.settle(.stored)
      return (response, refusal)
    }
    let writer: any EntryWriter
    do {
      writer = try store.makeWriter(for: placement.key, length: response.body.length, since: decided)
    } catch {
      return (response, refuse(error))
    }
    let sink = sink(writer, record, placement)
    let shared = SharedBody(response.body, into: sink, on: configuration.clock)
    guard let body = shared.body() else { return (response, nil) }
    share(shared, record, flight)
    finish(shared, sink, placement, flight) { bytes, isComplete in
      if isComplete, !response.isBodyCut {
        guard let complete = record.completed(bodyLength: bytes) else {
          refuse("the length of the body differs from its head")
          return nil
        }
        return (complete, nil)
      }
      // An incomplete body must not replace a complete entry.
      guard configuration.keepsPartial, placement.isFirst, let part = record.truncated(at: bytes) else {
        refuse("the body was cut off and cannot be resumed")
        return nil
      }
      return (part, "the body was cut off; its beginning is kept")
    }
    var relayed = response
    relayed.body = body
    return (relayed, nil)
  }

  /// Stores a body in memory, and waits for the store.
  private func keep(_ data: Data, as record: CacheRecord, _ placement: Placement) async -> Refusal? {
    guard let complete = record.completed(bodyLength: Int64(data.count)) else {
      return refuse("the length of the body differs from its head")
    }
    guard isCurrent(placement) else { return Refusal() }
    do {
      let writer = try store.makeWriter(for: placement.key, length: Int64(data.count), since: decided)
      try await writer.append(data)
      return try await commit(writer, complete, placement, bytes: Int64(data.count))
    } catch {
      return refuse(error)
    }
  }

  private func sink(_ writer: any EntryWriter, _ record: CacheRecord, _ placement: Placement) -> StoreSink {
    StoreSink(writer) { bytes in
      guard placement.isFirst, configuration.keepsPartial,
        !hasChanged(placement.key, placement.tags, since: placement.moment),
        let part = record.truncated(at: bytes)
      else { return nil }
      return draft(part, placement)
    }
  }

  /// Lets followers, and later loads, read the body while it is received.
  private func share(_ shared: SharedBody, _ record: CacheRecord, _ flight: Flight?) {
    guard let flight, record.isComplete else { return }
    flight.isStreaming = true
    flight.settle(.streaming(record, shared))
  }

  /// Starts the transfer, and stores the whole body or its received part.
  ///
  /// - Parameter ending: Returns the record and the reason to report, from the number of stored bytes and whether the
  ///   body is complete; `nil` discards the body.
  private func finish(
    _ shared: SharedBody, _ sink: StoreSink, _ placement: Placement, _ flight: Flight?,
    _ ending: @escaping @Sendable (_ bytes: Int64, _ isComplete: Bool) -> (record: CacheRecord, reason: String?)?
  ) {
    let writer = sink.writer
    shared.start { end in
      defer { if let flight { engine.flights.end(flight) } }
      guard isCurrent(placement) else {
        writer.abort()
        return store.remove(sink.checkpointed)
      }
      let (bytes, isComplete): (Int64, Bool)
      switch end {
      case .complete(let count): (bytes, isComplete) = (count, true)
      case .partial(let count): (bytes, isComplete) = (count, false)
      case .lost(let error):
        writer.abort()
        refuse(error)
        return
      }
      guard let (record, reason) = ending(bytes, isComplete) else { return writer.abort() }
      do {
        try await commit(writer, record, placement, reason: reason, bytes: bytes)
      } catch {
        refuse(error)
      }
    }
  }

  // MARK: Parts

  /// Appends a part to a stored part of the same representation (RFC 9111, section 3.4).
  private func complete(
    _ index: Int, at offset: Int64, with response: InterceptedResponse, as record: CacheRecord, _ judged: Judgement,
    _ exchange: OriginExchange
  ) async throws -> InterceptedResponse {
    let (entry, flight) = (exchange.stored[index].entry, exchange.flight)
    let isWhole = judged.outcome.reply == .joined
    let writer: any EntryWriter
    do {
      writer = try await continuing(entry, at: offset)
    } catch {
      try Task.checkCancellation()
      refuse("a part could not be appended to another: \(error.redacted)")
      guard isWhole else { return response }
      // The app requested more than the received part: load the whole again, without the unreadable entry.
      store.remove([entry.id])
      await response.body.discard()
      return try await self.exchange(exchange.unconditional())
    }
    let placement = placement(judged, record, as: entry.key, taking: [entry])
    // The app gets a whole response, so its body must have the whole length, even if the message lacks a length or
    // states another one.
    let sink = StoreSink(writer) { bytes in record.truncated(at: bytes).map { draft($0, placement, replaces: false) } }
    let shared = SharedBody(
      response.body, into: sink, after: offset, required: isWhole ? record.completeLength : nil,
      on: configuration.clock)
    var whole = record
    if isWhole { whole.becomeWhole() }
    guard let body = shared.body(of: isWhole ? nil : offset..<Int64.max) else { return response }
    if isWhole { share(shared, whole, flight) }
    finish(shared, sink, placement, flight) { bytes, isComplete in
      // The transfer failed after all bytes had arrived: the stored bytes cannot be trusted.
      guard isComplete || bytes != record.completeLength,
        let final = (isComplete ? record.completed(bodyLength: bytes) : nil) ?? record.truncated(at: bytes)
      else { return nil }
      return (final, "a part was appended to another")
    }
    guard isWhole else {
      var relayed = response
      relayed.body = body
      return relayed
    }
    let reply = CacheReply(index: 0, form: .whole, isStale: false)
    return respond(reply, whole, body, exchange.decision, now, wasValidated: true, reason: judged.outcome.reason)
  }

  /// A writer that continues a stored body at an offset: in the same file if that is its end, otherwise in a copy of
  /// the bytes before.
  private func continuing(_ entry: StoredEntry, at offset: Int64) async throws -> any EntryWriter {
    // Continuing at any other offset would duplicate bytes.
    if offset == entry.bodyLength, let writer = try await store.resumeWriting(entry, since: decided) {
      if writer.length == offset { return writer }
      writer.abort()
    }
    let writer = try store.makeWriter(for: entry.key, length: nil, since: decided)
    for try await chunk in try await entry.body(in: 0..<offset) { try await writer.append(chunk) }
    return writer
  }
}

/// The result of a load that the archive itself requested. Loads set it; the caller reads it at the end of the body.
final class LoadOutcome: Sendable {
  enum Kind: Sendable {
    /// The response was loaded, with so many stored bytes.
    case stored(Int64)
    /// A response was already stored, or another load is storing it.
    case present
    /// The response was loaded but not stored.
    case refused(String)
  }

  /// The result of the load in the current task.
  @TaskLocal static var current: LoadOutcome?

  let engine: ArchiveEngine
  /// ``ArchiveStore/moment`` when the load decided to send the request.
  let decided: Int64
  private let state = Locked<Kind?>(nil)

  init(of engine: ArchiveEngine, decided: Int64) { (self.engine, self.decided) = (engine, decided) }

  /// The result of the last hop; `nil` if no load passed through the archive.
  var kind: Kind? { state.withLock { $0 } }

  func note(_ kind: Kind) { state.withLock { $0 = kind } }
}

extension ArchiveLoad {
  /// The reason why a response is not stored.
  struct Refusal: Sendable {
    /// The error code, if the store refused it.
    var code: ArchiveError.Code?
  }

  /// Reports a refusal by a rule.
  @discardableResult
  func refuse(_ reason: String) -> Refusal {
    engine.reporter.report(event(.refused, reason: reason))
    outcome?.note(.refused(reason))
    return Refusal()
  }

  /// Reports a refusal by the store.
  @discardableResult
  func refuse(_ error: any Error) -> Refusal {
    let code = (error as? ArchiveError)?.code
    let isOverLimit = code == .entryTooLarge || code == .storeFull
    engine.reporter.report(event(.refused, reason: error.redacted), at: isOverLimit ? .notice : nil)
    outcome?.note(.refused(error.redacted))
    return Refusal(code: code)
  }
}
