import Foundation
import StoreFaults
import TestOrigin
import Testing
import WaylayCore

@testable import WaylayArchive

@Suite("A loss of power while an archive is made", .timeLimit(.minutes(5)))
struct OpeningPowerTests {
  private static let directory = URL(fileURLWithPath: "/above/archive", isDirectory: true)

  private static func options(_ system: any SystemCalls) -> DiskStore.Options {
    var options = DiskStore.Options(memory: 0, logger: .silent)
    options.system = system
    return options
  }

  @Test("at any call leaves a directory that opens and takes entries")
  func anyCall() async throws {
    let disk = ModelDisk()
    let moments = Locked<[ModelDisk]>([])
    let chance = Locked(SplitMix(state: 2026))
    let system = FailingSystem(disk) { call in
      guard ![.open, .status, .read, .names, .lock].contains(call) else { return nil }
      let made = chance.withLock { chance in (0..<12).map { _ in disk.afterLossOfPower(&chance) } }
      moments.withLock { $0 += made }
      return nil
    }
    await (try DiskStore(at: Self.directory, options: Self.options(system))).close()
    let left = moments.withLock { $0 }
    #expect(left.count > 60)
    for disk in left {
      // Twice, because the first opening clears away.
      for round in 1...2 {
        let store = try DiskStore(at: Self.directory, options: Self.options(disk))
        try store.put(.sample("\(round)"), body: .noise(100))
        try await store.flush()
        #expect(store.usage.count == round)
        await store.close()
      }
    }
  }
}
