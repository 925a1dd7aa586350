import Foundation
import NIOConcurrencyHelpers

/// What a server has seen, and what it was told to do. Safe from any thread.
final class Journal: Sendable {
  private struct State {
    var keepsLog = true
    var requests: [TestOrigin.Request] = []
    var connections: [TestOrigin.Connection] = []
    var open = 0
    var sent = 0
    var behaviour: TestOrigin.Behaviour
    /// Addresses that behave otherwise.
    var exceptions: [String: TestOrigin.Behaviour] = [:]
    var routes: [String: @Sendable (TestOrigin.Request) -> Reply] = [:]
    var gates: [String: Gate] = [:]
    var waiters: [Int: Waiter] = [:]
    var lastWaiter = 0
  }

  private struct Gate {
    var chunks: [String?] = []
    var wake: (@Sendable () -> Void)?
  }

  private struct Waiter {
    let condition: @Sendable () -> Bool
    let continuation: CheckedContinuation<Void, Never>
  }

  private let state: NIOLockedValueBox<State>

  init(_ behaviour: TestOrigin.Behaviour) {
    state = NIOLockedValueBox(State(behaviour: behaviour))
  }

  /// Changes the state, then wakes who waited for it.
  private func change<Result>(_ body: (inout State) -> Result) -> Result {
    let (result, waiters) = state.withLockedValue { (body(&$0), $0.waiters) }
    wake(waiters)
    return result
  }

  private func wake(_ waiters: [Int: Waiter]) {
    // Conditions read this journal, so they are asked without the lock. Whoever removes a waiter resumes it.
    for (id, waiter) in waiters where waiter.condition() { resume(id) }
  }

  private func resume(_ id: Int) {
    state.withLockedValue { $0.waiters.removeValue(forKey: id) }?.continuation.resume()
  }

  func until(_ condition: @escaping @Sendable () -> Bool) async {
    let id = state.withLockedValue { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waiter = Waiter(condition: condition, continuation: continuation)
        // Asked once: a cancellation after this finds the waiter.
        let isWaiting = state.withLockedValue { state in
          guard !Task.isCancelled else { return false }
          state.waiters[id] = waiter
          return true
        }
        if isWaiting { wake([id: waiter]) } else { continuation.resume() }
      }
    } onCancel: {
      resume(id)
    }
  }
}

// MARK: - What was seen

extension Journal {
  /// Notes a new connection and gives it its number.
  func opened(_ connection: (_ number: Int) -> TestOrigin.Connection) -> Int {
    change { state in
      state.connections.append(connection(state.connections.count + 1))
      state.open += 1
      return state.connections.count
    }
  }

  func closed(_ number: Int) {
    change { state in
      state.open -= 1
      state.connections[number - 1].isOpen = false
      state.connections[number - 1].fail("closed before the handshake was over")
    }
  }

  func update(_ number: Int, _ body: (inout TestOrigin.Connection) -> Void) {
    change { body(&$0.connections[number - 1]) }
  }

  func received(_ bytes: some Sequence<UInt8>, on number: Int) {
    change { if $0.keepsLog { $0.connections[number - 1].rawBytes.append(contentsOf: bytes) } }
  }

  func add(_ request: TestOrigin.Request) {
    change { if $0.keepsLog { $0.requests.append(request) } }
  }

  func didSend(_ bytes: Int) {
    change { $0.sent += bytes }
  }

  var keepsLog: Bool {
    get { state.withLockedValue { $0.keepsLog } }
    set { state.withLockedValue { $0.keepsLog = newValue } }
  }

  var requests: [TestOrigin.Request] { state.withLockedValue { $0.requests } }
  var connections: [TestOrigin.Connection] { state.withLockedValue { $0.connections } }
  var connectionCount: Int { state.withLockedValue { $0.connections.count } }
  var openConnectionCount: Int { state.withLockedValue { $0.open } }
  var bytesSent: Int { state.withLockedValue { $0.sent } }
}

extension TestOrigin.Connection {
  /// Notes that the handshake failed, unless it was over.
  mutating func fail(_ text: String) {
    guard isHandshaking else { return }
    isHandshaking = false
    handshakeFailure = text
  }
}

// MARK: - What to do

extension Journal {
  func setRoute(_ path: String, _ reply: @escaping @Sendable (TestOrigin.Request) -> Reply) {
    state.withLockedValue { $0.routes[path] = reply }
  }

  func reply(to request: TestOrigin.Request) -> Reply {
    state.withLockedValue { $0.routes[request.path] }?(request) ?? Reply.route(request)
  }

  var behaviour: TestOrigin.Behaviour {
    get { state.withLockedValue { $0.behaviour } }
    set {
      state.withLockedValue { state in
        state.behaviour = newValue
        state.exceptions = [:]
      }
    }
  }

  func behaviour(on host: String) -> TestOrigin.Behaviour {
    state.withLockedValue { $0.exceptions[host] ?? $0.behaviour }
  }

  func setBehaviour(_ behaviour: TestOrigin.Behaviour, on host: String) {
    state.withLockedValue { $0.exceptions[host] = behaviour }
  }
}

// MARK: - Gates

extension Journal {
  func release(_ chunk: String?, gate name: String) {
    let wake = state.withLockedValue { state in
      state.gates[name, default: Gate()].chunks.append(chunk)
      return state.gates[name]?.wake
    }
    wake?()
  }

  /// Calls `wake` whenever a chunk is there, and once if some are already. The last who asks for a gate gets its
  /// chunks.
  func openGate(_ name: String, _ wake: @escaping @Sendable () -> Void) {
    state.withLockedValue { $0.gates[name, default: Gate()].wake = wake }
    wake()
  }

  /// Takes the next chunk that was released; the inner `nil` is the end.
  func takeChunk(_ name: String) -> String?? {
    state.withLockedValue { state in
      guard let chunk = state.gates[name]?.chunks.first else { return nil }
      state.gates[name]?.chunks.removeFirst()
      if chunk == nil { state.gates[name]?.wake = nil }
      return .some(chunk)
    }
  }
}
