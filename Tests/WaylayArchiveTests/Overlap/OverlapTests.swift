import Foundation
import TestSupport
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("Stores that overlap in time", .timeLimit(.minutes(30)))
struct OverlapTests {
  /// How many schedules there are, and which: `WAYLAY_OVERLAP_SCHEDULES` says how many, `WAYLAY_OVERLAP_SEED` begins
  /// with another one, so that a count of 1 and the seed of a failure are that failure again.
  private static func number(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap {
      UInt64($0.hasPrefix("0x") ? String($0.dropFirst(2)) : $0, radix: 16)
    }
  }

  private static let count =
    ProcessInfo.processInfo.environment["WAYLAY_OVERLAP_SCHEDULES"].flatMap { Int($0) }
    ?? Sizes.of(10_000, small: 400)

  @Test("whatever overlaps, each look-up finds what is there, and nothing is lost, left over or stuck", .heavy)
  func schedules() async throws {
    let first = Self.number("WAYLAY_OVERLAP_SEED")
    let base = first ?? UInt64.random(in: 1 << 32..<1 << 48)
    let start = ContinuousClock.now
    let folder = Self.folder.appendingPathComponent("waylay-overlap-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let next = Locked(0)
    let (operations, failures) = (Locked(0), Locked(0))
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          while true {
            let number = next.withLock { next in
              next += 1
              return next - 1
            }
            guard number < Self.count, failures.withLock({ $0 < 200 }), !Task.isCancelled else { return }
            let seed = base &+ UInt64(number)
            let outcome = await Self.watched(Schedule(seed: seed, isLogging: first != nil), in: folder)
            operations.withLock { $0 += outcome.operations }
            guard !outcome.violations.isEmpty else { continue }
            failures.withLock { $0 += 1 }
            let text = outcome.violations.prefix(5).joined(separator: "\n")
            let message = "schedule with the seed \(String(seed, radix: 16)) (WAYLAY_OVERLAP_SEED):\n\(text)"
            Issue.record(Comment(rawValue: message))
            if first != nil { print(outcome.log.joined(separator: "\n")) }
          }
        }
      }
    }
    print(
      """
      \(next.withLock { min($0, Self.count) }) overlapping schedules from the seed \(String(base, radix: 16)): \
      \(operations.withLock { $0 }) moments in \(start.duration(to: .now))
      """
    )
  }

  /// Runs a schedule and says so when it does not come to its end.
  private static func watched(_ schedule: Schedule, in folder: URL) async -> Schedule.Outcome {
    let watchdog = Task {
      // The one wait for a time: nothing else tells a task that is stuck from one that is slow.
      guard (try? await Task.sleep(for: .seconds(120))) != nil else { return }
      Issue.record("the schedule with the seed \(String(schedule.seed, radix: 16)) is stuck")
    }
    defer { watchdog.cancel() }
    return await schedule.run(in: folder)
  }

  /// In memory where the system has such a place: the schedules are about time, not about the disk.
  private static var folder: URL {
    let shared = URL(fileURLWithPath: "/dev/shm", isDirectory: true)
    return FileManager.default.isWritableFile(atPath: shared.path) ? shared : FileManager.default.temporaryDirectory
  }
}
