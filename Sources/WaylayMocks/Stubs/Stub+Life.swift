extension Stub {
  /// How often, in which order and in which state a stub answers.
  struct Life: Sendable {
    /// The fewest and the most uses; `nil` for any number.
    var minimum: Int?
    var maximum: Int?
    var requirement: Requirement?
    var priority = 0
    var afterLast = AfterLast.repeats
    var scenario: Transition?
  }

  /// Whether it is a mistake when nobody uses a stub.
  package enum Requirement: Sendable {
    case required
    case optional
  }

  /// What follows the last of a stub's listed answers. A struct, so that new values can be added.
  public struct AfterLast: Hashable, Sendable {
    private let rawValue: UInt8

    /// Repeats the last answer forever. The default.
    public static let repeats = AfterLast(rawValue: 0)
    /// Starts over with the first answer.
    public static let cycles = AfterLast(rawValue: 1)
    /// Nothing: the stub is used up.
    public static let ends = AfterLast(rawValue: 2)
  }

  /// The same stub for one request, after which older stubs answer again. Several such stubs in one list for the same
  /// requests answer in the order they are written.
  public var once: Stub { times(1) }

  /// The same stub for exactly the given number of requests. A required stub that was used less often is reported.
  public func times(_ count: Int) -> Stub {
    guard count > 0 else {
      return with {
        $0.note(
          .invalidCount,
          "times(\(count)): a stub must be used at least once. Omit the stub, or verify that there were no calls.")
      }
    }
    return with {
      $0.life.minimum = count
      $0.life.maximum = count
    }
  }

  /// The same stub for a number of requests in the given range.
  public func times(_ counts: ClosedRange<Int>) -> Stub {
    guard counts.lowerBound >= 0, counts.upperBound > 0 else {
      return with {
        $0.note(.invalidCount, "times(\(counts)): counts must not be negative, and the last must be at least 1.")
      }
    }
    return with {
      $0.life.minimum = counts.lowerBound
      $0.life.maximum = counts.upperBound
    }
  }

  /// The same stub for any number of requests, which is the default.
  public var reusable: Stub {
    with {
      $0.life.minimum = nil
      $0.life.maximum = nil
    }
  }

  /// The same stub, which is not reported if it stays unused.
  public var optional: Stub { with { $0.life.requirement = .optional } }

  /// The same stub, reported if it stays unused. By default, a stub is required of the mock it was given to.
  public var required: Stub { with { $0.life.requirement = .required } }

  /// What a stub said about being used; `nil` when it did not say.
  package var requirement: Requirement? { life.requirement }

  /// The same stub with the given priority: the highest priority is asked first, and among equal ones the newest.
  /// Default: 0.
  public func priority(_ priority: Int) -> Stub { with { $0.life.priority = priority } }

  /// The same stub with the given behavior after the last of its listed answers.
  public func afterLast(_ afterLast: AfterLast) -> Stub { with { $0.life.afterLast = afterLast } }

  /// How many uses there are at most.
  var limit: Int? {
    guard life.afterLast == .ends, case .declared(let answers) = answer else { return life.maximum }
    return min(answers.count, life.maximum ?? .max)
  }

  /// How many uses there must be.
  var needed: Int {
    if life.requirement == .optional { return 0 }
    return life.minimum ?? 1
  }
}
