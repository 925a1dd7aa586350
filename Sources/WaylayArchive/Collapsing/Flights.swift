import Foundation

/// Requests in flight, by key, for request collapsing.
///
/// The first load for a key leads; loads that arrive before its response is complete follow it.
final class Flights: Sendable {
  /// The role of a load that joins a key.
  enum Role: Sendable {
    /// Go to the network, and set the flight's result.
    case lead(Flight)
    /// Wait for the flight.
    case follow(Flight)
    /// Go to the network without collapsing.
    case alone
  }

  private struct State {
    var flights: [FlightKey: Flight] = [:]
    /// Keys whose last response could not be shared, with its time.
    var alone: [FlightKey: CacheTime] = [:]
  }

  private let state = Locked(State())
  /// How long a key is remembered as not shareable, in milliseconds, and the maximum number of such keys.
  private static let memory: UInt64 = 60_000
  private static let mostAlone = 1024

  func join(_ key: FlightKey, _ now: CacheTime) -> Role {
    state.withLock { state in
      var all = key
      all.variant = nil
      if let then = state.alone[all] {
        if now.milliseconds.saturating(subtracting: then.milliseconds).magnitude < Self.memory { return .alone }
        state.alone[all] = nil
      }
      if let flight = state.flights[key] { return .follow(flight) }
      let flight = Flight(key)
      state.flights[key] = flight
      return .lead(flight)
    }
  }

  /// Remembers whether responses for a key, of any variant, can be shared.
  func note(_ key: FlightKey, isShared: Bool, _ now: CacheTime) {
    state.withLock { state in
      if !isShared, state.alone.count >= Self.mostAlone { state.alone = [:] }
      state.alone[key] = isShared ? nil : now
    }
  }

  /// Removes a flight: the next load for its key leads a new one.
  func end(_ flight: Flight) {
    state.withLock { state in if state.flights[flight.key] === flight { state.flights[flight.key] = nil } }
  }

  /// Removes the flights of some keys after a change, because their requests were sent before it.
  func close(where isMeant: (FlightKey) -> Bool) {
    state.withLock { state in
      for key in state.flights.keys.filter(isMeant) { state.flights[key] = nil }
    }
  }
}

/// A request in flight, and the loads that wait for its response.
final class Flight: Sendable {
  /// The result of a flight.
  enum Outcome: Sendable {
    /// The response is in the store.
    case stored
    /// The response is being stored.
    case streaming(CacheRecord, SharedBody)
    /// The response may not be shared; the text is the reason.
    case notShared(String)
    /// The origin answered with an error, and a stale response was served instead (RFC 5861, section 4).
    case originFailed
    /// The request failed.
    case failed(any Error)
    /// The leader was cancelled before it had a response; a follower takes over.
    case handedOver
  }

  private struct State {
    var outcome: Outcome?
    var waiters = Waiters()
    var isStreaming = false
  }

  let key: FlightKey
  private let state = Locked(State())

  init(_ key: FlightKey) { self.key = key }

  /// Whether the body is being received: the flight then ends with the body.
  var isStreaming: Bool {
    get { state.withLock { $0.isStreaming } }
    set { state.withLock { $0.isStreaming = newValue } }
  }

  /// Sets the result. Only the first call counts.
  func settle(_ outcome: Outcome) {
    state.change(waking: \.waiters) { $0.outcome = $0.outcome ?? outcome }
  }

  /// Waits for the result.
  func outcome() async throws -> Outcome {
    await state.wait(at: \.waiters) { $0.outcome != nil }
    try Task.checkCancellation()
    guard let outcome = state.withLock({ $0.outcome }) else { throw CancellationError() }
    return outcome
  }
}
