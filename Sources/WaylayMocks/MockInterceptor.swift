/// Answers requests with stubs, without a network, and records the requests.
///
/// ```swift
/// let mock = MockInterceptor {
///   Stub(.get, "https://api.example.com/users/:id", .json(["id": 42]))
///   Stub(.post, "/orders", .status(201)).where(.body(.jsonSubset(["paid": true]))).once
/// }
/// let session = URLSession(configuration: .default.intercepted(by: InterceptorRegistry { mock }))
/// let (data, _) = try await session.data(from: URL(string: "https://api.example.com/users/42")!)
/// #expect(mock.requests(.get, "/users/:id").count == 1)
/// ```
///
/// The stub with the highest priority is asked first; among stubs of equal priority, the newest is. In a list, later
/// stubs are newer, except that several stubs with `.once` or `.times` for the same requests answer in the order they
/// are written. A request that no stub matches fails, and ``issues`` names the closest stub. In tests, the trait of
/// `WaylayTesting` makes a mock for each test and reports its issues.
///
/// Each mock has its own stubs, counts and history: tests that run in parallel do not interfere.
public final class MockInterceptor: InlineResponding {
  struct State {
    var index = StubIndex()
    /// All stubs, oldest first.
    var entries: [StubEntry] = []
    /// Whether a stub has been added that may answer inline.
    var mayRespondInline = false
    var nextNumber = 0
    var requests: [MockRequest] = []
    /// How many requests have left the history: what was cleared, and the oldest of too many.
    var forgotten = 0
    /// How often the history was cleared.
    var clearings = 0
    /// The bytes of the bodies in it.
    private var bodyBytes = 0
    var issues: [MockIssue] = []
    var waiters = Waiters()

    /// The most requests that the history keeps, and the most bytes of their bodies.
    static let limit = (requests: 50_000, bytes: 64 << 20)

    /// Adds a request to the history. If there are too many, the oldest eighth goes.
    mutating func append(_ request: MockRequest) {
      requests.append(request)
      bodyBytes += request.body.count
      guard requests.count > Self.limit.requests || bodyBytes > Self.limit.bytes else { return }
      var (count, bytes) = (0, 0)
      for old in requests.dropLast()
      where count < requests.count / 8 || bodyBytes - bytes > Self.limit.bytes / 8 * 7 {
        count += 1
        bytes += old.body.count
      }
      requests.removeFirst(count)
      bodyBytes -= bytes
      forgotten += count
    }

    mutating func clearHistory() {
      forgotten += requests.count
      clearings += 1
      requests = []
      bodyBytes = 0
      issues = []
    }

    mutating func forgetRemovedStubs() {
      for position in requests.indices { requests[position].forgetRemovedStub() }
    }
  }

  /// Where the mock was made.
  public let location: MockSourceLocation
  let options: Options
  package let environment: MockEnvironment
  /// The names whose values reports show although they sound secret, in lower case.
  let shownNames: Set<String>
  /// The mock that is asked for what no stub of this one matches.
  let outer: MockInterceptor?
  let state = Locked(State())

  /// Makes a mock.
  ///
  /// - Parameters:
  ///   - options: What to do with requests that no stub matches, the clock of delays, and other settings.
  ///   - fileID: The file to report issues at: the caller's.
  ///   - filePath: The path of that file.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  ///   - stubs: The stubs; later ones take precedence.
  public convenience init(
    _ options: Options = Options(), fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column, @StubBuilder _ stubs: () throws -> [Stub]
  ) rethrows {
    self.init(
      options, within: nil,
      location: MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column),
      stubs: try stubs())
  }

  /// Makes a mock without stubs: `add` some later.
  public convenience init(
    _ options: Options = Options(), fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) {
    self.init(options, fileID: fileID, filePath: filePath, line: line, column: column) {}
  }

  /// Makes a mock inside another, which is asked for what no stub of this one matches.
  package init(
    _ options: Options = Options(), within outer: MockInterceptor?, context: TaskContext? = nil,
    location: MockSourceLocation, stubs: [Stub]
  ) {
    self.options = options
    self.outer = outer
    self.location = location
    shownNames = Set(options.unredactedNames.map { $0.lowercased() }).union(outer?.shownNames ?? [])
    environment = MockEnvironment(clock: options.clock, seed: options.seed, context: context)
    add(stubs)
  }

  /// The name in errors, logs and reports.
  public var name: String { options.name }

  /// The clock that delayed responses wait on, as passed to the initializer. In a parameterized test, each case has its
  /// own.
  public var clock: any Clock<Duration> { options.clock }
}

