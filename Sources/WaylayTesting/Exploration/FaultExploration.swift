import Testing
import WaylayMocks
import WaylayRecording

/// Makes the rest of a test an escaping closure, because a run that never ends is abandoned.
@_silgen_name("waylay_testing_escaping")
func escaping(
  _ function: @concurrent @Sendable () async throws -> Void
) -> @concurrent @Sendable () async throws -> Void

/// Runs a test once, then again with each applicable fault at each of its exchanges, until an invariant breaks.
struct FaultExploration: Sendable {
  private enum Ending: Equatable {
    case over
    /// Deadlock: no progress, and no pending timer.
    case stuck
    /// The test keeps making requests or sleeping beyond a limit.
    case endless
  }

  let limit: Int
  let seed: UInt64?
  /// How long a run may do nothing in real time.
  let realTime: Duration
  let test: Test
  let testCase: Test.Case?
  let body: @concurrent @Sendable () async throws -> Void

  func explore() async throws {
    let first = FaultRun()
    var error: (any Error)?
    _ = await perform(first, patience: .milliseconds(100)) { error = $0 }
    if let error { throw error }
    let baseline = first.state.withLock { $0 }
    // A test that fails without a fault reports its own failures.
    guard baseline.failures.isEmpty else { return }
    if let problem = leftAlive(baseline) { return report(problem, nil, baseline) }
    var outcomes: [Int: Outcomes] = [:]
    let all = plans(for: baseline)
    let chosen = spread(all)
    guard !all.isEmpty else { return reportNothing(baseline) }
    for plan in chosen {
      guard !Task.isCancelled else { return }
      guard try await breaks(plan, baseline, .milliseconds(2), &outcomes) != nil else { continue }
      // Confirm with more patience: virtual time may have advanced before the client had made progress.
      guard let problem = try await breaks(plan, baseline, .milliseconds(100), &outcomes) else { continue }
      return report(problem, plan, baseline)
    }
    guard chosen.count < all.count else { return }
    IssueReport.report(
      """
      .exploringFaults(limit: \(limit)) tried \(chosen.count) of \(all.count) faults, spread over all kinds. For all of \
      them: .exploringFaults(limit: \(all.count + 1))
      """, severity: .warning)
  }

  /// Each fault at each exchange, simplest first: the first plan that breaks an invariant is the minimal one.
  private func plans(for baseline: FaultRun.State) -> [FaultPlan] {
    let all = FaultPlan.Kind.allCases.flatMap { kind in
      baseline.exchanges.indices.filter { kind.applies(to: baseline.exchanges[$0]) }.map { FaultPlan(kind, at: $0) }
    }
    return seed.map { seed in all.filter { $0.seed == seed } } ?? all
  }

  /// As many plans as the limit allows, of all kinds.
  private func spread(_ plans: [FaultPlan]) -> [FaultPlan] {
    let count = max(0, limit - 1)
    guard seed == nil, plans.count > count else { return plans }
    return (0..<count).map { plans[$0 * plans.count / count] }
  }

  private func reportNothing(_ baseline: FaultRun.State) {
    if let seed {
      return IssueReport.report("The seed \(seed) stands for no fault of this test: it has changed since the report.")
    }
    IssueReport.report(
      """
      .exploringFaults found nothing to explore: the test made no request \
      \(baseline.hasMock ? "of its mock's session" : "and has no mock. Give it .mocked { … }, or withMock").
      """, severity: baseline.hasMock ? .warning : .error)
  }

  /// How a test ended after failures of one exchange as a whole.
  private struct Outcomes {
    var failures: Set<[String]> = []
    var alwaysThrew = true

    mutating func insert(_ state: FaultRun.State) {
      failures.insert(state.failures)
      if !state.hasThrown { alwaysThrew = false }
    }
  }

