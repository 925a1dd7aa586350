import Testing
import WaylayMocks
import WaylayRecording

/// Makes the rest of a test an escaping closure, because a run that never ends is abandoned.
@_silgen_name("waylay_testing_escaping")
func escaping(
  _ function: @concurrent @Sendable () async throws -> Void
) -> @concurrent @Sendable () async throws -> Void

/// Runs a test twice, then again with each applicable fault at each of its exchanges, until an invariant breaks.
struct FaultExploration: Sendable {
  enum Ending: Equatable {
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
  let safe: [RequestPattern]
  let test: Test
  let testCase: Test.Case?
  let body: @concurrent @Sendable () async throws -> Void

  /// What the runs so far have shown.
  private struct Findings {
    var baseline: FaultBaseline
    /// The outcomes by the index of the exchange that failed as a whole.
    var outcomes: [Int: Outcomes] = [:]
    /// The indices of the exchanges that a fault has affected.
    var reached: Set<Int> = []
  }

  func explore() async throws {
    var found = Findings(baseline: FaultBaseline(safe: safe))
    var error: (any Error)?
    for number in 1...2 {
      let run = FaultRun(nil, found.baseline, isFirst: number == 1)
      let ending = await perform(run, patience: .milliseconds(100)) { error = $0 }
      let state = run.state.withLock { $0 }
      if number == 1, let error { throw error }
      // A test that fails without a fault reports its own failures.
      if number == 1, !state.failures.isEmpty { return }
      if let problem = leftAlive(state) { return IssueReport.report("\(problem). No fault is needed for that.") }
      guard state.isClean(ending), !Task.isCancelled else {
        return Task.isCancelled
          ? ()
          : IssueReport.report(
            "The test fails when it runs again without a fault: does something outlive it, such as a static?")
      }
      found.baseline.add(state.exchanges)
      guard !plans(for: found.baseline).isEmpty else { return reportNothing(state) }
    }
    let all = plans(for: found.baseline)
    let chosen = spread(all)
    for plan in chosen {
      guard !Task.isCancelled else { return }
      guard try await breaks(plan, .milliseconds(2), &found) != nil else { continue }
      // Confirm with more patience: virtual time may have advanced before the client had made progress.
      guard let problem = try await breaks(plan, .milliseconds(100), &found) else { continue }
      return report(problem, plan, found.baseline)
    }
    reportUnreached(seed == nil ? Array(found.baseline.exchanges.indices) : chosen.map(\.exchange), found)
    guard chosen.count < all.count else { return }
    IssueReport.report(
      """
      .exploringFaults(limit: \(limit)) tried \(chosen.count) of \(all.count) faults, spread over all kinds. For all of \
      them: .exploringFaults(limit: \(all.count + 2))
      """, severity: .warning)
  }

  /// Each fault at each exchange, simplest first: the first plan that breaks an invariant is the minimal one.
  private func plans(for baseline: FaultBaseline) -> [FaultPlan] {
    let exchanges = baseline.exchanges
    let all = FaultPlan.Kind.allCases.flatMap { kind in
      exchanges.indices.filter { kind.applies(to: exchanges[$0]) }.map { FaultPlan(kind, at: $0) }
    }
    return seed.map { seed in all.filter { $0.seed == seed } } ?? all
  }

