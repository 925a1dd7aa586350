import ArgumentParser
import Foundation
import StoreFaults
import WaylayArchive
import WaylayCore

/// Works on an archive with four tasks until it is killed. Whatever it reads it compares with what it must be.
struct Victim: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "The process that is killed.", shouldDisplay: false)

  @Argument var directory: String
  @Argument var seed: UInt64
  @Flag(help: "Whether its directory may be taken away: then it stops rather than fail.") var mayBeOrphaned = false
  @Option(help: "Has one call to the system in so many fail; 0 has none fail.") var faults = 0

  func run() async throws {
    endWithParent()
    let store = try await opened()
    say("open \(store.usage.count)")
    // Shows whether the machine gave the process its turns: a thread that gets none can keep no promise.
    Thread.detachNewThread {
      while true {
        say("alive \(DispatchTime.now().uptimeNanoseconds)")
        usleep(UInt32(Plan.beat / 1000))
      }
    }
    await withTaskGroup(of: Void.self) { group in
      if faults > 0 { group.addTask { await flushing(store, Dice(seed &+ 4)) } }
      group.addTask { await storing(store, Dice(seed)) }
      group.addTask { await pinning(store, Dice(seed &+ 1)) }
      group.addTask { await freshening(store, Dice(seed &+ 2)) }
      group.addTask { await reading(store, Dice(seed &+ 3)) }
    }
  }

  private func opened() async throws -> DiskStore {
    let limits = StoreLimits(bytes: Plan.limitBytes, count: Plan.limitCount, entryBytes: 400_000)
    var options = DiskStore.Options(limits: limits, memory: 1 << 18)
    guard faults > 0 else { return try DiskStore(at: URL(fileURLWithPath: directory), options: options) }
    // What fails is logged, and is no news here; damage is told of as an event, and must not be.
    options.logger = Logger(label: "victim") { _ in SwiftLogNoOpLogHandler() }
    let dice = Locked(Dice(seed &+ 5))
    options.system = FailingSystem { [faults] call in
      dice.withLock { dice in
        guard dice.roll(faults) == 0 else { return nil }
        let codes = Self.codes(call)
        let number = dice.roll(codes.count + 1)
        return number < codes.count ? .error(codes[number]) : .short
      }
    }
    // One opening in some makes no call that fails; if none did, that would be a fault.
    var attempt = 0
    while true {
      attempt += 1
      let store: DiskStore
      do {
        store = try DiskStore(at: URL(fileURLWithPath: directory), options: options)
      } catch {
        if attempt == 100_000 { throw error }
        continue
      }
      store.observe { event in
        // The removal of an entry that could not be noted before the kill leaves one without its file, which is a miss.
        if event.kind == .damaged, event.reason != "its file is gone" { fault("an entry is damaged: \(event.reason)") }
      }
      return store
    }
  }

  /// What a call may fail with.
  private static func codes(_ call: FailingSystem.Call) -> [Int32] {
    switch call {
    case .open, .names: [EIO, EMFILE, ENFILE, EINTR, EACCES, ENOENT]
    case .create, .write, .makeDirectory, .rename: [ENOSPC, EDQUOT, EIO, EINTR, EROFS]
    case .read, .status: [EIO, EINTR, ENOMEM]
    case .synchronize, .truncate, .remove, .setMode: [EIO, ENOSPC, EINTR]
    case .lock: [EINTR, ENOLCK]
    }
  }

  /// Whether a failure is one of those that were ordered.
  private func isOrdered(_ error: any Error) -> Bool {
    faults > 0 && [.notWritten, .readFailed, .storeFull].contains((error as? ArchiveError)?.code)
  }

  /// Stores what nothing evicts, flushes it, and says so: from then on it has to be there, whatever fails and whichever
  /// process is killed.
  private func flushing(_ store: DiskStore, _ dice: Dice) async {
    var dice = dice
    var version = Int(Date().timeIntervalSince1970 * 1000)
    while true {
      let key = Plan.keys + Plan.pinnedKeys + dice.roll(Plan.pinnedKeys)
      version += 1
      do {
        let archiveKey = ArchiveKey("\(key)")
        let old = try await store.entries(for: archiveKey).map(\.id)
        try store.put(draft(archiveKey, key, version, replacing: old, isPinned: true), body: Plan.body(key, version))
        try await store.flush()
        let now = try await store.entries(for: archiveKey).compactMap { Plan.parse($0.head)?.version }
        if now.contains(version) { say("flushed \(key) \(version) 0") }
      } catch {
        if !isOrdered(error) { await failed("flushing failed", error) }
      }
    }
  }

  /// Stores entries of all sizes, in one piece and in many; the limits evict others all the time.
  private func storing(_ store: DiskStore, _ dice: Dice) async {
    var dice = dice
    while true {
      let key = dice.roll(Plan.keys)
      let version = dice.roll(1_000_000)
      let body = Plan.body(key, version)
      do {
        let archiveKey = ArchiveKey("\(key)", partition: key % 3 == 0 ? "third" : .shared)
        let old = try await store.entries(for: archiveKey).map(\.id)
        let draft = draft(archiveKey, key, version, replacing: old, isPinned: false)
        if dice.roll(2) == 0 {
          try store.put(draft, body: body)
        } else {
          let writer = try store.makeWriter(for: archiveKey)
          var rest = body[...]
          while !rest.isEmpty {
            let size = 1 + dice.roll(70_000)
            try await writer.append(Data(rest.prefix(size)))
            rest = rest.dropFirst(size)
          }
          try await writer.commit(draft)
        }
        if dice.roll(10) == 0 { store.remove(try await store.entries(for: archiveKey).map(\.id)) }
        try await Task.sleep(for: .microseconds(dice.roll(1000)))
      } catch {
        if !isOrdered(error) { await failed("storing failed", error) }
      }
    }
  }

  /// Stores what nothing evicts, and says when: what was said a second before the kill has to be there.
  private func pinning(_ store: DiskStore, _ dice: Dice) async {
    var dice = dice
    var version = Int(Date().timeIntervalSince1970 * 1000)
    while true {
      let key = Plan.keys + dice.roll(Plan.pinnedKeys)
      version += 1
      do {
        let archiveKey = ArchiveKey("\(key)")
        let old = try await store.entries(for: archiveKey).map(\.id)
        try store.put(draft(archiveKey, key, version, replacing: old, isPinned: true), body: Plan.body(key, version))
        say("stored \(key) \(version) \(DispatchTime.now().uptimeNanoseconds)")
        try await Task.sleep(for: .microseconds(500 + dice.roll(2000)))
      } catch {
        if !isOrdered(error) { await failed("pinning failed", error) }
      }
    }
  }

  /// Gives entries new heads.
  private func freshening(_ store: DiskStore, _ dice: Dice) async {
    var dice = dice
    while true {
      let key = dice.roll(Plan.keys)
      do {
        for entry in try await store.entries(for: ArchiveKey("\(key)", partition: key % 3 == 0 ? "third" : .shared)) {
          guard let (key, version, round) = Plan.parse(entry.head) else { fault("a head is torn") }
          try store.update(entry, head: Plan.head(key, version, round + 1), details: entry.details)
        }
        try await Task.sleep(for: .microseconds(dice.roll(1000)))
      } catch {
        if !isOrdered(error) { await failed("freshening failed", error) }
      }
    }
  }

  private func reading(_ store: DiskStore, _ dice: Dice) async {
    var dice = dice
    while true {
      let key = dice.roll(Plan.keys + Plan.pinnedKeys)
      do {
        let partition: ArchivePartition = key < Plan.keys && key % 3 == 0 ? "third" : .shared
        for entry in try await store.entries(for: ArchiveKey("\(key)", partition: partition)) {
          guard let (found, version, _) = Plan.parse(entry.head), found == key else {
            fault("the wrong head for \(key)")
          }
          do {
            let body = try await entry.body().collect(upTo: 1 << 20)
            guard body == Plan.body(key, version) else { fault("a wrong body for \(key), version \(version)") }
          } catch let error as ArchiveError where error.code == .unreadable {
            // Evicted between the lookup and the reading.
          }
        }
        if store.usage.bytes > Plan.limitBytes + 400_000 || store.usage.count > Plan.limitCount {
          fault("over the limits: \(store.usage)")
        }
        await Task.yield()
      } catch {
        if !isOrdered(error) { await failed("reading failed", error) }
      }
    }
  }

  private func failed(_ what: String, _ error: any Error) async {
    let isOrphaned = [.directoryUnusable, .notWritten, .readFailed, .unreadable].contains(
      (error as? ArchiveError)?.code)
    guard mayBeOrphaned, isOrphaned else { fault("\(what): \(error)") }
    // There is nothing more to be done here, and the end comes from outside.
    while true { try? await Task.sleep(for: .seconds(10)) }
  }

  private func draft(
    _ archiveKey: ArchiveKey, _ key: Int, _ version: Int, replacing: [EntryID], isPinned: Bool
  ) -> EntryDraft {
    EntryDraft(
      key: archiveKey, head: Plan.head(key, version, 0),
      details: EntryDetails(url: "https://example.com/\(key)", host: "example.com", stored: Date(), isPinned: isPinned),
      replacing: replacing)
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
