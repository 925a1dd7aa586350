import Foundation

/// A delay, either fixed or drawn anew each time.
///
/// ```swift
/// Stub(.get, "/search") { .json(results).delay(.logNormal(median: .milliseconds(80), sigma: 0.4)) }
/// ```
///
/// Delays use the mock's clock, so that a test with a ``MockClock`` takes no time; random delays come from its seed. A
/// negative delay fails the load with ``MockError/Code/invalidTiming``. Delays are capped at a year.
public struct MockDelay: Sendable, Hashable, CustomStringConvertible {
  enum Law: Sendable, Hashable {
    case fixed(Duration)
    case uniform(Duration, Duration)
    case logNormal(median: Duration, sigma: Double)
  }

  let law: Law

  /// A fixed delay.
  public static func fixed(_ duration: Duration) -> MockDelay { MockDelay(law: .fixed(duration)) }

  /// A uniformly distributed delay between two durations.
  public static func uniform(from shortest: Duration, to longest: Duration) -> MockDelay {
    MockDelay(law: .uniform(shortest, longest))
  }

  /// A log-normally distributed delay: most responses are quick and a few take long, as with real servers.
  ///
  /// - Parameters:
  ///   - median: The duration that half of the delays stay below.
  ///   - sigma: The standard deviation of the logarithm. At 0.4, one delay in twenty is about twice the median or more.
  public static func logNormal(median: Duration, sigma: Double) -> MockDelay {
    MockDelay(law: .logNormal(median: median, sigma: sigma))
  }

  /// A short description of the distribution.
  public var description: String {
    switch law {
    case .fixed(let duration): "\(duration)"
    case .uniform(let shortest, let longest): "\(shortest) to \(longest)"
    case .logNormal(let median, let sigma): "log-normally \(median), sigma \(sigma)"
    }
  }

  /// What is wrong with it, if anything is.
  var defect: MockError? {
    switch law {
    case .fixed(let duration):
      guard duration < .zero else { return nil }
      return MockError(.invalidTiming, "a delay of \(duration) is below zero: use .zero or more.")
    case .uniform(let shortest, let longest):
      guard shortest < .zero || longest < shortest else { return nil }
      return MockError(
        .invalidTiming, "a delay from \(shortest) to \(longest) is invalid: use zero or more, the shorter one first.")
    case .logNormal(let median, let sigma):
      guard median < .zero || !sigma.isFinite || sigma < 0 else { return nil }
      return MockError(
        .invalidTiming,
        "a log-normal delay with the median \(median) and the sigma \(sigma) is invalid: both must be zero or more.")
    }
  }

  /// Draws a delay; the laws are in order.
  func draw(from random: MockRandom) -> Duration {
    switch law {
    case .fixed(let duration): duration.upToAYear
    case .uniform(let shortest, let longest):
      Duration.ofSeconds(shortest.inSeconds + random.unit() * (longest.inSeconds - shortest.inSeconds))
    case .logNormal(let median, let sigma): Duration.ofSeconds(median.inSeconds * exp(sigma * random.normal()))
    }
  }

  /// Whether nobody waits.
  var isZero: Bool { law == .fixed(.zero) }
}

extension Duration {
  private static var year: Duration { .seconds(365 * 24 * 60 * 60) }

  /// The duration, or a year: longer ones overflow in the clocks of the system.
  var upToAYear: Duration { min(self, Self.year) }

  var inSeconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) * 1e-18
  }

  /// A duration of so many seconds; not a number, and more than a year, count as a year.
  static func ofSeconds(_ seconds: Double) -> Duration {
    guard seconds < year.inSeconds else { return year }
    return .seconds(max(0, seconds))
  }
}
