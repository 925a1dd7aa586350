import Foundation

@testable import WaylayArchive

/// What a schedule stores: everything that is given out says which key, which version and how much of it it has to be.
enum Content {
  static let keys = 4
  /// The longest body, and so the most that a writer may add.
  static let most = 400_000

  /// The key of entries that are stored only to be removed.
  static let passing = ArchiveKey("passing")

  static func key(_ key: Int) -> ArchiveKey { ArchiveKey("key \(key)", partition: key == 0 ? "apart" : .shared) }

  /// The first bytes of a version's body. Any two versions differ in every few hundred bytes, and any two places of
  /// one.
  static func body(_ version: Int, _ length: Int) -> Data { body(version, 0..<length) }

  /// The part of it from a place on.
  static func body(_ version: Int, _ range: Range<Int>) -> Data {
    var data = Data(repeating: UInt8(truncatingIfNeeded: version &* 37 &+ 11), count: range.count)
    data.withUnsafeMutableBytes { (bytes: UnsafeMutableRawBufferPointer) in
      var place = range.lowerBound - range.lowerBound % (range.lowerBound < 512 ? 64 : 512)
      while place < range.upperBound {
        // Also the beginning of one at the end: a shorter body is the beginning of a longer one.
        let part = range.clamped(to: place..<place + 8)
        withUnsafeBytes(of: UInt64(version) << 32 | UInt64(place)) { mark in
          for offset in part { bytes[offset - range.lowerBound] = mark[offset - place] }
        }
        place += place < 512 ? 64 : 512
      }
    }
    return data
  }

  struct Head: Equatable {
    var key: Int
    var version: Int
    var length: Int
    var round: Int

    init(key: Int, version: Int, length: Int, round: Int = 0) {
      (self.key, self.version, self.length, self.round) = (key, version, length, round)
    }

    init?(_ bytes: [UInt8]) {
      let parts = String(decoding: bytes, as: UTF8.self).split(separator: " ").compactMap { Int($0) }
      guard parts.count == 4 else { return nil }
      self.init(key: parts[0], version: parts[1], length: parts[2], round: parts[3])
    }

    var bytes: [UInt8] { Array("\(key) \(version) \(length) \(round)".utf8) }
  }

  static func draft(_ head: Head, replacing: [EntryID] = []) -> EntryDraft {
    EntryDraft(
      key: key(head.key), head: head.bytes,
      details: EntryDetails(
        url: "https://example.com/\(head.version)", host: "example.com",
        stored: Date(timeIntervalSince1970: Double(head.version))),
      replacing: replacing)
  }
}
