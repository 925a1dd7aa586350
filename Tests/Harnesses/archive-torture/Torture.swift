import ArgumentParser
import Foundation
import StoreFaults
import WaylayArchive

/// Kills processes that store, read, flush and remove in one archive, again and again, and looks each time at what they
/// left.
@main
struct Torture: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "archive-torture", abstract: "Shows what kill -9 does to an archive on disk: nothing.",
    subcommands: [Siege.self, Victim.self], defaultSubcommand: Siege.self)
}

/// What both sides know.
enum Plan {
  static let limits = StoreLimits(bytes: 6 << 20, count: 600, entryBytes: 400_000)
  /// The keys of each process, and those that all share.
  static let keys = 20
  static let sharedKeys = 200

  static func open(_ directory: URL) async throws -> ArchiveCache {
    let archive = ArchiveCache(.disk(at: directory, limits: limits, memory: 1 << 18), Planted.configure)
    try await archive.waitUntilOpen()
    return archive
  }
}

/// What the processes that are to be killed do most: any of it, or what they are to be killed within.
enum Work: String, CaseIterable, ExpressibleByArgument {
  case any, flush, removal
}

/// Numbers that look random and are the same for the same seed (SplitMix64).
struct Dice: Sendable {
  private var state: UInt64

  init(_ seed: UInt64) {
    state = seed
  }

  mutating func roll(_ sides: Int) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return Int((word ^ (word >> 31)) % UInt64(sides))
  }
}
