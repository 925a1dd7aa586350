import Foundation

/// The requests that are on their way to the network, by what they are for.
///
/// The first load for a key leads; those that come while it waits for the head, or reads the body, follow it.
final class Flights: Sendable {
  /// What a load that comes to a key is to do.
  enum Role: Sendable {
    /// Go to the network, and settle the flight.
    case lead(Flight)
    /// Wait for the flight.
    case follow(Flight)
    /// Go to the network, and wait for nobody.
    case alone
  }

  private struct State {
    var flights: [FlightKey: Flight] = [:]
    /// Those whose last response was for nobody else, and when it came.
    var alone: [FlightKey: CacheTime] = [:]
  }

  private let state = Locked(State())
  /// How long it is remembered that a response was for nobody else, in milliseconds, and of how many.
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

  /// Notes whether the responses to loads of a key, in whatever variant, are for others too.
  func note(_ key: FlightKey, isShared: Bool, _ now: CacheTime) {
    state.withLock { state in
      if !isShared, state.alone.count >= Self.mostAlone { state.alone = [:] }
      state.alone[key] = isShared ? nil : now
    }
  }

  /// Takes a flight off the list: the next load leads another.
  func end(_ flight: Flight) {
    state.withLock { state in if state.flights[flight.key] === flight { state.flights[flight.key] = nil } }
  }

  /// Takes whatever is under way for some keys off the list: it was asked for before something changed.
  func close(where isMeant: (FlightKey) -> Bool) {
    state.withLock { state in
      for key in state.flights.keys.filter(isMeant) { state.flights[key] = nil }
    }
  }
}

/// One request on its way to the network, and those who wait for its response.
final class Flight: Sendable {
  /// What has come of it.
  enum Outcome: Sendable {
    /// The response is in the store.
    case stored
    /// The response is on its way into the store.
    case streaming(CacheRecord, SharedBody)
    /// The response is for the leader alone.
    case notShared(String)
    /// The origin answered with an error, in whose place something stale was given (RFC 5861, section 4).
    case originFailed
    /// There was none.
    case failed(any Error)
    /// The leader was cancelled before there was one.
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

  /// Whether the body is on its way: then the flight ends with it.
  var isStreaming: Bool {
    get { state.withLock { $0.isStreaming } }
    set { state.withLock { $0.isStreaming = newValue } }
  }

  /// Says what has come of the flight. Only the first call counts.
  func settle(_ outcome: Outcome) {
    state.change(waking: \.waiters) { $0.outcome = $0.outcome ?? outcome }
  }

  /// Waits for what comes of the flight.
  func outcome() async throws -> Outcome {
    await state.wait(at: \.waiters) { $0.outcome != nil }
    try Task.checkCancellation()
    guard let outcome = state.withLock({ $0.outcome }) else { throw CancellationError() }
    return outcome
  }
}
