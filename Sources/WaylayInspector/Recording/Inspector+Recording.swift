import Foundation

extension Inspector {
  /// `true`: requests of interceptors are recorded, too.
  public var takesPartInNestedRequests: Bool { true }

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

  /// Adds an exchange; `nil` if recording is off.
  private func begin(_ request: InterceptedRequest, isWebSocket: Bool = false) -> Slot? {
    let body = RawBody(request.body, limit: limits.mostOfABody)
    let raw = RawExchange(request, body)
    raw.isWebSocket = isWebSocket
    let now = clock.now()
    let slot = withMemory { memory -> Slot? in
      guard memory.isRecording else { return nil }
      let slot = Slot(memory.nextNumber(), raw, at: now, watchesAttempts: memory.watchesAttempts)
      memory.add(slot, cost: raw.cost + body.capacity)
      return slot
    }
    if let slot { tell(of: slot.number) }
    return slot
  }

  /// The request with a body that is recorded as it is read.
  private func observed(_ request: InterceptedRequest, _ slot: Slot) -> InterceptedRequest {
    let body = request.body
    var request = request
    if let attempts = slot.attempts { request[AttemptLog.Note.self] = attempts }
    if body.inMemory == nil, body.fileURL == nil { request.body = BodyTap(body, slot, self).tapped }
    return request
  }

  /// The response with a body that is recorded as it is read.
  private func observed(_ response: InterceptedResponse, _ slot: Slot) -> InterceptedResponse {
    let body = response.body
    let known = InterceptedResponse(
      status: response.status, fields: response.fields, url: response.url, source: response.source,
      metrics: response.metrics)
    if body.inMemory != nil {
      let raw = RawBody(body, limit: limits.mostOfABody)
      let hasRoom = withMemory { $0.grow(slot, by: raw.capacity) }
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
    withMemory { $0.charge(slot, known.fields.cost) }
    tell(of: slot.number)
    var response = response
    response.body = BodyTap(body, slot, self, of: response).tapped
    return response
  }

  // MARK: Calls of body taps

  /// Records bytes of a body.
  func passed(_ chunk: Data, at offset: Int, of slot: Slot, isRequest: Bool) {
    let limit = limits.mostOfABody
    var (kept, growths) = (0, [Int]())
    slot.update { exchange in
      let seen = isRequest ? exchange.requestBody : exchange.responseBody
      // An earlier reading may have recorded the chunk.
      guard offset == seen.data.count, !seen.isCut else { return }
      kept = min(chunk.count, limit - offset)
      growths = seen.growths(for: kept, limit: limit)
    }
    let growth = withMemory { memory in kept > 0 ? growths.first { memory.grow(slot, by: $0) } : nil }
    slot.update { exchange in
      func note(_ body: inout RawBody) {
        if let growth, offset == body.data.count { body.append(chunk.prefix(kept), growth: growth) }
        if growth == nil, kept > 0 { body.isCut = true }
        body.size = max(body.size, offset + chunk.count)
      }
      if isRequest { note(&exchange.requestBody) } else { note(&exchange.responseBody) }
    }
    tell(of: slot.number)
  }

  /// Ends an exchange.
  ///
  /// - Parameter more: Its additional bytes.
  func end(_ slot: Slot, more: Int = 0, _ change: (RawExchange) -> Void) {
    let now = clock.now()
    slot.update { exchange in
      guard exchange.end == nil else { return }
      change(exchange)
      exchange.end = now
    }
    let wasSealing = withMemory { memory -> Bool? in
      guard slot.listing.isListed, slot.listing.isOpen else { return nil }
      memory.end(slot, more: more)
      memory.unsealed.append(slot)
      defer { memory.isSealing = true }
      return memory.isSealing
    }
    guard let wasSealing else { return }
    tell(of: slot.number)
    if !wasSealing { sealing.asyncAfter(deadline: .now() + Self.sealingDelay) { [weak self] in self?.sealAll() } }
  }

  /// Changes the memory, then discards the evicted exchanges outside of the lock.
  @discardableResult
  func withMemory<Result>(_ change: (inout Memory) -> Result) -> Result {
    let (result, removed) = memory.withLock { (change(&$0), $0.takeRemoved()) }
    for slot in removed { slot.discard() }
    return result
  }

  /// Notifies the subscribers of a changed exchange.
  func tell(of number: Int) {
    for buffer in memory.withLock({ $0.buffers }).values { buffer.add(number) }
  }
}

extension Inspector: GuardingInterceptor {
  /// Lists a WebSocket task, whose messages bypass the chain, and allows it.
  public func validate(webSocket request: URLRequest) throws {
    guard let slot = begin(InterceptedRequest(request), isWebSocket: true) else { return }
    end(slot) { _ in }
  }
}

extension Inspector {
  /// The delay before ended exchanges are packed: redaction is too slow to run during a load.
  private static let sealingDelay = DispatchTimeInterval.milliseconds(20)

