import Foundation

/// The requests that are on their way to the network, by what they are for.
///
/// The first load for a key leads; those that come while it waits for the head, or reads the body, follow it.
final class Flights<Key: Hashable & Sendable>: Sendable {
  /// What a load that comes to a key is to do.
  enum Role: Sendable {
    /// Go to the network, and settle the flight.
    case lead(Flight)
    /// Wait for the flight.
    case follow(Flight)
  }

  private let flights = Locked<[Key: Flight]>([:])

  func join(_ key: Key) -> Role {
    flights.withLock { flights in
      if let flight = flights[key] { return .follow(flight) }
      let flight = Flight()
      flights[key] = flight
      return .lead(flight)
    }
  }

  /// Takes a flight off the list: the next load leads another.
  func end(_ flight: Flight, for key: Key) {
    flights.withLock { flights in if flights[key] === flight { flights[key] = nil } }
  }

  /// Takes whatever is under way for some keys off the list: it was asked for before something changed.
  func close(where isMeant: (Key) -> Bool) {
    flights.withLock { flights in
      for key in flights.keys.filter(isMeant) { flights[key] = nil }
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

  private let state = Locked(State())

  /// Whether the body is on its way: then the flight ends with it.
  var isStreaming: Bool {
    get { state.withLock { $0.isStreaming } }
    set { state.withLock { $0.isStreaming = newValue } }
  }

  /// Says what has come of the flight. Only the first call counts.
  func settle(_ outcome: Outcome) {
    let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      guard state.outcome == nil else { return [] }
      state.outcome = outcome
      return state.waiters.takeAll()
    }
    waiters.wake()
  }

  /// Waits for what comes of the flight.
  func outcome() async throws -> Outcome {
    await state.wait(at: \.waiters) { $0.outcome != nil }
    try Task.checkCancellation()
    guard let outcome = state.withLock({ $0.outcome }) else { throw CancellationError() }
    return outcome
  }
}
