import Foundation

/// How long the network may be silent before something stale is given in its place (RFC 9111, section 4.2.4; RFC 5861,
/// section 4).
///
/// The load's own timeout cannot do it: it runs round the whole chain, and ends the load with whatever was about to
/// answer it.
extension ArchiveLoad {
  /// What came of waiting.
  enum Waited<Value: Sendable>: Sendable {
    case value(Value)
    /// Something stale, and the work, which goes on.
    case late(InterceptedResponse, PatientWork<Value>)
  }

  /// Waits for `work`; when that is silent for too long and something stale may be given, gives that.
  ///
  /// Where nothing stored may stand in for the answer, the request's own timeout counts, as without an archive.
  func patiently<Value: Sendable>(
    _ decision: CacheDecision, _ stored: [Stored], _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Waited<Value> {
    guard let limit = patience(decision, stored) else { return .value(try await work()) }
    let pending = PatientWork<Value>()
    pending.start(work)
    let clock = configuration.clock
    let (deadline, isNever) = clock.now().addingReportingOverflow(limit)
    clock.schedule(isNever ? .max : deadline) { [weak pending] in pending?.becomeLate() }
    if let value = try await pending.outcome() { return .value(value) }
    do {
      let silence = TransportError(.timedOut, phase: .receiving, message: "nothing came within the archive's patience.")
      return .late(try await unreachable(silence, decision, stored), pending)
    } catch {
      // Too stale by now, or it cannot be read: then the network is all there is.
      guard let value = try await pending.outcome(evenLate: true) else { throw CancellationError() }
      return .value(value)
    }
  }

  /// The nanoseconds of ``ArchiveCache/Configuration/patience``, and no more than half of the request's own timeout,
  /// which would end the load; `nil` where nothing stale could be given.
  private func patience(_ decision: CacheDecision, _ stored: [Stored]) -> UInt64? {
    guard !isInBackground, decision.selected != nil,
      policy.fail(for: asked, decision, records: stored.map(\.record), now: now, options: options) != nil
    else { return nil }
    var seconds = configuration.patienceFor?(request.urlRequest, options.mode) ?? configuration.patience
    for timeout in [request.idleTimeout, request.context.resourceTimeout] where timeout > 0 {
      seconds = min(seconds, timeout / 2)
    }
    // No number, and more than thirty years, are no limit.
    guard seconds < 1e9 else { return nil }
    return UInt64(max(0, seconds) * 1e9)
  }

  /// Has an answer that nobody waits for any more stored when it comes after all: an origin that is always slower than
  /// the archive is patient would never be heard again otherwise.
  func receiveInBackground(
    _ pending: PatientWork<InterceptedResponse>, _ sent: Sent, _ decision: CacheDecision, _ stored: [Stored]
  ) {
    var limited = self
    limited.isInBackground = true
    let load = limited
    let isTaken = engine.background.start(key, giveUpAfter: configuration.backgroundTimeout, on: configuration.clock) {
      do {
        guard let response = try await pending.outcome(evenLate: true) else { return }
        let rest = try await load.received(response, sent, decision, stored, nil) {
          try await load.sendInBackground($0)
        }
        for try await _ in rest.body {}
      } catch {
        pending.cancel()
        load.reportBackgroundFailure(error)
      }
    }
    if !isTaken { pending.cancel() }
  }

  /// The way out for what goes on behind an answer.
  func sendInBackground(_ outgoing: InterceptedRequest) async throws -> InterceptedResponse {
    var outgoing = outgoing
    // Nobody watches over the load any more: another timeout than its own has the transport do it.
    outgoing.options.timeout = configuration.backgroundTimeout
    return try await next.inBackground(outgoing)
  }

  func reportBackgroundFailure(_ error: any Error) {
    engine.reporter.report(event(.storeFailed, reason: "a revalidation in the background failed: \(error.redacted)"))
  }
}