  /// Packs all ended exchanges.
  func sealAll() {
    while true {
      let waiting = memory.withLock { memory -> [Slot] in
        defer { memory.unsealed = [] }
        memory.isSealing = !memory.unsealed.isEmpty
        return memory.unsealed
      }
      if waiting.isEmpty { return }
      for slot in waiting {
        // Pack an exchange that was removed meanwhile for the journal alone.
        let isListed = memory.withLock { _ in slot.listing.isListed }
        guard isListed || journal != nil else { continue }
        let kept = slot.seal(by: self)
        if let journal, kept.isWhole { journal.append([kept.entry]) }
        withMemory { $0.settle(slot, cost: kept.cost) }
      }
    }
  }
}

/// One reading of a body: it records the chunks that pass.
final class BodyTap: AsyncSequence, AsyncIteratorProtocol, @unchecked Sendable {
  // Unchecked: used by one reader at a time, like any iterator.
  private let body: MessageBody
  private var iterator: MessageBody.AsyncIterator
  private let slot: Slot
  private let inspector: Inspector
  /// The response that the body belongs to, whose metrics and trailers are known at its end; `nil` for a request's
  /// body.
  private let response: InterceptedResponse?
  private var offset = 0
  private var isOver = false

  init(_ body: MessageBody, _ slot: Slot, _ inspector: Inspector, of response: InterceptedResponse? = nil) {
    self.body = body
    self.slot = slot
    self.inspector = inspector
    self.response = response
    iterator = body.makeAsyncIterator()
  }

  deinit {
    // The reader released the response's body before its end.
    if !isOver, response != nil { inspector.end(slot) { $0.isAbandoned = true } }
  }

  /// The body as this tap passes it on. Each reader of a replayable body has a tap of its own: bytes that an earlier
  /// reader has recorded count once, and of a response only the first reading.
  var tapped: MessageBody {
    guard body.isReplayable else { return .relaying(body, length: body.length) { try await self.next() } }
    return .stream(length: body.length) { BodyTap(self.body, self.slot, self.inspector, of: self.response) }
  }

  func makeAsyncIterator() -> BodyTap { self }

  func next() async throws -> Data? {
    do {
      guard let chunk = try await iterator.next() else {
        finish(nil)
        return nil
      }
      inspector.passed(chunk, at: offset, of: slot, isRequest: response == nil)
      offset += chunk.count
      return chunk
    } catch {
      finish(error)
      throw error
    }
  }

  private func finish(_ error: (any Error)?) {
    guard !isOver else { return }
    isOver = true
    // An error of a request's body fails the load, which records it.
    guard let response else { return }
    let (metrics, trailers) = (response.metrics, response.trailers)
    inspector.end(slot, more: trailers.cost) { exchange in
      exchange.response?.metrics = metrics
      exchange.trailers = trailers
      exchange.error = error
    }
  }
}
