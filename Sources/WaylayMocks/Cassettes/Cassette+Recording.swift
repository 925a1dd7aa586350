import Foundation
import WaylayHAR
import WaylayRecording

extension Cassette {
  /// Sends a request on, and writes down what becomes of it. What passes is not held up, and not held back.
  func record(_ request: InterceptedRequest, _ next: InterceptorChain.Next) async throws -> InterceptedResponse {
    let slot = state.withLock { state -> Int? in
      guard !state.isEjected else { return nil }
      state.recorded.append(nil)
      return state.recorded.count - 1
    }
    guard let slot else {
      throw MockError(
        .unmatched, "\(file.lastPathComponent) was ejected, and no longer records: eject it after the last request.",
        location: location
      ).urlError(for: request)
    }
    var request = request
    let sent = BodyCopy(limit: options.bodyLimit)
    if let data = request.body.inMemory {
      sent.add(data)
    } else if request.body.isReplayable {
      // It may be asked for again beneath, for another attempt: it stays what it is, and is read once for itself.
      try await sent.add(all: request.body)
    } else {
      request.body = request.body.copied(to: sent)
    }
    let exchange = RecordedExchange(self, slot: slot, request, sent)
    state.withLock { $0.open[slot] = exchange }
    do {
      let response = try await next(request)
      return exchange.answered(response)
    } catch {
      exchange.end(.failed(error))
      throw error
    }
  }

  /// Writes down an exchange that has ended.
  fileprivate func store(_ entry: HAR.Entry, in slot: Int, isWhole: Bool) {
    let tooLarge =
      isWhole
      ? nil
      : MockError(
        .bodyTooLarge,
        "The exchange \(entry.request.method) \(shown(entry.request.url)) has a body of more than "
          + "\(options.bodyLimit) bytes, so nothing was recorded in \(file.lastPathComponent): raise "
          + "Cassette.Options.bodyLimit, or keep the request out of the cassette. An existing file is unchanged.",
        location: location)
    state.withLock { state in
      state.recorded[slot] = entry
      state.open[slot] = nil
      if let tooLarge, state.defect == nil { state.defect = tooLarge }
    }
  }

  private func shown(_ url: String) -> String { URL(string: url).map { Redaction.shown($0) } ?? "" }
}

/// One exchange on its way.
final class RecordedExchange: Sendable {
  enum End {
    case complete
    /// Nobody has read further.
    case abandoned
    case failed(any Error)
  }

  private struct State {
    var response: InterceptedResponse?
    var head: Duration?
    var isOver = false
  }

  private let cassette: Cassette
  private let slot: Int
  private let request: InterceptedRequest
  private let sent: BodyCopy
  private let received: BodyCopy
  private let started: Date
  private let stopwatch: Stopwatch
  private let state = Locked(State())

  init(_ cassette: Cassette, slot: Int, _ request: InterceptedRequest, _ sent: BodyCopy) {
    self.cassette = cassette
    self.slot = slot
    self.request = request
    self.sent = sent
    started = cassette.options.now()
    stopwatch = Stopwatch(cassette.options.clock)
    received = BodyCopy(limit: cassette.options.bodyLimit, stopwatch)
  }

  /// The response for the app.
  func answered(_ response: InterceptedResponse) -> InterceptedResponse {
    let head = stopwatch.elapsed()
    state.withLock { state in
      state.response = response
      state.head = head
    }
    if let data = response.body.inMemory {
      received.add(data)
      end(.complete)
      return response
    }
    var copied = response
    copied.body = response.body.copied(to: received, of: self)
    return copied
  }

  func end(_ end: End) {
    let elapsed = stopwatch.elapsed()
    // Until it is stored: who finds that it is over finds it in the cassette. The body that the response has holds a
    // connection, and is released afterwards.
    let response = state.withLock { state -> InterceptedResponse? in
      guard !state.isOver else { return nil }
      state.isOver = true
      var entry = HAR.Entry(
        request, body: sent.body, state.response, responseBody: received.body, started: started, head: state.head,
        elapsed: elapsed)
      switch end {
      case .complete: break
      case .abandoned: entry.extensions["_abandoned"] = true
      case .failed(let error): entry.fail(error)
      }
      cassette.store(entry, in: slot, isWhole: sent.isWhole && received.isWhole)
      defer { state.response = nil }
      return state.response
    }
    _ = response
  }

  /// Ends it, if it has its response, though nobody has said that the body is left: that is noticed some time later.
  func leave() {
    if state.withLock({ $0.response != nil || $0.isOver }) { end(.abandoned) }
  }
}
