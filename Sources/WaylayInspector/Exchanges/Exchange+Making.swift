import Foundation
import WaylayRecording

extension Inspector.Exchange {
  /// Makes the entry of an exchange, before redaction.
  static func entry(of raw: RawExchange, _ slot: Slot, now: UInt64, limit: Int) -> HAR.Entry {
    func since(_ time: UInt64) -> Duration {
      .nanoseconds(time > slot.beginning ? Int64(clamping: time - slot.beginning) : 0)
    }
    let failed = raw.error.map { Failure($0, hasResponse: raw.response != nil) }
    var response = raw.response
    response?.trailers = raw.trailers
    let metrics = response?.metrics
    var entry = HAR.Entry(
      raw.request, body: raw.requestBody.seen(limit), response, responseBody: raw.responseBody.seen(limit),
      started: slot.started,
      head: raw.head.map(since), elapsed: since(raw.end ?? now))
    var attempts = slot.attempts?.all.map { Attempt($0, since) } ?? []
    if attempts.isEmpty, let last = Attempt(response, raw.error, failed) { attempts = [last] }
    if entry.serverAddress == nil, let address = attempts.last?.address, failed != nil { entry.serverAddress = address }
    if raw.isWebSocket {
      entry.comment = "A WebSocket task: its messages are not seen."
    } else if raw.isAbandoned {
      entry.comment = "The body was dropped before its end."
    }
    entry.extensions = fields(
      id: slot.number, state: raw.isWebSocket ? .unseen : raw.end == nil ? .open : failed == nil ? .finished : .failed,
      source: raw.response.map { OpenEnum<InterceptedResponse>($0) }, failure: failed, attempts: attempts,
      isReused: metrics?.isConnectionReused,
      truncated: entry.request.body?.isTruncated ?? false || entry.response.body.isTruncated)
    return entry
  }
}

extension OpenEnum where Domain == InterceptedResponse {
  /// The source that the response names; a `Cache-Status` hit in a response of an interceptor means an archive.
  init(_ response: InterceptedResponse) {
    if response.source == .network {
      self = .network
    } else if response.source == .interceptor || response.source.description == "mock" {
      self = Self.isHit(response.fields) ? .archive : .mocked
    } else {
      self.init(response.source.description)
    }
  }

  /// Whether the nearest cache had the response (RFC 9211, section 2: the last member of the list).
  private static func isHit(_ fields: HTTPFields) -> Bool {
    guard let name = HTTPField.Name("Cache-Status"), let member = fields[name]?.split(separator: ",").last else {
      return false
    }
    return member.split(separator: ";").dropFirst().contains { $0.trimmingCharacters(in: .whitespaces) == "hit" }
  }
}

extension Inspector.Exchange.Failure {
  init(_ error: any Error, hasResponse: Bool) {
    let message = error.redacted
    guard let transport = error.first(as: TransportError.self) else {
      self.init(message: message, phase: hasResponse && !(error is CancellationError) ? .receiving : nil)
      return
    }
    self.init(message: message, phase: transport.phase == .unknown ? nil : transport.phase)
  }
}

extension Inspector.Exchange.Attempt {
  init(_ raw: RawAttempt, _ since: (UInt64) -> Duration) {
    address = raw.metrics?.address ?? raw.error?.first(as: TransportError.self)?.address ?? raw.address
    start = since(raw.began).milliseconds
    time = raw.ended.map { max(0, (since($0) - since(raw.began)).milliseconds) }
    status = raw.status
    failure = raw.error.map { Inspector.Exchange.Failure($0, hasResponse: false) }
    isConnectionReused = raw.metrics?.isConnectionReused
  }

  /// The last attempt, known even without ``Inspector/attempts``.
  init?(_ response: InterceptedResponse?, _ error: (any Error)?, _ failed: Inspector.Exchange.Failure?) {
    if let response, response.source == .network {
      guard let address = response.metrics?.address else { return nil }
      self.address = address
      status = response.status.code
      failure = nil
      isConnectionReused = response.metrics?.isConnectionReused
      time = response.metrics?.firstByte?.milliseconds
    } else {
      guard response == nil, let address = error?.first(as: TransportError.self)?.address else { return nil }
      self.address = address
      status = nil
      failure = failed
      isConnectionReused = nil
      time = nil
    }
    start = 0
  }
}
