import Foundation
import TestSupport
import Testing

@testable import WaylayArchive

@Suite("The memory that a store takes", .timeLimit(.minutes(10)))
struct MemoryUseTests {
  @Test(
    "64 MiB go in and come out through less than 8 MiB", .exitTest,
    .enabled(if: Process.measuresMemory, "there is nothing to read it from"))
  func largeBody() async {
    await #expect(processExitsWith: .success) {
      Process.limit()
      let directory = TemporaryDirectory()
      let store = try directory.store(.init(limits: StoreLimits(bytes: 1 << 30, entryBytes: 1 << 30), logger: .silent))
      func pass(_ count: Int, _ key: String, _ look: () -> Void) async throws {
        let writer = try store.makeWriter(for: ArchiveKey(key))
        for number in 0..<count {
          try await writer.append(.noise(1 << 16, seed: UInt64(number)))
          look()
        }
        let entry = try await writer.commit(.sample(key))
        var number = 0
        var rest = Data()
        for try await chunk in try await entry.body() {
          rest += chunk
          look()
          while rest.count >= 1 << 16 {
            Process.require(
              rest.prefix(1 << 16) == Data.noise(1 << 16, seed: UInt64(number)), "the body is not what went in")
            rest = Data(rest.dropFirst(1 << 16))
            number += 1
          }
        }
        Process.require(number == count && rest.isEmpty, "the body is not as long as what went in")
      }
      // What is made at the first use is not the body's.
      try await pass(64, "small") {}
      let before = Process.residentBytes
      var most = 0
      try await pass(1024, "large") { most = max(most, Process.residentBytes) }
      Process.require(most - before < 8 << 20, "resident memory grew by \((most - before) >> 10) KiB")
      await store.close()
    }
  }
}