extension MockInterceptor {
  /// Settings of a mock.
  ///
  /// ```swift
  /// let mock = MockInterceptor(.init(unmatched: .passThrough, clock: MockClock(isAutomatic: true))) {
  ///   Stub(.get, "/health", .status(503))
  /// }
  /// ```
  public struct Options: Sendable {
    /// The name in errors, logs and reports.
    public var name: String
    /// The response to requests that no stub matches. `nil`, the default, fails the load with a `URLError` that names
    /// the closest stub. Each such request is an issue, except with `.passThrough`, which sends it to the next
    /// interceptor and finally to the network. A response without a body, such as `.status(501)`, gets the report as
    /// text.
    public var unmatched: MockResponse?
    /// The clock that delayed responses wait on. With a ``MockClock`` they take no time.
    public var clock: any Clock<Duration>
    /// The same seed loses the same packets of a `NetworkProfile`; `nil` loses different ones each time.
    public var seed: UInt64?
    /// The maximum number of bytes to read of a request's body; a longer body fails its load.
    public var bodyLimit: Int
    /// Names of query items, fields and JSON members whose values reports show although the names sound secret, such as
    /// `sort_key` or `pin`. The names are case-insensitive.
    public var unredactedNames: Set<String>

    /// Makes options; each parameter is described at the property of its name.
    public init(
      name: String = "MockInterceptor", unmatched: MockResponse? = nil,
      clock: any Clock<Duration> = ContinuousClock(), seed: UInt64? = nil, bodyLimit: Int = 1 << 28,
      unredactedNames: Set<String> = []
    ) {
      self.name = name
      self.unmatched = unmatched
      self.clock = clock
      self.seed = seed
      self.bodyLimit = bodyLimit
      self.unredactedNames = unredactedNames
    }
  }
}

// MARK: Loading

extension MockInterceptor {
  /// Answers `request` with the first matching stub.
  ///
  /// - Throws: A `URLError` with a ``MockError`` beneath it if no stub matches the request, or if the stub has a
  ///   mistake; a `URLError` that the stub's closure throws.
  public func startLoading(
    _ request: InterceptedRequest, next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    if let body = request.body.inMemory { return try await load(request, body, next) }
    var request = request
    let body = try await request.collectBody(
      upTo: options.bodyLimit, at: location,
      tooLarge: "the request's body exceeds the \(options.bodyLimit) bytes that the mock reads: raise "
        + "MockInterceptor.Options.bodyLimit.")
    return try await load(request, body, next)
  }

  /// Answers inline if the response is the same for every request, ready at once, and needs no code from outside the
  /// package: no closure computes it, it does not wait or stream, and has no predicate. Everything else goes to
  /// `startLoading`.
  public func respondInline(_ request: InterceptedRequest) -> InlineResponse {
    guard let body = request.body.inMemory, outer != nil || state.withLock({ $0.mayRespondInline }) else {
      return .startLoading
    }
    let facts = RequestFacts(request, body: body, MockOutcome())
    // Responses to HEAD lose their bodies.
    guard facts.method != "HEAD" else { return .startLoading }
    var layer = self
    while true {
      let entries = layer.entries(for: facts)
      guard entries.allSatisfy(\.isInline) else { return .startLoading }
      var spent: [Spent] = []
      guard let match = layer.claim(entries, facts, &spent) else {
        guard let outer = layer.outer else { return .startLoading }
        layer = outer
        continue
      }
      if layer !== self { record(match.request(facts, in: self, isOwn: false)) }
      guard let response = match.use.prepared?.response(to: facts) else {
        return .startLoading
      }
      return .response(facts.outcome?.keep(response, copies: false) ?? response)
    }
  }

