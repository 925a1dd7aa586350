import Foundation
import TestSupport
import Testing

@Suite("Any call to the system may fail", .timeLimit(.minutes(60)))
struct FaultTests {
  private let environment = ProcessInfo.processInfo.environment

  /// A sample of everything, or everything (`WAYLAY_FAULTS=all`, as `Scripts/nightly.sh` has it); `WAYLAY_SEED` chooses
  /// which, and `WAYLAY_FAULT_CALL` one of all.
  private func run(_ session: FaultSession, stride: Int) -> FaultRun {
    let seed = environment["WAYLAY_SEED"].flatMap { UInt64($0) } ?? 2026
    guard environment["WAYLAY_FAULTS"] != "all" else {
      return FaultRun(session: session, seed: seed, only: environment["WAYLAY_FAULT_CALL"].flatMap { Int($0) })
    }
    return FaultRun(session: session, seed: seed, stride: stride, variants: 1, losses: 3)
  }

  @Test(
    "and each entry is whole or absent, what was flushed is there, and none is lost to a read", .heavy,
    arguments: FaultSession.allCases)
  func everyCall(session: FaultSession) async throws {
    let outcome = await run(session, stride: 26).everyCall()
    #expect(outcome.found.isEmpty, "\(outcome.found.joined(separator: "\n"))")
    #expect(outcome.tried >= 20 || environment["WAYLAY_FAULT_CALL"] != nil)
  }

  @Test(
    "and what a kill, or a loss of power, leaves at any call has all that was flushed", .heavy,
    arguments: FaultSession.allCases)
  func everyMoment(session: FaultSession) async throws {
    let outcome = await run(session, stride: 8).everyMoment()
    #expect(outcome.found.isEmpty, "\(outcome.found.joined(separator: "\n"))")
    #expect(outcome.tried >= 40 || environment["WAYLAY_FAULT_CALL"] != nil)
    guard environment["WAYLAY_FAULTS"] == "all" else { return }
    // And with steps that do not wait for each other, which is not the same each time.
    var overlapping = run(session, stride: 1)
    overlapping.isSettled = false
    let found = await overlapping.everyMoment().found
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
  }
}
