import ArgumentParser
import Foundation
import StoreFaults
import WaylayArchive

/// Works on an archive until it is killed, and says what it does. Whatever it reads it compares with what it must be.
struct Victim: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "A process that is killed.", shouldDisplay: false)

  @Argument var directory: String
  @Argument var seed: UInt64
  @Argument(help: "Whose keys it alone stores.") var owner: Int
  @Argument(help: "How many such processes there are.") var processes: Int
  @Argument var work: Work

  func run() async throws {
    endWithParent()
    do {
      let archive = try await Plan.open(URL(fileURLWithPath: directory))
      say("open")
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await keeping(archive, Dice(seed)) }
        group.addTask { try await sharing(archive, Dice(seed &+ 1)) }
        group.addTask { try await reading(archive, Dice(seed &+ 2)) }
        try await group.waitForAll()
      }
    } catch {
      fault("\(error)")
    }
  }

  /// Stores, removes and flushes what is pinned and its own, one after the other: what is said to be done is a promise.
  private func keeping(_ archive: ArchiveCache, _ dice: Dice) async throws {
    var dice = dice
    var version = Int(Date().timeIntervalSince1970 * 1000)
    let (flushes, removals) =
      switch work {
      case .any: (70, 85)
      case .flush: (85, 95)
      case .removal: (60, 65)
      }
    while true {
      version += 1
      let planted = Planted(owner, dice.roll(Plan.keys), version)
      switch dice.roll(100) {
      case 0..<50:
        say("+ \(planted.key) \(version)")
        try await planted.store(in: archive)
        say("= \(planted.key) \(version)")
      case 50..<flushes:
        say("f")
        try await archive.flush()
        say("F")
      case flushes..<removals:
        say("- \(planted.key)")
        try await archive.remove(for: planted.request)
        say("~ \(planted.key)")
      default:
        let filter: EntryFilter =
          switch dice.roll(processes == 1 ? 3 : 2) {
          case 0: .host(planted.host)
          case 1: .partition(ArchivePartition(planted.host))
          default: .all
          }
        say("c")
        try await archive.removeAll(filter)
        say("C")
      }
    }
  }

  /// Stores, reads and removes what all processes do: the limits evict others all the time.
  private func sharing(_ archive: ArchiveCache, _ dice: Dice) async throws {
    var dice = dice
    while true {
      let planted = Planted(0, dice.roll(Plan.sharedKeys), dice.roll(1_000_000))
      switch dice.roll(10) {
      case 0..<5:
        // Another process, or this one, may remove the same meanwhile.
        do { try await planted.store(in: archive) } catch let error as ArchiveError
          where error.message.contains("were removed while")
        {}
      case 5..<9:
        _ = try await planted.version(in: archive)
      default:
        try await archive.remove(for: planted.request)
      }
      let usage = try await archive.usage
      if usage.count > Plan.limits.count + 4 || usage.bytes > Plan.limits.bytes + 1 << 20 {
        fault("over the limits: \(usage)")
      }
      try await Task.sleep(for: .microseconds(dice.roll(1000)))
    }
  }

  /// Reads what the others store.
  private func reading(_ archive: ArchiveCache, _ dice: Dice) async throws {
    var dice = dice
    while true {
      _ = try await Planted(1 + dice.roll(processes), dice.roll(Plan.keys), 0).version(in: archive)
      try await Task.sleep(for: .microseconds(dice.roll(500)))
    }
  }
}

/// Says a line at once, so that a kill cannot swallow it.
func say(_ line: String) {
  FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

func fault(_ what: String) -> Never {
  say("FAULT \(what)")
  exit(3)
}

/// Ends this process when the one that started it has: nobody else would.
func endWithParent() {
  let parent = getppid()
  Thread.detachNewThread {
    while getppid() == parent { usleep(500_000) }
    exit(4)
  }
}
