import ArgumentParser
import Foundation

/// Kills a process that stores, freshens, evicts and reads, again and again, and looks each time at what it left.
@main
struct Torture: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "archive-torture", abstract: "Shows what kill -9 does to an archive on disk: nothing.",
    subcommands: [Siege.self, Victim.self, Rival.self], defaultSubcommand: Siege.self)
}

/// What both sides know.
enum Plan {
  static let limitBytes: Int64 = 3 << 20
  static let limitCount = 400
  static let keys = 300
  static let pinnedKeys = 20
  /// Nanoseconds between two signs of life.
  static let beat: UInt64 = 50_000_000

  /// The body of a version of a key; its length depends on both, so that mixing two shows.
  static func body(_ key: Int, _ version: Int) -> Data {
    var state = UInt64(truncatingIfNeeded: key &* 1_000_003 &+ version) &* 0x9E37_79B9_7F4A_7C15 | 1
    // One in eight is larger than a chunk.
    let length = Int(state >> 40) % (state >> 13 & 7 == 0 ? 200_000 : 9000)
    var bytes = [UInt8](repeating: 0, count: length)
    for index in bytes.indices {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      bytes[index] = UInt8(truncatingIfNeeded: state >> 24)
    }
    return Data(bytes)
  }

  /// The head of a version of a key, freshened so often.
  static func head(_ key: Int, _ version: Int, _ round: Int) -> [UInt8] {
    Array("\(key) \(version) \(round)".utf8)
  }

  static func parse(_ head: [UInt8]) -> (key: Int, version: Int, round: Int)? {
    let parts = String(decoding: head, as: UTF8.self).split(separator: " ").compactMap { Int($0) }
    return parts.count == 3 ? (parts[0], parts[1], parts[2]) : nil
  }
}
