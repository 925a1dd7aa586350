import TestOrigin

/// Chance that is the same for the same seed.
struct Dice {
  private var numbers: SplitMix

  /// Dice of their own for each thing that chance decides, so that one exchange can be run again without those before
  /// it.
  init(_ seed: UInt64, _ parts: Int...) {
    var state = seed
    for part in parts {
      var mixed = SplitMix(state: state ^ UInt64(truncatingIfNeeded: part) &* 0xD134_2543_DE82_EF95)
      state = mixed.next()
    }
    numbers = SplitMix(state: state)
  }

  /// A number below `sides`.
  mutating func roll(_ sides: Int) -> Int { Int(numbers.next() % UInt64(sides)) }

  /// A number of a range.
  mutating func roll(_ range: ClosedRange<Int>) -> Int { range.lowerBound + roll(range.count) }

  /// Whether what happens so often in a hundred happens now.
  mutating func chance(_ percent: Int) -> Bool { roll(100) < percent }

  /// One of them.
  mutating func pick<Element>(_ all: [Element]) -> Element { all[roll(all.count)] }
}
