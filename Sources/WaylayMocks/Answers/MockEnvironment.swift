import Foundation

/// What answers take from outside: the time, chance, and the task that the code of a stub runs in.
package struct MockEnvironment: Sendable {
  /// What delays wait on.
  package let clock: any Clock<Duration>
  /// What random delays and losses are drawn from.
  package let random: MockRandom
  /// Where the closures of stubs run; `nil` for the load's own task.
  package let context: TaskContext?

  /// Makes an environment.
  ///
  /// - Parameters:
  ///   - clock: What delays wait on.
  ///   - seed: The same seed gives the same delays, in the order in which they are drawn; `nil` for other ones each
  ///     time.
  ///   - context: Where the closures of stubs run; `nil` for the load's own task.
  package init(clock: any Clock<Duration> = ContinuousClock(), seed: UInt64? = nil, context: TaskContext? = nil) {
    self.context = context
    self.clock = clock
    random = MockRandom(seed: seed ?? .random(in: .min ... .max))
  }

  /// Runs code of a stub's author.
  func run<Value: Sendable>(_ operation: @escaping @Sendable () async throws -> Value) async throws -> Value {
    guard let context else { return try await operation() }
    return try await context.run(operation)
  }
}

/// A source of random numbers that one seed determines: SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom
/// number generators", 2014).
package final class MockRandom: Sendable {
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

  /// A number from 0 up to, and without, 1.
  package func unit() -> Double {
    generator.withLock { Double.random(in: 0..<1, using: &$0) }
  }

  /// A number of the standard normal distribution (Box and Muller).
  package func normal() -> Double {
    let (first, second) = generator.withLock { generator in
      (
        Double.random(in: Double.leastNonzeroMagnitude...1, using: &generator),
        Double.random(in: 0..<1, using: &generator)
      )
    }
    return (-2 * log(first)).squareRoot() * cos(2 * Double.pi * second)
  }
}
