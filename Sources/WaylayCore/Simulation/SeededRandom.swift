/// A source of random numbers that one seed determines: SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom
/// number generators", 2014).
package final class SeededRandom: Sendable {
  private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }

  private let generator: Locked<Generator>

  package init(seed: UInt64) {
    generator = Locked(Generator(state: seed))
  }

  /// A number in 0..<1.
  package func unit() -> Double {
    generator.withLock { Double.random(in: 0..<1, using: &$0) }
  }
}