  /// As many plans as the limit allows, of all kinds.
  private func spread(_ plans: [FaultPlan]) -> [FaultPlan] {
    let count = max(0, limit - 2)
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

  private func reportUnreached(_ exchanges: [Int], _ found: Findings) {
    let requests = exchanges.filter { !found.reached.contains($0) }.map {
      "\(MockRequest(found.baseline.exchanges[$0].request))"
    }
    guard !requests.isEmpty else { return }
    IssueReport.report(
      """
      .exploringFaults could not make every exchange fail: the limit leaves some out, or they are not the same in each \
      run. No fault reached \(requests.joined(separator: ", ")).
      """, severity: .warning)
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

  /// Runs the test with a fault. A run that the fault does not reach shows how runs without one differ.
  ///
  /// - Parameter patience: The time without progress after which the virtual clock advances.
  /// - Returns: The broken invariant, if any.
  private func breaks(_ plan: FaultPlan, _ patience: Duration, _ found: inout Findings) async throws -> String? {
    let time = plan.kind.isHarmless ? max(patience, .milliseconds(10)) : patience
    var (run, ending, state): (FaultRun, Ending, FaultRun.State)
    repeat {
      run = FaultRun(plan, found.baseline)
      ending = await perform(run, patience: time) { _ in }
      state = run.state.withLock { $0 }
    } while state.struck.isEmpty && state.isClean(ending) && found.baseline.add(state.exchanges)
    guard !state.struck.isEmpty else { return nil }
    found.reached.insert(plan.exchange)
    let (target, baseline) = (found.baseline.exchange(plan.exchange), found.baseline)
    if plan.kind.isWhole { found.outcomes[plan.exchange, default: Outcomes()].insert(state) }
    if let problem = problem(of: plan, target, ending, state, baseline) { return problem }
    guard plan.kind.cutsBody, !state.hasThrown, !state.failures.isEmpty else { return nil }
    if target.isStream, state.exchanges.count(where: { $0.key == target.key }) > baseline.most(target.key, \.count) {
      return "A part of a stream was lost or repeated: the test reconnected, and continued without an error"
    }
    for kind in FaultPlan.Kind.allCases
    where kind.isWhole && found.outcomes[plan.exchange]?.failures.contains(state.failures) != true {
      let other = FaultRun(FaultPlan(kind, at: plan.exchange), baseline)
      _ = await perform(other, patience: patience) { _ in }
      found.outcomes[plan.exchange, default: Outcomes()].insert(other.state.withLock { $0 })
    }
    guard let outcomes = found.outcomes[plan.exchange], !outcomes.failures.contains(state.failures) else { return nil }
    // An app that shows a stream may handle failures without throwing: then a missing error proves nothing.
    guard !target.isStream || outcomes.alwaysThrew else { return nil }
    return
      "A truncated response was treated as complete: the test continued without an error, and its result is not that "
      + "of any other failure"
  }

  // MARK: Invariants

  private func problem(
    of plan: FaultPlan, _ target: FaultRun.Exchange, _ ending: Ending, _ state: FaultRun.State,
    _ baseline: FaultBaseline
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
    for first in state.exchanges where first.occurrence == 0 {
      let exchanges = state.exchanges.filter { $0.key == first.key }
      let request = "\(MockRequest(first.request))"
      let (effects, usual) = (FaultBaseline.effects(of: exchanges), baseline.most(first.key, FaultBaseline.effects))
      if effects > max(usual, 1) {
        let isTwice =
          if first.key == target.key {
            plan.kind.leavesOpen
          } else if plan.kind.isAboutCredentials {
            // An expired token may be refreshed once.
            plan.kind == .unauthorized && effects > usual + 1
          } else {
            // A request that no run makes without a fault may follow each failure, such as a report of it.
            usual > 0 || effects > state.struck.count
          }
        if isTwice { return "\(request) was sent \(exchanges.count) times, and may have been carried out each time" }
      }
      let extra = exchanges.count - baseline.most(first.key, \.count)
      let burst = 10
      if extra >= burst, zip(exchanges, exchanges.dropFirst(burst - 1)).contains(where: { $1.at - $0.at < .seconds(1) })
      {
        return "\(request) was repeated \(burst) times within a second"
      }
    }
    if plan.kind == .tooMany, let problem = haste(after: state.struck[0], state, baseline) { return problem }
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

  /// A repetition before the end of `Retry-After`, in virtual and in real time.
  private func haste(after struck: Int, _ state: FaultRun.State, _ baseline: FaultBaseline) -> String? {
    let refused = state.exchanges[struck]
    let soon = state.exchanges[(struck + 1)...].count { next in
      next.key == refused.key && next.request.url.host == refused.request.url.host
        && max(next.at - refused.at, next.began - refused.began) < .seconds(FaultPlan.retryAfter)
    }
    guard soon > max(0, baseline.most(refused.key, \.count) - refused.occurrence - 1) else { return nil }
    return "\(MockRequest(refused.request)) was sent again earlier than Retry-After asks for"
  }

  private func report(_ problem: String, _ plan: FaultPlan, _ baseline: FaultBaseline) {
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
      if !run.isFirst, state.exchanges.count > 500 || run.clock.now.offset > .seconds(86_400) {
        task.cancel()
        return .endless
      }
      // Requests in flight get more time, since they may complete without a timer.
      guard quiet > (state.open.isEmpty ? patience : patience * 4), !state.isOver else { continue }
      if run.plan?.kind.cancels == true, !state.struck.isEmpty, !state.isCancelled {
        run.state.withLock { $0.isCancelled = true }
        task.cancel()
        turns = 0
      } else if !state.isCancelled, let deadline = run.clock.nextDeadline {
        run.clock.advance(by: run.clock.now.duration(to: deadline))
        turns = 0
      } else if quiet > .milliseconds(900), real.now - quietSince > realTime, !run.isFirst {
        task.cancel()
        return .stuck
      }
    }
    if case .failure(let error) = result.withLock({ $0 }) { failing(error) }
    return .over
  }
}
