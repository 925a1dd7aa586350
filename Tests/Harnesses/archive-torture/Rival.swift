import ArgumentParser
import Foundation
import WaylayArchive

/// Comes to the victim's directory while the victim works on it, with one bad habit or another.
struct Rival: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "The process beside the one that is killed.", shouldDisplay: false)

  enum Habit: String, CaseIterable, ExpressibleByArgument {
    /// Reads what the victim stores.
    case reads
    /// Wants to write too, and takes the lock's file away to get in.
    case knocks
    /// Removes the directory, as apps clear caches, and makes an archive of its own in its place.
    case replaces
  }

  @Argument var habit: Habit
  @Argument var directory: String
  @Argument var seed: UInt64

  private static let firstKey = 1000

  private func options(_ lock: DiskStore.Lock = .fail) -> DiskStore.Options {
    let limits = StoreLimits(bytes: Plan.limitBytes, count: Plan.limitCount, entryBytes: 400_000)
    return .init(limits: limits, memory: 1 << 16, whenLocked: lock)
  }

  func run() async throws {
    endWithParent()
    var dice = Dice(seed)
    switch habit {
    case .reads: await read(&dice)
    case .knocks: await knock(&dice)
    case .replaces: await replace(&dice)
    }
  }

  private func read(_ dice: inout Dice) async {
    let url = URL(fileURLWithPath: directory)
    while true {
      do {
        let store = try DiskStore(at: url, options: options(.readOnly))
        guard store.isReadOnly else { fault("a rival may write beside the victim") }
        for _ in 0..<200 {
          let key = dice.roll(Plan.keys + Plan.pinnedKeys)
          let partition: ArchivePartition = key < Plan.keys && key % 3 == 0 ? "third" : .shared
          for entry in try await store.entries(for: ArchiveKey("\(key)", partition: partition)) {
            try await compare(entry, key)
          }
        }
        await store.close()
      } catch {
        fault("a rival could not read: \(error)")
      }
    }
  }

  private func compare(_ entry: StoredEntry, _ key: Int) async throws {
    guard let (found, version, _) = Plan.parse(entry.head), found == key else {
      fault("a rival found the wrong head for \(key)")
    }
    do {
      let body = try await entry.body().collect(upTo: 1 << 20)
      guard body == Plan.body(key, version) else { fault("a rival found a wrong body for \(key), version \(version)") }
    } catch let error as ArchiveError where error.code == .unreadable {
      // Evicted between the lookup and the reading.
    }
  }

  private func knock(_ dice: inout Dice) async {
    while true {
      if dice.roll(3) == 0 { try? FileManager.default.removeItem(atPath: directory + "/lock") }
      do {
        let store = try DiskStore(at: URL(fileURLWithPath: directory), options: options())
        await store.close()
        fault("a rival may write beside the victim")
      } catch let error as ArchiveError where error.code == .locked {
        usleep(UInt32(dice.roll(5000)))
      } catch {
        fault("a rival was not told that the archive is in use: \(error)")
      }
    }
  }

  private func replace(_ dice: inout Dice) async {
    let url = URL(fileURLWithPath: directory)
    let aside = url.deletingLastPathComponent().appendingPathComponent("\(url.lastPathComponent)-aside")
    usleep(UInt32(dice.roll(60_000)))
    say("replacing")
    try? FileManager.default.removeItem(at: aside)
    if dice.roll(2) == 0 {
      // The victim may make a file where everything had been removed.
      for _ in 0..<20 where FileManager.default.fileExists(atPath: directory) {
        try? FileManager.default.removeItem(at: url)
      }
    }
    try? FileManager.default.moveItem(at: url, to: aside)
    try? FileManager.default.removeItem(at: aside)
    var kept: [Int: Int] = [:]
    while true {
      do {
        let store = try DiskStore(at: url, options: options())
        let listed = try await store.list()
        guard listed.count == kept.count else {
          fault("\(kept.count) entries were kept, and \(listed.count) are there")
        }
        for entry in listed {
          guard let key = Plan.parse(entry.head)?.key, let version = Plan.parse(entry.head)?.version,
            kept[key] == version
          else {
            fault("an entry of another's is in the new directory")
          }
          try await compare(entry, key)
        }
        for _ in 0..<1 + dice.roll(5) where kept.count < 40 {
          let (key, version) = (Self.firstKey + kept.count, dice.roll(1_000_000))
          let details = EntryDetails(url: "https://example.com/\(key)", host: "example.com", stored: Date())
          let draft = EntryDraft(key: ArchiveKey("\(key)"), head: Plan.head(key, version, 0), details: details)
          try store.put(draft, body: Plan.body(key, version))
          kept[key] = version
        }
        if dice.roll(2) == 0 { try await store.flush() }
        await store.close()
        for (key, version) in kept { say("kept \(key) \(version)") }
      } catch {
        fault("a rival could not have the directory that it made: \(error)")
      }
    }
  }
}
