import Foundation
import TestSupport
import Testing
import WaylayCore

@testable import WaylayHosts

/// The rest of a chain, made up: each address does what it was told to. Nothing of it takes time but what a clock says.
final class FakeNetwork: Sendable {
  /// What an address does.
  enum Behaviour: Sendable {
    /// It is connected after so long, and answers.
    case answers(after: Duration = .zero, status: Int = 200)
    /// It takes the request at once, and answers after so long.
    case takesAndAnswers(after: Duration)
    /// It takes the request and never answers.
    case takesAndIsSilent
    /// It never connects.
    case hangs
    case fails(TransportError)
    /// It is connected after so long, claims the gate, and fails so much later, before it has sent anything.
    case claimsAndFails(TransportError, connected: Duration, failed: Duration)
  }

  /// A request that came.
  struct Visit: Sendable {
    let address: String
    let request: InterceptedRequest
    let time: Duration
  }

  private struct State {
    var behaviours: [String: Behaviour] = [:]
    var visits: [Visit] = []
    var sent: [String] = []
    var cancelled: [String] = []
    /// How many were connected and found the gate claimed by another.
    var losses = 0
    var waiters = Waiters()
  }

  let time = StepClock()
  private let state: Locked<State>

  /// - Parameter behaviours: By address; `system` is the system's way.
  init(_ behaviours: [String: Behaviour]) {
    state = Locked(State(behaviours: behaviours))
  }

  func set(_ behaviour: Behaviour, for address: String) {
    state.withLock { $0.behaviours[address] = behaviour }
  }

  /// Where attempts went, in order.
  var visited: [String] { state.withLock { $0.visits.map(\.address) } }
  var visits: [Visit] { state.withLock { $0.visits } }
  /// Which addresses got the request.
  var sent: [String] { state.withLock { $0.sent } }
  var cancelled: [String] { state.withLock { $0.cancelled } }

  /// Waits until so many attempts have been begun, or until the task is cancelled.
  func visits(_ count: Int) async {
    let isThere: @Sendable (State) -> Bool = { $0.visits.count >= count }
    while !state.withLock({ isThere($0) }), !Task.isCancelled { await state.wait(at: \.waiters, unless: isThere) }
  }

  /// Waits until so many attempts were connected and found that another had the request, or until the task is cancelled.
  func losses(_ count: Int) async {
    let isThere: @Sendable (State) -> Bool = { $0.losses >= count }
    while !state.withLock({ isThere($0) }), !Task.isCancelled { await state.wait(at: \.waiters, unless: isThere) }
  }

  var next: InterceptorChain.Next {
    InterceptorChain.Next { try await self.load($0) }
  }

  func load(_ request: InterceptedRequest) async throws -> InterceptedResponse {
    let address = request.route?.address ?? "system"
    let (behaviour, waiters) = state.withLock { state in
      state.visits.append(Visit(address: address, request: request, time: time.now - .seconds(1)))
      return (state.behaviours[address], state.waiters.takeAll())
    }
    waiters.wake()
    let ticket = DialGate.Ticket(request.route)
    do {
      try await waitInVain(behaviour, limit: request.route?.connectTimeout)
      switch behaviour {
      case nil, .hangs?: try await time.clock.sleep(.seconds(1_000_000))
      case .answers(let delay, let status)?:
        if delay > .zero { try await time.clock.sleep(delay) }
        try claim(request, ticket)
        var response = InterceptedResponse(
          to: request, status: .init(code: status), body: .text(address), source: .network)
        var metrics = LoadMetrics()
        metrics.secureConnection = delay
        metrics.isConnectionReused = false
        response.metrics = metrics
        return response
      case .takesAndAnswers(let delay)?:
        try claim(request, ticket)
        try await time.clock.sleep(delay)
        return InterceptedResponse(to: request, body: .text(address), source: .network)
      case .takesAndIsSilent?:
        try claim(request, ticket)
        try await time.clock.sleep(.seconds(1_000_000))
      case .fails(let error)?:
        if error.requestBytesSent != 0 { try claim(request, ticket) }
        throw error
      case .claimsAndFails(let error, let connected, let delay)?:
        if connected > .zero { try await time.clock.sleep(connected) }
        guard request.route?.gate?.claim(ticket) ?? true else { throw DialGate().lost(to: request.route) }
        try? await time.clock.sleep(delay)
        request.route?.gate?.release(ticket)
        throw error
      }
    } catch is CancellationError {
      state.withLock { $0.cancelled.append(address) }
      throw CancellationError()
    }
    throw URLError(.unknown)
  }

