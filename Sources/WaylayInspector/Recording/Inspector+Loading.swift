import Foundation

extension Inspector {
  /// Records a load and its outcome.
  public func startLoading(
    _ request: InterceptedRequest, next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    guard let slot = begin(request) else { return try await next(request) }
    let passed = observed(request, slot)
    let response: InterceptedResponse
    do { response = try await next(passed) } catch {
      end(slot) { $0.error = error }
      throw error
    }
    return observed(response, slot)
  }

  /// A place for an exchange that begins; `nil` while nothing is recorded.
  private func begin(_ request: InterceptedRequest, isWebSocket: Bool = false) -> Slot? {
    let body = RawBody(request.body, limit: limits.mostOfABody)
    let raw = RawExchange(request, body)
    raw.isWebSocket = isWebSocket
    let now = clock.now()
    let (slot, gone, mailboxes) = memory.withLock { memory -> (Slot?, [Slot], [Int: Mailbox]) in
      guard memory.isRecording else { return (nil, [], [:]) }
      let slot = Slot(memory.nextNumber(), raw, at: now, watchesAttempts: memory.watchesAttempts)
      return (slot, memory.add(slot, cost: raw.cost + body.capacity), memory.mailboxes)
    }
    for slot in gone { slot.forget() }
    if let slot { tell(mailboxes, of: slot) }
    return slot
  }

  /// The request as it is passed on: its body is written down as it is read.
  private func observed(_ request: InterceptedRequest, _ slot: Slot) -> InterceptedRequest {
    let body = request.body
    guard slot.attempts != nil || body.inMemory == nil && body.fileURL == nil else { return request }
    var request = request
    if let attempts = slot.attempts { request[AttemptLog.Note.self] = attempts }
    guard body.inMemory == nil, body.fileURL == nil else { return request }
    if body.isReplayable {
      // Each reader gets a reading of its own; what one has seen already counts once.
      request.body = .stream(length: body.length) { Tapped(tap: BodyTap(body, slot, self, isRequest: true)) }
    } else {
      let tap = BodyTap(body, slot, self, isRequest: true)
      request.body = .relaying(body, length: body.length) { try await tap.next() }
    }
    return request
  }

  /// The answer as it is passed on: its body is written down as it is read.
  private func observed(_ response: InterceptedResponse, _ slot: Slot) -> InterceptedResponse {
    let body = response.body
    let known = InterceptedResponse(
      status: response.status, fields: response.fields, url: response.url, source: response.source,
      metrics: response.metrics)
    if body.inMemory != nil {
      let raw = RawBody(body, limit: limits.mostOfABody)
      let hasRoom = grow(slot, by: raw.capacity)
      let trailers = response.trailers
      let now = clock.now()
      end(slot, more: known.fields.cost + trailers.cost) { exchange in
        (exchange.response, exchange.head, exchange.trailers) = (known, now, trailers)
        exchange.responseBody = raw
        if !hasRoom { exchange.responseBody.drop() }
      }
      return response
    }
    let now = clock.now()
    slot.update { exchange in
      (exchange.response, exchange.head) = (known, now)
      exchange.responseBody.size = 0
    }
    let (gone, mailboxes) = memory.withLock { ($0.charge(slot, known.fields.cost), $0.mailboxes) }
    for slot in gone { slot.forget() }
    tell(mailboxes, of: slot)
    var response = response
    let tap = BodyTap(body, slot, self, isRequest: false, response: response)
    if body.isReplayable {
      // The first reading is the one that is written down.
      response.body = .stream(length: body.length) { Tapped(tap: tap.again()) }
    } else {
      response.body = .relaying(body, length: body.length) { try await tap.next() }
    }
    return response
  }

  // MARK: What taps say

  /// Whether there is room for so many bytes more.
  func grow(_ slot: Slot, by more: Int) -> Bool {
    guard more > 0 else { return true }
    var gone: [Slot] = []
    let hasRoom = memory.withLock { $0.grow(slot, by: more, &gone) }
    for slot in gone { slot.forget() }
    return hasRoom
  }

  /// Bytes of a body have passed.
  func passed(_ chunk: Data, at offset: Int, of slot: Slot, isRequest: Bool) {
    let limit = limits.mostOfABody
    var (kept, growths) = (0, [Int]())
    slot.update { exchange in
      let seen = isRequest ? exchange.requestBody : exchange.responseBody
      // An earlier reading may have seen it.
      guard offset == seen.data.count, !seen.isCut else { return }
      kept = min(chunk.count, limit - offset)
      growths = seen.growths(for: kept, limit: limit)
    }
    var gone: [Slot] = []
    let (growth, mailboxes) = memory.withLock { [kept, growths] memory in
      (kept > 0 ? growths.first { memory.grow(slot, by: $0, &gone) } : nil, memory.mailboxes)
    }
    for slot in gone { slot.forget() }
    slot.update { exchange in
      func note(_ body: inout RawBody) {
        if let growth, offset == body.data.count { body.append(chunk.prefix(kept), growth: growth) }
        if growth == nil, kept > 0 { body.isCut = true }
        body.size = max(body.size, offset + chunk.count)
      }
      if isRequest { note(&exchange.requestBody) } else { note(&exchange.responseBody) }
    }
    tell(mailboxes, of: slot)
  }

  /// An exchange has ended.
  ///
  /// - Parameter more: What has come to it of which the account does not know.
  func end(_ slot: Slot, more: Int = 0, _ change: (RawExchange) -> Void) {
    let now = clock.now()
    slot.update { exchange in
      guard exchange.end == nil else { return }
      change(exchange)
      exchange.end = now
    }
    let (gone, mailboxes, isNeeded) = memory.withLock { memory -> ([Slot], [Int: Mailbox], Bool) in
      guard slot.listing.isListed, slot.listing.isOpen else { return ([], [:], false) }
      let gone = memory.end(slot, more: more)
      memory.unsealed.append(slot)
      defer { memory.isSealing = true }
      return (gone, memory.mailboxes, !memory.isSealing)
    }
    for slot in gone { slot.forget() }
    tell(mailboxes, of: slot)
    if isNeeded { scheduleSealing() }
  }

  func tell(_ mailboxes: [Int: Mailbox], of slot: Slot) {
    guard !mailboxes.isEmpty else { return }
    for mailbox in mailboxes.values { mailbox.add(slot.number) }
  }
}

extension Inspector: WebSocketValidating {
  /// Lists a WebSocket task, whose messages no chain sees, and lets it pass.
  public func validate(webSocket request: URLRequest) throws {
    guard let slot = begin(InterceptedRequest(request), isWebSocket: true) else { return }
    end(slot) { _ in }
  }
}
