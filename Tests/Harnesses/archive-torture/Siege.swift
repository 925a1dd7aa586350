import ArgumentParser
import Foundation
import StoreFaults
import WaylayArchive

/// Starts, kills and inspects, so many times.
struct Siege: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "siege", abstract: "Kills so many processes.")

  @Option(help: "How many processes to kill; with work, how many within it.") var kills = 1000
  @Option(
    help: "How many processes share the archive: these numbers in turn.",
    transform: {
      $0.split(separator: ",").compactMap { Int($0) }
    }) var processes = [1, 2, 4]
  @Option(help: "What they are killed within: any, flush or removal.") var work = Work.any
  @Option(help: "The seed of all chance.") var seed: UInt64 = UInt64(Date().timeIntervalSince1970)

  func run() async throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
      "archive-torture-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    print("seed \(seed), \(kills) kills, \(processes) processes in turn, within \(work) work")
    var dice = Dice(seed)
    var tally = Tally()
    var known: [Planted: Int] = [:]
    var round = 0
    while (work == .any ? tally.kills : tally.within) < kills, tally.faults.count < 20, round < kills * 10 {
      let count = processes[round % processes.count]
      round += 1
      let accounts = try strike(directory, count, &dice, known, &tally)
      known = try await inspect(directory, accounts, &tally)
      guard round % 100 == 0 else { continue }
      print("\(tally)")
      fflush(nil)
    }
    print("\(tally)")
    guard tally.faults.isEmpty else {
      for fault in tally.faults { print("FAULT \(fault)") }
      throw ExitCode(1)
    }
    print("No faults.")
  }

  struct Tally: CustomStringConvertible {
    var kills = 0
    /// Kills within a flush or a removal.
    var within = 0
    var bodies = 0
    var flushed = 0
    var gone = 0
    var faults: [String] = []

    var description: String {
      """
      \(kills) kills, \(within) of them within the call, \(bodies) bodies compared, \(flushed) flushed states, \(gone) \
      removed responses looked for, \(faults.count) faults
      """
    }
  }

  // MARK: What a process said

  /// What has to be in the archive of a process's own keys after it was killed.
  struct Account {
    /// What may be there of each key: versions, and `nil` for none.
    var possible: [Int: Set<Int?>] = [:]
    /// What was there when a flush had succeeded.
    var flushes = 0
    /// What was removed: all of it, and so much of it as a later flush had on the disk.
    var removed: Set<Planted> = []
    var gone: Set<Planted> = []
    /// Whether everything may have been removed, also what others have.
    var isCleared = false
    /// The last line.
    var last: Substring = ""
    var faults: [String] = []

    init(owner: Int, known: [Planted: Int], lines: [Substring]) {
      var current: [Int: Int] = [:]
      for key in 0..<Plan.keys {
        current[key] = known[Planted(owner, key, 0)]
        possible[key] = [current[key]]
      }
      var removedBefore = removed
      func remove(_ key: Int) {
        if let version = current[key] { removed.insert(Planted(owner, key, version)) }
        current[key] = nil
        possible[key] = [nil]
      }
      for line in lines {
        let numbers = line.split(separator: " ").dropFirst().compactMap { Int($0) }
        switch (line.first, numbers.count) {
        case ("+", 2): possible[numbers[0], default: []].insert(numbers[1])
        case ("=", 2): current[numbers[0]] = numbers[1]
        case ("-", 1): possible[numbers[0], default: []].insert(nil)
        case ("~", 1): remove(numbers[0])
        case ("c", 0):
          isCleared = true
          for key in 0..<Plan.keys { possible[key, default: []].insert(nil) }
        case ("C", 0): for key in 0..<Plan.keys { remove(key) }
        case ("f", 0): removedBefore = removed
        case ("F", 0):
          for key in 0..<Plan.keys { possible[key] = [current[key]] }
          gone = removedBefore
          flushes += 1
        case ("o", 0): break
        default: faults.append(String(line))
        }
        last = line
      }
    }
  }

  private func strike(
    _ directory: URL, _ count: Int, _ dice: inout Dice, _ known: [Planted: Int], _ tally: inout Tally
  ) throws -> [Account] {
    var victims: [Program] = []
    defer { for victim in victims { victim.remove() } }
    for owner in 1...count {
      let arguments = ["victim", directory.path, "\(dice.roll(1 << 40))", "\(owner)", "\(count)", work.rawValue]
      victims.append(try Program(arguments, directory, "victim-\(owner)"))
    }
    // Some are killed while they open, most while they work.
    if work == .any {
      usleep(UInt32((20 + dice.roll(200)) * 1000))
    } else {
      try waitForWork(victims[0], &dice)
    }
    // Those that are left go on for a moment without the first.
    for (index, victim) in victims.enumerated() {
      victim.kill()
      if index == 0, work == .any, dice.roll(2) == 0 { usleep(UInt32(dice.roll(30_000))) }
    }
    tally.kills += count
    let accounts = try victims.enumerated().map { index, victim in
      Account(owner: index + 1, known: known, lines: try victim.lines())
    }
    // Those that took no part this time have what they had.
    var rest = (count + 1...max(count + 1, processes.max() ?? 1)).map { Account(owner: $0, known: known, lines: []) }
    for index in rest.indices where count == 1 && accounts[0].isCleared {
      for key in 0..<Plan.keys { rest[index].possible[key, default: []].insert(nil) }
    }
    for account in accounts where work == .flush && account.last == "f" || work == .removal && account.last == "c" {
      tally.within += 1
    }
    return accounts + rest
  }

  /// Waits until a process begins what it is to be killed within, a moment of chance more or less.
  private func waitForWork(_ victim: Program, _ dice: inout Dice) throws {
    let begins: Substring = work == .flush ? "f" : "c"
    var seen = 3 + dice.roll(20)
    for _ in 0..<20_000 where seen > 0 {
      usleep(100)
      let lines = try victim.lines()
      if lines.last == begins, lines.count > 30 { seen = 0 }
      if lines.contains(where: { $0.hasPrefix("FAULT") }) { return }
    }
    usleep(UInt32(dice.roll(2000)))
  }

  // MARK: What it left

  private func inspect(_ directory: URL, _ accounts: [Account], _ tally: inout Tally) async throws -> [Planted: Int] {
    var known: [Planted: Int] = [:]
    tally.faults += accounts.flatMap(\.faults)
    func look(for planted: Set<Planted>, _ when: String) {
      let remains = Planted.remains(in: directory)
      for planted in planted {
        tally.gone += 1
        let parts = remains.parts(of: planted).filter { $0 != "URL" }
        if !parts.isEmpty { tally.faults.append("\(planted) was removed and flushed, and \(parts) is there \(when)") }
      }
    }
    look(for: Set(accounts.flatMap(\.gone)), "after the kill")
    do {
      let archive = try await Plan.open(directory)
      for (index, account) in accounts.enumerated() {
        for (key, possible) in account.possible {
          let planted = Planted(index + 1, key, 0)
          let version = try await planted.version(in: archive)
          tally.bodies += 1
          known[planted] = version
          guard !possible.contains(version) else { continue }
          let found = version.map { "\($0)" } ?? "nothing"
          tally.faults.append("\(planted.owner).\(key): \(found) is there, and it can be \(possible)")
        }
        tally.flushed += account.flushes
      }
      for key in 0..<Plan.sharedKeys {
        if try await Planted(0, key, 0).version(in: archive) != nil { tally.bodies += 1 }
      }
      try await archive.flush()
      look(for: Set(accounts.flatMap(\.removed)), "after the next flush")
      let usage = try await archive.usage
      let listed = try await archive.entries().count
      if usage.count != listed { tally.faults.append("\(listed) entries are listed, and \(usage.count) counted") }
      if usage.bytes > Plan.limits.bytes || usage.count > Plan.limits.count {
        tally.faults.append("over the limits: \(usage)")
      }
      await archive.close()
      // What is counted is what is there: no file is forgotten.
      let files = FileManager.default.enumerator(atPath: directory.path)?.allObjects as? [String] ?? []
      let sizes = files.map { path in
        let attributes = try? FileManager.default.attributesOfItem(atPath: directory.appendingPathComponent(path).path)
        return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
      }
      let bytes = sizes.reduce(0, +)
      if bytes > usage.bytes + 3 << 20 { tally.faults.append("\(bytes) bytes on disk, \(usage.bytes) counted") }
    } catch {
      tally.faults.append("the archive does not open, or does not go on: \(error)")
    }
    return known
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

    func kill() {
      _ = Foundation.kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }

    /// The lines that the kill did not cut short.
    func lines() throws -> [Substring] {
      let text = String(decoding: try Data(contentsOf: output), as: UTF8.self)
      return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map { $0 }
    }

    func remove() { try? FileManager.default.removeItem(at: output) }
  }
}