  /// Ends an attempt whose connection would take longer than it may.
  private func waitInVain(_ behaviour: Behaviour?, limit: Duration?) async throws {
    guard let limit else { return }
    switch behaviour {
    case .answers(let delay, _)? where delay <= limit: return
    case nil, .hangs?, .answers?:
      try await time.clock.sleep(limit)
      throw TransportError.unsent(.timedOut)
    default: return
    }
  }

  /// Sends the request, unless another attempt was first.
  private func claim(_ request: InterceptedRequest, _ ticket: DialGate.Ticket) throws {
    if let gate = request.route?.gate, !gate.claim(ticket) {
      let waiters = state.withLock { state in
        state.losses += 1
        return state.waiters.takeAll()
      }
      waiters.wake()
      throw gate.lost(to: request.route)
    }
    state.withLock { $0.sent.append(request.route?.address ?? "system") }
  }
}

extension TransportError {
  /// A failure before anything was sent.
  static func unsent(
    _ urlErrorCode: URLError.Code, _ phase: Phase = .connecting, _ message: String = "no answer",
    code: ErrorCode<TransportError>? = nil
  ) -> TransportError {
    TransportError(urlErrorCode, code: code, phase: phase, requestBytesSent: 0, message: message)
  }

  static let refused = unsent(.cannotConnectToHost, code: .refused)
  static let rogue = unsent(.serverCertificateHasUnknownRoot, .securing, "self-signed certificate")
  /// A failure after the request was sent.
  static let sentAndLost = TransportError(
    .networkConnectionLost, phase: .receiving, requestBytesSent: 100, message: "empty reply")
}

/// A rewriter for `api.test` over a made-up network.
struct Rig {
  let network: FakeNetwork
  let rewriter: HostRewriter

  init(
    _ behaviours: [String: FakeNetwork.Behaviour], addresses: [String]? = nil, policy: HostRewriter.Policy = .require
  ) throws {
    network = FakeNetwork(behaviours)
    let addresses = addresses ?? behaviours.keys.filter { $0 != "system" }.sorted()
    rewriter = HostRewriter(rules: try HostRules(["api.test": addresses]), policy: policy, clock: network.time.clock)
  }

  /// Loads, and returns who has answered.
  @discardableResult
  func load(
    _ method: String = "GET", _ url: String = "https://api.test/", body: MessageBody = .empty
  ) async throws -> String {
    var request = URLRequest(url: try #require(URL(string: url)))
    request.httpMethod = method
    let response = try await rewriter.startLoading(InterceptedRequest(request, body: body), next: network.next)
    return String(decoding: try await response.body.collect(upTo: 100), as: UTF8.self)
  }

  /// Loads, and moves the time on, to so long after the clock's start, once the load sleeps until then.
  func load(
    _ method: String = "GET", _ url: String = "https://api.test/", sleepingUntil time: Duration
  ) async throws -> String {
    async let answer = load(method, url)
    await network.time.sleep(until: time)
    return try await answer
  }

  /// A load that an address has taken waits there for a minute and longer; then it is given up.
  func check(waiting method: String) async {
    let count = network.visited.count
    let load = Task { try await self.load(method) }
    await network.visits(count + 1)
    for _ in 0..<100 {
      network.time.advance(by: .seconds(1))
      await Task.yield()
    }
    #expect(network.visited.count == count + 1)
    load.cancel()
    _ = await load.result
  }

  /// The error that a load fails with.
  func failure(
    _ method: String = "GET", _ url: String = "https://api.test/", body: MessageBody = .empty
  ) async -> (any Error)? {
    do {
      try await load(method, url, body: body)
      return nil
    } catch {
      return error
    }
  }

  /// The addresses in the order in which they would be tried now, and what is known of them.
  func states(_ url: String = "https://api.test/") async throws -> [String] {
    await rewriter.explain(try #require(URL(string: url))).rows.map { "\($0.candidate.address) \($0.state)" }
  }
}

/// The error beneath what an app sees.
func hostError(_ error: (any Error)?) -> HostError? {
  (error as? URLError)?.userInfo[NSUnderlyingErrorKey] as? HostError ?? error as? HostError
}
