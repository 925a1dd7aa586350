import Foundation

/// A load that begins inside the loading system's own call (rule 9), where most answers are there before the call returns.
extension Load {
  /// How far such a load has come.
  struct Early {
    var outcome: Result<InterceptedResponse, any Error>?
    var waiter: CheckedContinuation<Void, Never>?
  }

  /// Runs the chain and keeps what comes out of it.
  func respondEarly(_ firstHop: FirstHop) async {
    let outcome: Result<InterceptedResponse, any Error>
    do { outcome = .success(try await respond(firstHop)) } catch { outcome = .failure(error) }
    let waiter = state.withLock { state in
      state.early.outcome = outcome
      return state.early.waiter
    }
    waiter?.resume()
  }

  /// What has come out of the chain, if it has ended.
  func takeEarlyOutcome() -> Result<InterceptedResponse, any Error>? {
    state.withLock { state in
      defer { state.early.outcome = nil }
      return state.early.outcome
    }
  }

  /// Waits for a chain that had not ended; cancelling the wait cancels the chain.
  func earlyOutcome(of chain: Task<Void, Never>) async throws -> InterceptedResponse {
    try await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let hasEnded = state.withLock { state in
          if state.early.outcome == nil { state.early.waiter = continuation }
          return state.early.outcome != nil
        }
        if hasEnded { continuation.resume() }
      }
      guard let outcome = takeEarlyOutcome() else { throw CancellationError() }
      return try outcome.get()
    } onCancel: {
      chain.cancel()
    }
  }
}