  /// Answers a request whose body has been read, by a stub of this mock or of an outer one.
  private func load(
    _ request: InterceptedRequest, _ body: Data, _ next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    let outcome = MockOutcome()
    do {
      let response = try await respond(to: RequestFacts(request, body: body, outcome), next)
      // Where no test looks at it, nothing of a stream is kept.
      return outcome.keep(response, copies: environment.context != nil)
    } catch {
      outcome.fail(error)
      throw error
    }
  }

  private func respond(to facts: RequestFacts, _ next: InterceptorChain.Next) async throws -> InterceptedResponse {
    var spent: [Spent] = []
    var layer = self
    while true {
      if let match = try await layer.claimInContext(layer.entries(for: facts), facts, &spent) {
        if layer !== self { record(match.request(facts, in: self, isOwn: false)) }
        if let response = match.use.prepared?.response(to: facts) { return response }
        return try await respond(to: facts, match, next, layer)
      }
      guard let outer = layer.outer else { return try await respondUnmatched(facts, spent, next) }
      layer = outer
    }
  }

  private func respond(
    to facts: RequestFacts, _ match: Match, _ next: InterceptorChain.Next, _ layer: MockInterceptor
  ) async throws -> InterceptedResponse {
    let (entry, stub) = (match.entry, match.entry.stub)
    let request = MockRequest(facts.request, body: facts.body, parameters: match.parameters, index: match.use.number)
    do {
      let response: MockResponse
      switch stub.responses {
      case .listed(let responses): response = responses[stub.position(of: match.use.number, in: responses.count)]
      case .computed(let compute):
        response = try await layer.environment.response(computedBy: compute, for: request)
      }
      if response.credentials?.refusal(of: facts.request) != nil {
        layer.state.withLock { _ in entry.challenge(facts.request, use: match.use.number) }
      }
      return try await response.respond(to: request, next: next, in: layer.environment)
    } catch let error as MockError {
      let located = error.located(at: stub.location)
      layer.note(located, of: stub)
      throw located.urlError(for: facts.request)
    }
  }
}

// MARK: Matching

extension MockInterceptor {
  /// The stub that a request was matched with.
  struct Match {
    let entry: StubEntry
    let parameters: [String: String]
    let use: StubEntry.Use

    /// The request for the history of a mock.
    func request(_ facts: RequestFacts, in mock: MockInterceptor, isOwn: Bool) -> MockRequest {
      mock.recorded(facts, entry, isOwn: isOwn, parameters, use.number)
    }
  }

  /// The stubs that may match a request.
  private func entries(for facts: RequestFacts) -> [StubEntry] {
    state.withLock { $0.index.entries(for: facts) }
  }

  /// Takes a use of the first stub that matches a request.
  ///
  /// - Parameter spent: Stubs that match the request and do not answer any more.
  private func claim(_ entries: [StubEntry], _ facts: RequestFacts, _ spent: inout [Spent]) -> Match? {
    for entry in entries {
      var parameters: [String: String] = [:]
      guard entry.stub.pattern.matches(facts, &parameters) else { continue }
      switch claim(entry, facts, parameters) {
      case .success(let use): return Match(entry: entry, parameters: parameters, use: use)
      case .failure(let reason): spent.append(reason)
      }
    }
    return nil
  }

  /// The same, with the stubs' predicates in the context of the mock's scope.
  private func claimInContext(
    _ entries: [StubEntry], _ facts: RequestFacts, _ spent: inout [Spent]
  ) async throws -> Match? {
    guard let context = environment.context, entries.contains(where: \.stub.pattern.runsForeignCode) else {
      return claim(entries, facts, &spent)
    }
    // This task does nothing else with them until the other one has ended.
    nonisolated(unsafe) let facts = facts
    let (match, more) = try await context.run { () -> (Match?, [Spent]) in
      var spent: [Spent] = []
      let match = self.claim(entries, facts, &spent)
      return (match, spent)
    }
    spent += more
    return match
  }

