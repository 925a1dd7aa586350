/// A state machine for stubs, whose answers depend on earlier requests.
///
/// ```swift
/// let cart = Scenario("cart", states: ["empty", "full"])
/// let mock = MockInterceptor {
///   Stub(.get, "/cart") { .json([]) }.scenario(cart, requires: "empty")
///   Stub(.post, "/cart") { .status(201) }.scenario(cart, requires: "empty", next: "full")
///   Stub(.get, "/cart") { .json(["book"]) }.scenario(cart, requires: "full")
/// }
/// ```
///
/// Each mock keeps its own state. For answers that only follow one another, list them in one stub.
public struct Scenario: Sendable, Hashable {
  /// The name, unique in a mock.
  public let name: String
  /// The states; the first one is the initial state.
  public let states: [String]

  /// Makes a scenario.
  public init(_ name: String, states: [String]) {
    self.name = name
    self.states = states
  }
}

extension Stub {
  /// What a stub has to do with a scenario.
  struct Transition: Sendable {
    let scenario: Scenario
    let required: String?
    let next: String?
  }

  /// The same stub as part of a scenario.
  ///
  /// - Parameters:
  ///   - scenario: The scenario.
  ///   - required: The state in which the stub answers; `nil` for any.
  ///   - next: The state after its answer; `nil` keeps the current one.
  public func scenario(_ scenario: Scenario, requires required: String? = nil, next: String? = nil) -> Stub {
    with { stub in
      if scenario.states.isEmpty {
        stub.note(.unknownState, "the scenario \"\(scenario.name)\" has no states: name at least one.")
      }
      for state in [required, next].compactMap({ $0 })
      where !scenario.states.isEmpty && !scenario.states.contains(state) {
        stub.note(.unknownState, scenario.unknown(state))
      }
      stub.life.scenario = Transition(scenario: scenario, required: required, next: next)
    }
  }
}

extension Scenario {
  func unknown(_ state: String) -> String {
    "the scenario \"\(name)\" has no state \"\(state)\": its states are "
      + "\(states.map { "\"\($0)\"" }.joined(separator: ", "))."
  }
}