  /// Runs the test with a fault.
  ///
  /// - Parameters:
  ///   - patience: The time without progress after which the virtual clock advances.
  ///   - outcomes: The outcomes by the index of the exchange that failed as a whole.
  /// - Returns: The broken invariant, if any.
  private func breaks(
    _ plan: FaultPlan, _ baseline: FaultRun.State, _ patience: Duration, _ outcomes: inout [Int: Outcomes]
  ) async throws -> String? {
    guard baseline.exchanges.indices.contains(plan.exchange) else { return nil }
    let target = baseline.exchanges[plan.exchange]
    let run = FaultRun(plan, target: target)
    let ending = await perform(run, patience: plan.kind.isHarmless ? max(patience, .milliseconds(10)) : patience) { _ in
    }
    let state = run.state.withLock { $0 }
    if plan.kind.isWhole { outcomes[plan.exchange, default: Outcomes()].insert(state) }
    if let problem = problem(of: plan, target, ending, state, baseline) { return problem }
    guard plan.kind.cutsBody, !state.hasThrown, !state.failures.isEmpty else { return nil }
    if target.isStream, state.exchanges.count(where: { $0.key == target.key }) > target.repetitions(in: baseline) {
      return "A part of a stream was lost or repeated: the test reconnected, and continued without an error"
    }
    for kind in FaultPlan.Kind.allCases
    where kind.isWhole && outcomes[plan.exchange]?.failures.contains(state.failures) != true {
      let other = FaultRun(FaultPlan(kind, at: plan.exchange), target: target)
      _ = await perform(other, patience: patience) { _ in }
      outcomes[plan.exchange, default: Outcomes()].insert(other.state.withLock { $0 })
    }
    guard let outcomes = outcomes[plan.exchange], !outcomes.failures.contains(state.failures) else { return nil }
    // An app that shows a stream may handle failures without throwing: then a missing error proves nothing.
    guard !target.isStream || outcomes.alwaysThrew else { return nil }
    return
      "A truncated response was treated as complete: the test continued without an error, and its result is not that "
      + "of any other failure"
  }

  // MARK: Invariants

  private func problem(
    of plan: FaultPlan, _ target: FaultRun.Exchange, _ ending: Ending, _ state: FaultRun.State,
    _ baseline: FaultRun.State
  ) -> String? {
    switch ending {
    case .stuck where state.isCancelled: return "The test did not end when its task was cancelled"
    case .stuck:
      return """
        The test did not end: nothing has happened for \(realTime). Code that waits must use the mock's clock \
        (MockInterceptor.current.clock); if it has to wait in real time, allow that: .exploringFaults(realTime: …)
        """
    case .endless: return "The test did not end, and still makes requests (\(state.exchanges.count) by now)"
    case .over: break
    }
    if state.late > 0 {
      return "The cancellation did not end it: \(state.late) more request\(state.late == 1 ? " was" : "s were") made"
    }
    for (key, exchanges) in Dictionary(grouping: state.exchanges, by: \.key).sorted(by: { $0.key < $1.key }) {
      let extra = exchanges.count - exchanges[0].repetitions(in: baseline)
      let request = "\(MockRequest(exchanges[0].request))"
      if isUnsafe(exchanges[0]), extra > 0 {
        // A refused request may be retried, and an expired token may be refreshed once.
        let isTwice =
          key == target.key
          ? plan.kind.leavesOpen : plan.kind == .unauthorized ? extra > 1 : !plan.kind.isAboutCredentials
        if isTwice { return "\(request) was sent \(exchanges.count) times, and may have been carried out each time" }
      }
      let burst = 10
      if extra >= burst, zip(exchanges, exchanges.dropFirst(burst - 1)).contains(where: { $1.at - $0.at < .seconds(1) })
      {
        return "\(request) was repeated \(burst) times within a second"
      }
    }
    if let problem = leftAlive(state) { return problem }
    if plan.kind.isHarmless, state.hasThrown || !state.failures.isEmpty {
      return
        "The same bytes in chunks of other sizes gave another result: "
        + "\(state.failures.first ?? "the test threw an error")"
    }
    return nil
  }

