/// A stub in a mock: how often it was used, and whether it is still there.
///
/// Unchecked: what changes is only touched under the mock's lock.
final class StubEntry: @unchecked Sendable {
  let stub: Stub
  /// The number of the stub in its mock: the higher, the newer.
  let number: Int
  /// When it is asked: the highest first. Its own number, or that of the newest of several which are asked as they were
  /// written.
  let order: Order

  struct Order: Comparable {
    var number: Int
    /// How many of those that share the number were written after it.
    var followers = 0

    static func < (one: Order, other: Order) -> Bool {
      one.number == other.number ? one.followers < other.followers : one.number < other.number
    }
  }
  /// Whether it may answer inside the loading system's own call: its answers are there at once, and no code but the
  /// package's own runs.
  let isInline: Bool
  /// Whether the stub's mistakes, if it has any, leave it able to match.
  let canMatch: Bool
  private let limit: Int
  private let priority: Int
  /// Those of the listed answers that are the same for every request.
  private let prepared: [PreparedResponse?]
  private let mayChallenge: Bool
  private(set) var uses = 0
  var isRemoved = false
  /// The uses that belong to loads which were asked for their credentials: they come again with them, and that is no
  /// other use.
  private var challenged: [InterceptedRequest.ID: Int] = [:]

  init(_ stub: Stub, number: Int, order: Order? = nil) {
    self.stub = stub
    self.number = number
    self.order = order ?? Order(number: number)
    priority = stub.life.priority
    canMatch = stub.canMatch
    limit = stub.limit ?? .max
    let prepared =
      if case .declared(let answers) = stub.answer { answers.map(\.prepared) } else { [PreparedResponse?]() }
    self.prepared = prepared
    isInline = !stub.pattern.runsForeignCode && !prepared.isEmpty && !prepared.contains { $0 == nil }
    mayChallenge =
      if case .declared(let answers) = stub.answer { answers.contains { $0.credentials != nil } } else { false }
  }

  /// Whether the stub is for a request; fills in the values of the URL's names.
  func matches(_ facts: RequestFacts, _ parameters: inout [String: String]) -> Bool {
    stub.pattern.matches(facts, &parameters)
  }

  /// Whether this one is asked before the other.
  func precedes(_ other: StubEntry) -> Bool {
    priority == other.priority ? order > other.order : priority > other.priority
  }

  /// Whether it has answered as often as it may.
  var isUsedUp: Bool { uses >= limit }

  /// Counts a use, and gives its number, from 0.
  func use(for request: InterceptedRequest) -> Int {
    let use = uses
    uses += 1
    if mayChallenge, case .declared(let answers) = stub.answer,
      stub.declaredAnswer(answers, to: use).credentials?.refusal(of: request) != nil
    {
      challenged[request.id] = use
    }
    return use
  }

  /// The answer to the use of that number, where it is the same for every request.
  func preparedAnswer(to use: Int) -> PreparedResponse? {
    prepared.isEmpty ? nil : prepared[stub.position(of: use, in: prepared.count)]
  }

  /// The use that a load goes on with which was asked for its credentials.
  func continuedUse(by request: InterceptedRequest) -> Int? {
    mayChallenge ? challenged.removeValue(forKey: request.id) : nil
  }

  /// Begins anew.
  func reset() {
    uses = 0
    challenged = [:]
  }
}

extension Stub {
  /// The answer to the use of that number, from 0.
  func declaredAnswer(_ answers: [MockResponse], to use: Int) -> MockResponse {
    answers[position(of: use, in: answers.count)]
  }

  /// Which of so many answers belongs to the use of that number.
  fileprivate func position(of use: Int, in count: Int) -> Int {
    count == 1 ? 0 : life.afterLast == .cycles ? use % count : min(use, count - 1)
  }
}