  /// Takes one use of a stub and records the request, in one step: of two requests that want the last use one gets it.
  private func claim(
    _ entry: StubEntry, _ facts: RequestFacts, _ parameters: [String: String]
  ) -> Result<StubEntry.Use, Spent> {
    state.change(waking: \.waiters) { state in
      let result = entry.claim(for: facts.request)
      if case .success(let use) = result {
        state.append(recorded(facts, entry, isOwn: true, parameters, use.number))
      }
      return result
    }
  }

  /// A request for the history.
  func recorded(
    _ facts: RequestFacts, _ entry: StubEntry?, isOwn: Bool = false, _ parameters: [String: String] = [:],
    _ use: Int = 0
  ) -> MockRequest {
    MockRequest(
      request: facts.request, body: facts.body, parameters: parameters, index: use,
      record: MockRequest.Record(
        entry: entry, stub: entry.map { ($0.number, $0.stub.location) }, isOwn: isOwn, shownNames: shownNames,
        outcome: facts.outcome))
  }

  /// Adds a request to the history.
  func record(_ request: MockRequest) {
    state.change(waking: \.waiters) { $0.append(request) }
  }
}

/// A stub in a mock, with its uses.
///
/// Unchecked: the variables are accessed only under the mock's lock.
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
  /// Whether it may answer inside the loading system's own call: its responses are ready, and no code but the package's
  /// own runs.
  let isInline: Bool
  /// Whether the stub's mistakes, if it has any, leave it able to match.
  let canMatch: Bool
  private let limit: Int
  private let priority: Int
  /// Those of the listed responses that are the same for every request.
  private let prepared: [PreparedResponse?]
  private(set) var uses = 0
  var isRemoved = false
  /// The uses of loads that were asked for their credentials: their next request, with credentials, is the same use.
  private var challenged: [InterceptedRequest.ID: Int] = [:]

  init(_ stub: Stub, number: Int, order: Order? = nil) {
    self.stub = stub
    self.number = number
    self.order = order ?? Order(number: number)
    priority = stub.life.priority
    canMatch = stub.canMatch
    limit = stub.life.maximum ?? .max
    prepared = stub.listed?.map(\.prepared) ?? []
    isInline = !stub.pattern.runsForeignCode && !prepared.isEmpty && !prepared.contains { $0 == nil }
  }

  /// Whether this one is asked before the other.
  func precedes(_ other: StubEntry) -> Bool {
    priority == other.priority ? order > other.order : priority > other.priority
  }

  /// A use of a stub.
  struct Use {
    /// From 0.
    let number: Int
    /// The response, if it is the same for every request.
    let prepared: PreparedResponse?
  }

  /// Takes a use for a request. A load that was asked for its credentials continues the use of its first request.
  func claim(for request: InterceptedRequest) -> Result<Use, Spent> {
    if isRemoved { return .failure(Spent(entry: self, isRemoved: true)) }
    if !challenged.isEmpty, let number = challenged.removeValue(forKey: request.id) { return .success(use(number)) }
    guard uses < limit else { return .failure(Spent(entry: self, isRemoved: false)) }
    defer { uses += 1 }
    return .success(use(uses))
  }

  private func use(_ number: Int) -> Use {
    let ready = prepared.count > 1 ? prepared[stub.position(of: number, in: prepared.count)] : prepared.first ?? nil
    return Use(number: number, prepared: ready)
  }

  /// Notes that a load was asked for its credentials.
  func challenge(_ request: InterceptedRequest, use: Int) { challenged[request.id] = use }

  /// Starts over.
  func reset() {
    uses = 0
    challenged = [:]
  }
}
