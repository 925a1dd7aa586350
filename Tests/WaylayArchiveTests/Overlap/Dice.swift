/// Numbers that look random and are the same for the same seed (SplitMix64).
struct Dice: Sendable {
  private var state: UInt64

  init(_ seed: UInt64) {
    state = seed
  }

  /// From 0 to one less than so many.
  mutating func roll(_ sides: Int) -> Int { Int(word() % UInt64(sides)) }

  /// Whether it is one of so many out of a hundred.
  mutating func chance(_ percent: Int) -> Bool { roll(100) < percent }

  /// The seed of another one.
  mutating func word() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }
}
