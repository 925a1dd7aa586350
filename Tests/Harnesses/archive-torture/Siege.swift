import ArgumentParser
import Foundation
import WaylayArchive
import WaylayCore

/// Starts, kills and inspects, so many times.
struct Siege: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "siege", abstract: "Kills the victim so many times.")

  @Option(help: "How many times to kill.") var kills = 1000
  @Option(help: "How many of a hundred victims have a rival beside them.") var rivals = 10
  @Option(help: "The seed of all chance.") var seed: UInt64 = UInt64(Date().timeIntervalSince1970)

  @Option(help: "Beside the kills, has one call to the victim's system in so many fail; 0 has none fail.") var faults =
    0

  func run() async throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
      "archive-torture-\(UUID().uuidString)")
    // What a rival was killed over.
    let aside = directory.deletingLastPathComponent().appendingPathComponent("\(directory.lastPathComponent)-aside")
    defer { for url in [directory, aside] { try? FileManager.default.removeItem(at: url) } }
    print("seed \(seed), \(kills) kills" + (faults > 0 ? ", one call in \(faults) fails" : ""))
    var dice = Dice(seed)
    var tally = Tally()
    for kill in 1...max(kills, 1) {
      let habit = dice.roll(100) < rivals ? Rival.Habit.allCases[dice.roll(Rival.Habit.allCases.count)] : nil
      let lines = try strike(directory, seed: UInt64(dice.roll(1 << 40)), after: 20 + dice.roll(180), beside: habit)
      if habit != nil { tally.rivals += 1 }
      try await inspect(directory, lines, &tally)
      guard kill % 100 == 0 else { continue }
      print("\(kill) kills: \(tally)")
      fflush(nil)
    }
    print("\(kills) kills: \(tally)")
    guard tally.faults.isEmpty else {
      for fault in tally.faults { print("FAULT \(fault)") }
      throw ExitCode(1)
    }
    print("No faults.")
  }

  struct Tally: CustomStringConvertible {
    var opened = 0
    var bodies = 0
    var promises = 0
    var storedOperations = 0
    var flushed = 0
    var dropped = 0
    /// Runs in which the machine was too busy for promises in time.
    var starved = 0
    var rivals = 0
    /// Removals of the directory that a kill cut short.
    var cutShort = 0
    var faults: [String] = []

    var description: String {
      """
      opened \(opened) times, \(bodies) bodies compared, \(promises) promises of more than a second kept (\(starved) \
      times not asked for, on a busy machine), \(storedOperations) pinned stores, \(flushed) flushed, \(dropped) \
      entries found damaged, \(rivals) times with a rival, \(cutShort) removals cut short, \(self.faults.count) \
      faults
      """
    }
  }

  /// What the victim said until it was killed.
  struct Testimony {
    var lines: [Substring]
    var killed: UInt64
    /// What its rival said.
    var rival: [Substring] = []

    /// Whether its directory was taken away, or may have been.
    var isOrphaned: Bool { rival.contains("replacing") }

    /// The longest time, in nanoseconds, in which the victim gave no sign of life before it was killed.
    var longestSilence: UInt64 {
      let signs = lines.compactMap { $0.hasPrefix("alive ") ? UInt64($0.dropFirst(6)) : nil }.filter { $0 <= killed }
      return zip(signs, signs.dropFirst() + [killed]).map { $1 &- $0 }.max() ?? 0
    }
  }

  private func strike(
    _ directory: URL, seed: UInt64, after milliseconds: Int, beside habit: Rival.Habit?
  ) throws -> Testimony {
    let orphan = habit == .replaces ? ["--may-be-orphaned"] : []
    let victim = try Program(
      ["victim", directory.path, "\(seed)", "--faults", "\(faults)"] + orphan, directory, "victim")
    var rival: Program?
    if let habit {
      // The first to come has the archive: that is to be the victim.
      for _ in 0..<2000 where try !victim.lines().contains(where: { $0.hasPrefix("open ") }) { usleep(1000) }
      rival = try Program(["rival", habit.rawValue, directory.path, "\(seed)"], directory, "rival")
    }
    // Some are killed while they open, most while they work, and some after more than a second, when promises have come
    // due.
    usleep(UInt32((milliseconds % 10 == 0 ? 1200 : milliseconds) * 1000))
    // First the rival, which may write as soon as the victim is dead.
    rival?.kill()
    let killed = victim.kill()
    defer {
      rival?.remove()
      victim.remove()
    }
    return Testimony(lines: try victim.lines(), killed: killed, rival: try rival?.lines() ?? [])
  }

  /// This program again, in a process of its own, and what it says.
  private final class Program {
    private let process = Process()
    private let output: URL

    init(_ arguments: [String], _ directory: URL, _ name: String) throws {
      output = directory.deletingLastPathComponent().appendingPathComponent(
        "\(directory.lastPathComponent)-\(name).txt")
      try Data().write(to: output)
      let file = try FileHandle(forWritingTo: output)
      process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).standardizedFileURL
      process.arguments = arguments
      process.standardOutput = file
      process.standardError = file
      try process.run()
      try file.close()
    }

    /// Says when.
    @discardableResult
    func kill() -> UInt64 {
      _ = Foundation.kill(process.processIdentifier, SIGKILL)
      defer { process.waitUntilExit() }
      return DispatchTime.now().uptimeNanoseconds
    }

    func lines() throws -> [Substring] {
      try String(decoding: Data(contentsOf: output), as: UTF8.self).split(separator: "\n")
    }

    func remove() { try? FileManager.default.removeItem(at: output) }
  }

  private func inspect(_ directory: URL, _ testimony: Testimony, _ tally: inout Tally) async throws {
    for line in testimony.lines where !["open ", "stored ", "flushed ", "alive "].contains(where: line.hasPrefix) {
      // Damage would be logged; there must be none. Whose directory is taken away may say so.
      if !testimony.isOrphaned || line.hasPrefix("FAULT") { tally.faults.append(String(line)) }
    }
    tally.faults += testimony.rival.filter { $0.hasPrefix("FAULT") }.map { String($0) }
    // Killed before it had made another, it has left nothing.
    if testimony.isOrphaned, !FileManager.default.fileExists(atPath: directory.path) { return }
    let limits = StoreLimits(bytes: Plan.limitBytes, count: Plan.limitCount, entryBytes: 400_000)
    let store: DiskStore
    do {
      store = try DiskStore(at: directory, options: .init(limits: limits, memory: 0))
    } catch let error as ArchiveError
      where error.code == .foreignFormat && Self.isRemains(directory) && testimony.isOrphaned
    {
      // The rival was killed while it removed the directory: its caller is told, and has to do it again.
      try FileManager.default.removeItem(at: directory)
      tally.cutShort += 1
      return
    } catch {
      tally.faults.append("the archive does not open: \(error)")
      return
    }
    tally.opened += 1
    let damaged = Locked(0)
    store.observe { event in
      if event.kind == .damaged { damaged.withLock { $0 += 1 } }
    }
    // What the kill left is cleared away behind the opening.
    try await store.flush()
    let isStarved = testimony.longestSilence > Plan.beat * 4
    if isStarved { tally.starved += 1 }
    var newest: [Int: Int] = [:]
    for entry in try await store.list() {
      guard let (key, version, _) = Plan.parse(entry.head), entry.key.bytes == Array("\(key)".utf8) else {
        tally.faults.append("a head of another key")
        continue
      }
      let body = try await entry.body().collect(upTo: 1 << 20)
      if body != Plan.body(key, version) { tally.faults.append("a wrong body for \(key), version \(version)") }
      tally.bodies += 1
      newest[key] = max(newest[key] ?? 0, version)
    }
    for line in testimony.rival where line.hasPrefix("kept ") {
      let numbers = line.dropFirst(5).split(separator: " ").compactMap { Int($0) }
      guard numbers.count == 2, newest[numbers[0]] != numbers[1] else { continue }
      tally.faults.append("\(numbers[0]) of the archive that took the victim's place is lost")
    }
    for line in testimony.lines where line.hasPrefix("flushed ") && !testimony.isOrphaned {
      let numbers = line.dropFirst(8).split(separator: " ").compactMap { Int($0) }
      guard numbers.count == 3 else { continue }
      if newest[numbers[0]] ?? 0 < numbers[1] { tally.faults.append("\(numbers[0]) was flushed, and is lost") }
      tally.flushed += 1
    }
    // What was refused for a fault is no promise.
    for line in testimony.lines where line.hasPrefix("stored ") && !testimony.isOrphaned && faults == 0 {
      let numbers = line.dropFirst(7).split(separator: " ").compactMap { UInt64($0) }
      // The line that the kill cut short.
      guard numbers.count == 3 else { continue }
      tally.storedOperations += 1
      guard !isStarved, numbers[2] + 1_000_000_000 < testimony.killed else { continue }
      if newest[Int(numbers[0])] ?? 0 < Int(numbers[1]) {
        tally.faults.append("\(numbers[0]) was stored more than a second before the kill, and is lost")
      }
      tally.promises += 1
    }
    let usage = store.usage
    // Closed, it has a log of what is there.
    await store.close()
    let onDisk = Self.files(directory)
    if usage.bytes > Plan.limitBytes || usage.count > Plan.limitCount {
      tally.faults.append("over the limits: \(usage)")
    }
    // What is counted is what is there: no file is forgotten. The slack is what the log has of entries that have
    // gone.
    if onDisk.bytes > usage.bytes + 300_000 {
      tally.faults.append("\(onDisk.bytes) bytes on disk, \(usage.bytes) counted")
    }
    if onDisk.entries > usage.count * 2 { tally.faults.append("\(onDisk.entries) files for \(usage.count) entries") }
    tally.dropped += damaged.withLock { $0 }
  }

  /// Whether the file that says which archive it is has gone.
  private static func isRemains(_ directory: URL) -> Bool {
    !FileManager.default.fileExists(atPath: directory.appendingPathComponent("waylay-archive").path)
  }

  private static func files(_ directory: URL) -> (bytes: Int64, entries: Int) {
    var bytes: Int64 = 0
    var entries = 0
    for case let path as String in FileManager.default.enumerator(atPath: directory.path) ?? .init() {
      let attributes = try? FileManager.default.attributesOfItem(atPath: directory.appendingPathComponent(path).path)
      guard attributes?[.type] as? FileAttributeType == .typeRegular else { continue }
      bytes += (attributes?[.size] as? NSNumber)?.int64Value ?? 0
      if path.hasPrefix("entries/") { entries += 1 }
    }
    return (bytes, entries)
  }
}
