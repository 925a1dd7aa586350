import TestSupport
import WaylayCore
import WaylayHosts

/// A resolver whose look-ups end when a test says so.
final class ScriptedResolver: HostResolver {
  private struct Call {
    var continuation: CheckedContinuation<HostResolution, any Error>?
    var isCancelled = false
    /// Whether it waits, so that it can be ended.
    var hasBegun = false
  }

  private struct State {
    var calls: [Call] = []
    var watchers = Waiters()

    var counts: Counts { Counts(calls: calls.count(where: \.hasBegun), cancelled: calls.count(where: \.isCancelled)) }
  }

  struct Counts: Sendable {
    let calls: Int
    let cancelled: Int
  }

  let name = "script"
  private let state = Locked(State())

  var counts: Counts { state.withLock { $0.counts } }

  func resolve(_ host: HostName, port: Int) async throws -> HostResolution {
    let index = state.withLock { state in
      state.calls.append(Call())
      return state.calls.count - 1
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isCancelled = state.withLock { state in
          state.calls[index].hasBegun = true
          if !state.calls[index].isCancelled { state.calls[index].continuation = continuation }
          return state.calls[index].isCancelled
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
        wake()
      }
    } onCancel: {
      let continuation = state.withLock { state in
        state.calls[index].isCancelled = true
        defer { state.calls[index].continuation = nil }
        return state.calls[index].continuation
      }
      continuation?.resume(throwing: CancellationError())
      wake()
    }
  }

  /// Waits until the look-ups that have begun, and those that were cancelled, are as many as they should be, or until
  /// the task is cancelled.
  func until(_ condition: @escaping @Sendable (Counts) -> Bool) async {
    while !condition(counts), !Task.isCancelled { await state.wait(at: \.watchers) { condition($0.counts) } }
  }

  func untilCalls(_ count: Int) async {
    await until { $0.calls >= count }
  }

  /// Ends a look-up, the last one unless told otherwise.
  func answer(_ address: String, seconds: Int = 100, call: Int? = nil) throws {
    end(call, .success(HostResolution([try HostAddress(address)], timeToLive: .seconds(seconds), source: name)))
  }

  func fail(_ code: HostError.Code, seconds: Int? = nil, call: Int? = nil) {
    end(call, .failure(HostError(code, "scripted", timeToLive: seconds.map { .seconds($0) })))
  }

  private func end(_ call: Int?, _ result: Result<HostResolution, any Error>) {
    let continuation = state.withLock { state in
      let index = call ?? state.calls.count - 1
      defer { state.calls[index].continuation = nil }
      return state.calls[index].continuation
    }
    continuation?.resume(with: result)
  }

  private func wake() {
    state.withLock { $0.watchers.takeAll() }.wake()
  }
}