  private func leftAlive(_ state: FaultRun.State) -> String? {
    guard !state.leftAlive.isEmpty else { return nil }
    return "A load or a body was left alive at the end of the test: \(state.leftAlive.sorted().joined(separator: ", "))"
  }

  /// Whether the request is not idempotent (RFC 9110, section 9.2.2).
  private func isUnsafe(_ exchange: FaultRun.Exchange) -> Bool {
    let method = exchange.request.method
    guard ![.get, .head, .options, .put, .delete, .trace].contains(method) else { return false }
    return !exchange.request.fields.contains { $0.name.canonicalName.hasSuffix("idempotency-key") }
  }

  private func report(_ problem: String, _ plan: FaultPlan?, _ baseline: FaultRun.State) {
    guard let plan else { return IssueReport.report("\(problem). No fault is needed for that.") }
    let target = baseline.exchanges[plan.exchange]
    IssueReport.report(
      """
      \(problem).
      It takes one fault, at exchange \(plan.exchange + 1) of \(baseline.exchanges.count), \(MockRequest(target.request)):
        \(plan.stub(for: target))
      To repeat it: .exploringFaults(limit: \(limit), seed: \(plan.seed))
      """)
  }

  // MARK: Runs

  /// Runs the test on a virtual clock, which advances when there is no progress.
  private func perform(
    _ run: FaultRun, patience: Duration, failing: (any Error) -> Void
  ) async -> Ending {
    let result = Locked<Result<Void, any Error>?>(nil)
    let task = Task {
      do {
        try await FaultRun.$current.withValue(run) {
          try await IssueHandlingTrait.compactMapIssues { run.note($0) }
            .provideScope(for: test, testCase: testCase) { try await body() }
        }
        result.withLock { $0 = .success(()) }
      } catch {
        run.state.withLock { $0.hasThrown = true }
        result.withLock { $0 = .failure(error) }
      }
    }
    let (real, pause) = (ContinuousClock(), Duration.microseconds(300))
    // Count iterations instead of time: on a busy machine, this loop then slows down with the test.
    var (progress, turns, quietSince, lag) = (run.progress, 0, real.now, Duration.zero)
    while result.withLock({ $0 == nil }) {
      let start = real.now
      do { try await real.sleep(for: pause) } catch {
        // Cancelled from outside, for example by the test's time limit.
        task.cancel()
        await task.value
      }
      // A busy machine makes a task that is ready wait: longer than this one, which has slept.
      lag = max(real.now - start - pause, lag * 0.9)
      let patience = patience * (1 + min(lag / .milliseconds(1), 4))
      let now = run.progress
      if now != progress { quietSince = real.now }
      (progress, turns) = (now, now == progress ? turns + 1 : 0)
      let (state, quiet) = (run.state.withLock { $0 }, pause * turns)
      if run.plan != nil, state.exchanges.count > 500 || run.clock.now.offset > .seconds(86_400) {
        task.cancel()
        return .endless
      }
      // Requests in flight get more time, since they may complete without a timer.
      guard quiet > (state.open.isEmpty ? patience : patience * 4), !state.isOver else { continue }
      if run.plan?.kind.cancels == true, state.strikes > 0, !state.isCancelled {
        run.state.withLock { $0.isCancelled = true }
        task.cancel()
        turns = 0
      } else if !state.isCancelled, let deadline = run.clock.nextDeadline {
        run.clock.advance(by: run.clock.now.duration(to: deadline))
        turns = 0
      } else if quiet > .milliseconds(900), real.now - quietSince > realTime, run.plan != nil {
        task.cancel()
        return .stuck
      }
    }
    if case .failure(let error) = result.withLock({ $0 }) { failing(error) }
    return .over
  }
}
