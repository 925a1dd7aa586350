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
    /// The number of requests removed from the history, by clearing or by its limit.
    var forgotten = 0
    var clearings = 0
    /// The total size of the bodies in the history.
    private var bodyBytes = 0
    var issues: [MockIssue] = []
    var waiters = Waiters()

    /// The limits of the history: number of requests, and bytes of their bodies.
    static let limit = (requests: 50_000, bytes: 64 << 20)

    /// Adds a request to the history. Beyond a limit, the oldest eighth is removed.
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
      for position in requests.indices where requests[position].record?.entry?.isRemoved == true {
        requests[position].record?.entry = nil
      }
    }
  }

  /// Where the mock was made.
  public let location: MockSourceLocation
  let options: Options
  package let environment: MockEnvironment
  /// Names, in lower case, that reports do not redact.
  let shownNames: Set<String>
  /// The mock that handles requests without a matching stub here.
  let outer: MockInterceptor?
  let state = Locked(State())

  /// Makes a mock.
  ///
  /// - Parameters:
  ///   - options: The response to unmatched requests, the clock of delays, and other settings.
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

  /// Makes a mock inside another, which handles requests without a matching stub in this one.
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
  /// `true`: stubs answer requests of interceptors, too, but not those of their closures.
  public var takesPartInNestedRequests: Bool { true }

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
    // Responses to HEAD need their bodies removed.
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

  /// Answers a request, whose body has been read, with a stub of this mock or of an outer one.
  private func load(
    _ request: InterceptedRequest, _ body: Data, _ next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    let outcome = MockOutcome()
    do {
      let response = try await respond(to: RequestFacts(request, body: body, outcome), next)
      // Without a test, nothing reads the history, so streams are not copied.
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
  /// The stub claimed for a request.
  struct Match {
    let entry: StubEntry
    let parameters: [String: String]
    let use: StubEntry.Use

    /// The request as an element of the mock's history.
    func request(_ facts: RequestFacts, in mock: MockInterceptor, isOwn: Bool) -> MockRequest {
      mock.recorded(facts, entry, isOwn: isOwn, parameters, use.number)
    }
  }

  /// The stubs that may match a request.
  private func entries(for facts: RequestFacts) -> [StubEntry] {
    state.withLock { $0.index.entries(for: facts) }
  }

  /// Claims a use of the first matching stub.
  ///
  /// - Parameter spent: Collects stubs that match the request but no longer answer.
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

  /// Like `claim`, but runs the stubs' predicates in the task context of the mock's scope.
  private func claimInContext(
    _ entries: [StubEntry], _ facts: RequestFacts, _ spent: inout [Spent]
  ) async throws -> Match? {
    guard let context = environment.context, entries.contains(where: \.stub.pattern.runsForeignCode) else {
      return claim(entries, facts, &spent)
    }
    // This task does not use the facts until the context's task has ended.
    nonisolated(unsafe) let facts = facts
    let (match, more) = try await context.run { () -> (Match?, [Spent]) in
      var spent: [Spent] = []
      let match = self.claim(entries, facts, &spent)
      return (match, spent)
    }
    spent += more
    return match
  }

  /// Claims one use of a stub and records the request, atomically: only one of two requests gets the last use.
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

  func record(_ request: MockRequest) {
    state.change(waking: \.waiters) { $0.append(request) }
  }
}

/// A stub in a mock, with its uses.
///
/// Unchecked: the variables are accessed only under the mock's lock.
final class StubEntry: @unchecked Sendable {
  let stub: Stub
  /// A sequence number: newer stubs have higher numbers.
  let number: Int
  /// The precedence: higher orders answer first. Stubs of a group (see `asWritten`) share the number of the newest one.
  let order: Order

  struct Order: Comparable {
    var number: Int
    /// The number of later stubs in the group.
    var followers = 0

    static func < (one: Order, other: Order) -> Bool {
      one.number == other.number ? one.followers < other.followers : one.number < other.number
    }
  }
  /// Whether the stub may respond inside the loading system's own call: its responses are ready, and it runs no code of
  /// its author.
  let isInline: Bool
  /// Whether the pattern is valid; responses may still have mistakes.
  let canMatch: Bool
  /// One per listed response: its prepared form, or `nil` if it is not the same for every request.
  private let prepared: [PreparedResponse?]
  private(set) var uses = 0
  var isRemoved = false
  /// Whether a report of an unmatched request names the stub as the one that was meant.
  let isReported = Locked(false)
  /// Uses whose response was an authentication challenge: the load's next request, with credentials, continues the use.
  private var challenged: [InterceptedRequest.ID: Int] = [:]

  init(_ stub: Stub, number: Int, order: Order? = nil) {
    self.stub = stub
    self.number = number
    self.order = order ?? Order(number: number)
    canMatch = stub.canMatch
    prepared = stub.listed?.map(\.prepared) ?? []
    isInline = !stub.pattern.runsForeignCode && !prepared.isEmpty && !prepared.contains { $0 == nil }
  }

  /// Whether this stub takes precedence over the other.
  func precedes(_ other: StubEntry) -> Bool {
    let (ours, theirs) = (stub.life.priority, other.stub.life.priority)
    return ours == theirs ? order > other.order : ours > theirs
  }

  /// One use of a stub.
  struct Use {
    /// The index of the use, from 0.
    let number: Int
    /// The response, if it is the same for every request.
    let prepared: PreparedResponse?
  }

  /// Claims a use for a request. After an authentication challenge, the load continues its previous use.
  func claim(for request: InterceptedRequest) -> Result<Use, Spent> {
    if isRemoved { return .failure(Spent(entry: self, isRemoved: true)) }
    if !challenged.isEmpty, let number = challenged.removeValue(forKey: request.id) { return .success(use(number)) }
    guard uses < stub.life.maximum ?? .max else { return .failure(Spent(entry: self, isRemoved: false)) }
    defer { uses += 1 }
    return .success(use(uses))
  }

  private func use(_ number: Int) -> Use {
    let ready = prepared.count > 1 ? prepared[stub.position(of: number, in: prepared.count)] : prepared.first ?? nil
    return Use(number: number, prepared: ready)
  }

  /// Notes that the response to a load was an authentication challenge.
  func challenge(_ request: InterceptedRequest, use: Int) { challenged[request.id] = use }

  func reset() {
    uses = 0
    isReported.withLock { $0 = false }
    challenged = [:]
  }
}
