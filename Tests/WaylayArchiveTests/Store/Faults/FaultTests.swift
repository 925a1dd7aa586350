import Foundation
import StoreFaults
import TestOrigin
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

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
    tell(outcome, "failing calls of \(session)")
    #expect(outcome.found.isEmpty, "\(outcome.found.joined(separator: "\n"))")
    #expect(outcome.tried >= 20 || environment["WAYLAY_FAULT_CALL"] != nil)
  }

  @Test(
    "and what a kill, or a loss of power, leaves at any call has all that was flushed", .heavy,
    arguments: FaultSession.allCases)
  func everyMoment(session: FaultSession) async throws {
    let outcome = await run(session, stride: 8).everyMoment()
    tell(outcome, "moments of \(session)")
    #expect(outcome.found.isEmpty, "\(outcome.found.joined(separator: "\n"))")
    #expect(outcome.tried >= 40 || environment["WAYLAY_FAULT_CALL"] != nil)
    guard environment["WAYLAY_FAULTS"] == "all" else { return }
    // And with steps that do not wait for each other, which is not the same each time.
    var overlapping = run(session, stride: 1)
    overlapping.isSettled = false
    let again = await overlapping.everyMoment()
    tell(again, "moments of \(session), overlapping")
    #expect(again.found.isEmpty, "\(again.found.joined(separator: "\n"))")
  }

  /// Prints the count of a whole run.
  private func tell(_ outcome: FaultRun.Outcome, _ schedules: String) {
    guard environment["WAYLAY_FAULTS"] == "all" else { return }
    print("\(outcome.tried) schedules of \(schedules): \(outcome.found.count) faults")
  }

  @Test(
    "and what a sync that failed has dropped, of a body or of the log, is on the disk after the next flush",
    arguments: [0, 2])
  func droppedPages(call: Int) async throws {
    let (disk, left) = (ModelDisk(), Locked<Int?>(nil))
    let system = FailingSystem(disk) { kind in
      guard kind == .synchronize else { return nil }
      return left.withLock { left in
        defer { left = left.map { $0 - 1 } }
        return left == 0 ? .error(EIO) : nil
      }
    }
    func open(_ system: any SystemCalls) throws -> DiskStore {
      var options = DiskStore.Options(memory: 0, logger: .silent)
      options.disk = system
      return try DiskStore(at: FaultSession.directory, options: options)
    }
    let store = try open(system)
    let bodies = ["large": Ledger.body("large", 1, 90_000), "small": Ledger.body("small", 1, 300)]
    for (key, body) in bodies { try await store.put(Ledger.draft(key, 1, body.count), body: body) }
    left.withLock { $0 = call }
    let isFlushed = (try? await store.flush()) != nil
    #expect(left.withLock { $0.map { $0 < 0 } } == true && (call > 0 || !isFlushed))
    left.withLock { $0 = nil }
    if !isFlushed { try await store.flush() }
    var chance = SplitMix(state: UInt64(call))
    for _ in 0..<20 {
      let again = try open(disk.afterLossOfPower(&chance))
      for (key, body) in bodies { #expect(try await again.bodies(key) == [body]) }
      await again.close()
    }
    await store.close()
  }
}
