import Foundation
import WaylayHAR
import WaylayRecording

extension Cassette {
  /// Forwards the request and records the exchange without delaying or buffering it.
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
      // A replayable body stays replayable for later attempts, so read it separately instead of wrapping it.
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
      // The refusal of an air gap is no response of the network.
      if let refusal = (error as? URLError)?.cause(as: WaylayError.self) {
        let message = "Nothing was recorded in \(file.lastPathComponent), which is unchanged: \(refusal.message)"
        state.withLock { $0.defect = $0.defect ?? MockError(.unmatched, message, location: location) }
      }
      exchange.end(.failed(error))
      throw error
    }
  }

  /// Stores the entry of a finished exchange.
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

/// An exchange being recorded.
final class RecordedExchange: Sendable {
  enum End {
    case complete
    /// The app stopped reading before the end.
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

  /// Notes the response, and returns it with a body that is copied while it is read.
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
    // Store under the lock: a caller that sees `isOver` also finds the entry in the cassette. The response is released
    // outside the lock, since its body holds a connection.
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

  /// Ends an exchange that has a response. `eject()` calls this, because the release of an abandoned body may come
  /// later.
  func leave() {
    if state.withLock({ $0.response != nil || $0.isOver }) { end(.abandoned) }
  }
}
