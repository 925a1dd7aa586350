import Foundation

/// What the origin has under the URL of an exchange: the same bytes for the same seed, number and version.
struct Page: Equatable {
  let number: Int
  let version: Int
  let bytes: Data
  /// Its strong entity tag.
  var tag: String { "\"\(number).\(version)\"" }

  init(_ seed: UInt64, _ number: Int, version: Int) {
    self.number = number
    self.version = version
    var dice = Dice(seed, number, version, 1)
    let count = dice.chance(3) ? dice.roll(20_000...200_000) : dice.chance(8) ? 0 : dice.roll(1...3_000)
    // What shows at a glance where bytes come from, and then what cannot be guessed.
    var bytes = Data("exchange \(number), version \(version): ".utf8)
    bytes.reserveCapacity(count + 64)
    while bytes.count < count {
      withUnsafeBytes(of: UInt64(dice.roll(.max)) &* 0x9E37_79B9_7F4A_7C15) { bytes.append(contentsOf: $0) }
    }
    self.bytes = bytes.prefix(count)
  }

  /// A part of it.
  func part(_ range: Range<Int>) -> Data { Data(bytes.dropFirst(range.lowerBound).prefix(range.count)) }
}
