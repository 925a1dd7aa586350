import Testing
import WaylayMocks

/// The plan of one run: one fault, at one exchange.
struct FaultPlan: Sendable, Hashable {
  /// The faults, in the order in which they are tried. Seeds contain the raw values.
  enum Kind: Int, Sendable, CaseIterable {
    case refused, resetBeforeHead, resetAfterHead, everyByte, oneChunk, silence, unavailable, unauthorized, cutMiddle,
      cutEnd
    case cancelled, tooMany, notModified, stalled, cancelledInBody, cutFirst, unavailableForLong, refusedForLong
    case unauthorizedForLong, resetForLong

    /// Whether the response keeps its bytes, so that the test must pass as before.
    var isHarmless: Bool { self == .everyByte || self == .oneChunk }

    /// Whether only a part of the body arrives.
    var cutsBody: Bool { [.resetAfterHead, .cutMiddle, .cutEnd, .cutFirst].contains(self) }

    /// Whether no response or a different one arrives. The client's reaction to that is also acceptable for a truncated
    /// body.
    var isWhole: Bool {
      [.refused, .resetBeforeHead, .silence, .unavailable, .resetForLong, .refusedForLong].contains(self)
    }

    /// Whether the server may have carried out the request although the client sees a failure.
    var leavesOpen: Bool {
      cutsBody || [.resetBeforeHead, .silence, .stalled, .resetForLong].contains(self)
    }

    /// Whether the response stalls, at once or after a part of it.
    var isSilent: Bool { [.silence, .stalled, .cancelled, .cancelledInBody].contains(self) }

    /// Whether the fault affects repetitions of the request too, up to a limit.
    var lasts: Bool { [.unavailableForLong, .refusedForLong, .unauthorizedForLong, .resetForLong].contains(self) }

    /// Whether the client may sign in again after the fault.
    var isAboutCredentials: Bool { self == .unauthorized || self == .unauthorizedForLong }

    var cancels: Bool { self == .cancelled || self == .cancelledInBody }

    /// Whether the fault changes the exchange.
    func applies(to exchange: FaultRun.Exchange) -> Bool {
      switch self {
      case .everyByte, .cutMiddle, .cutFirst: exchange.length > 1
      case .oneChunk: exchange.chunks > 1
      case .resetAfterHead, .cutEnd, .stalled, .cancelledInBody: exchange.length > 0
      case .notModified: exchange.request.method == .get
      default: true
      }
    }
  }

  /// The seconds in `Retry-After` of a response with the status 429.
  static let retryAfter = 2

  var kind: Kind
  /// The index of the exchange in the first run.
  var exchange: Int

  /// Encodes the plan as a number.
  var seed: UInt64 { UInt64(exchange) << 8 | UInt64(kind.rawValue) }

  init(_ kind: Kind, at exchange: Int) {
    (self.kind, self.exchange) = (kind, exchange)
  }

  /// The faulty response, and the Swift source that makes it.
  func answer(to exchange: FaultRun.Exchange) -> (response: MockResponse, source: String) {
    let length = exchange.length
    let cut =
      [.cutMiddle, .stalled, .cancelledInBody].contains(kind)
      ? length / 2 : kind == .cutEnd ? length - 1 : kind == .cutFirst ? 1 : 0
    switch kind {
    case .refused, .refusedForLong: return (.fault(.connectionRefused), ".fault(.connectionRefused)")
    case .resetBeforeHead, .resetForLong: return (.fault(.connectionReset), ".fault(.connectionReset)")
    case .resetAfterHead, .cutMiddle, .cutEnd, .cutFirst:
      return (
        .passThrough.fault(.connectionReset(afterBytes: cut)), "response.fault(.connectionReset(afterBytes: \(cut)))"
      )
    case .stalled, .cancelledInBody:
      return (.passThrough.fault(.stalled(afterBytes: cut)), "response.fault(.stalled(afterBytes: \(cut)))")
    case .everyByte: return (.passThrough.chunking(.everyByte), "response.chunking(.everyByte)")
    case .oneChunk: return (.passThrough, "response in one chunk")
    case .silence, .cancelled: return (.never, ".never")
    case .unavailable, .unavailableForLong: return (.status(503), ".status(503)")
    case .tooMany:
      let wait = "\(Self.retryAfter)"
      return (.status(429).field("Retry-After", wait), ".status(429).field(\"Retry-After\", \"\(wait)\")")
    case .notModified: return (.status(304), ".status(304)")
    case .unauthorized, .unauthorizedForLong: return (.status(401), ".status(401)")
    }
  }

  /// Swift source of a stub that reproduces the fault.
  func stub(for exchange: FaultRun.Exchange) -> String {
    let url = exchange.request.url.redacted.prefix { $0 != "?" }
    let times = kind.lasts ? ".times(\(FaultRun.lasting))" : ".once"
    return "Stub(.\(exchange.request.method.rawValue.lowercased()), \"\(url)\", \(answer(to: exchange).source))\(times)"
      + (kind.cancels ? ", and the test's task is cancelled while it waits" : "")
  }
}

/// One run of a test: its exchanges, its fault, and the results.
final class FaultRun: Sendable {
  /// A request of the run, and observed properties of its response.
  struct Exchange: Sendable {
    var request: InterceptedRequest
    var parts: [FaultBaseline.Part]
    /// The parts on which runs agree.
    var key: [FaultBaseline.Part]
    /// The index among requests with the same key.
    var occurrence = 0
    /// Whether the server may process the request any number of times (RFC 9110, section 9.2.2).
    var isRepeatable: Bool
    var at: Duration
    let began = ContinuousClock.now
    var length = 0
    var chunks = 0
    var type = ""

    /// Whether the app can use the body before its end.
    var isStream: Bool { ["event-stream", "ndjson", "jsonl", "json-seq", "multipart"].contains(where: type.contains) }

    var idempotencyKey: String? {
      request.fields.first { $0.name.canonicalName.hasSuffix("idempotency-key") }?.value
    }
  }

  struct State {
    var exchanges: [Exchange] = []
    /// Descriptions of exchanges in flight, including their bodies, by index.
    var open: [Int: String] = [:]
    var events = 0
    /// The exchanges that the fault has affected.
    var struck: [Int] = []
    /// The rejected credentials, from the first fault until a request with other credentials succeeds.
    var refusedCredentials: String?
    var isCancelled = false
    /// The number of requests that began after the cancellation.
    var late = 0
    var isOver = false
    /// Exchanges still in flight when the grace period after the test ended.
    var leftAlive: [String] = []
    /// Failed expectations, and whether the test threw an error.
    var failures: [String] = []
    var hasThrown = false
    var hasMock = false

    func isClean(_ ending: FaultExploration.Ending) -> Bool { ending == .over && !hasThrown && failures.isEmpty }
  }

  /// The run of the current test.
  @TaskLocal static var current: FaultRun?

  /// How many requests a lasting fault affects: enough for clients to give up, or to wait ever longer between retries.
  static let lasting = 15

  let plan: FaultPlan?
  let baseline: FaultBaseline
  /// Whether this is the first run, whose issues are those of the test.
  let isFirst: Bool
  /// The exchange with the fault.
  let target: Exchange?
  let state = Locked(State())
  private let time = Locked(MockClock())

  init(_ plan: FaultPlan? = nil, _ baseline: FaultBaseline, isFirst: Bool = false) {
    (self.plan, self.baseline, self.isFirst) = (plan, baseline, isFirst)
    target = plan.map { baseline.exchange($0.exchange) }
  }

  /// The virtual clock of the run, shared with the test's mock.
  var clock: MockClock { time.withLock { $0 } }

  /// The clock for a mock of the run: the run's own, unless the test has a `MockClock`.
  func clock(insteadOf clock: any Clock<Duration>) -> any Clock<Duration> {
    state.withLock { $0.hasMock = true }
    if let own = clock as? MockClock { time.withLock { $0 = own } }
    return self.clock
  }

  /// Runs a test in its innermost scope, then waits for its exchanges, up to 250 ms.
  static func settling(_ function: @concurrent @Sendable () async throws -> Void) async throws {
    guard let run = current else { return try await function() }
    do { try await function() } catch {
      await run.settle()
      throw error
    }
    await run.settle()
  }

  private func settle() async {
    state.withLock { $0.isOver = true }
    // Requests that the test has just started may not have begun.
    for _ in 0..<20 { await Task.yield() }
    let end = ContinuousClock.now + .milliseconds(250)
    while ContinuousClock.now < end, state.withLock({ !$0.open.isEmpty }) {
      // Detached, because the test's task may be cancelled.
      await Task.detached { try? await Task.sleep(for: .milliseconds(1)) }.value
    }
    state.withLock { state in
      state.leftAlive += state.open.values
      state.isOver = false
    }
  }

  /// Notes an issue of the test. Only the first run, without a fault, also reports it.
  func note(_ issue: Issue) -> Issue? {
    if issue.isFailure {
      state.withLock { state in
        switch issue.kind {
        case .expectationFailed: state.failures.append("\(issue)")
        case .errorCaught: state.hasThrown = true
        default: if isFirst { state.failures.append("\(issue)") }
        }
      }
    }
    return isFirst ? issue : nil
  }

  /// Notes that the client makes a request, which a cancellation may end before it begins.
  func noteAsked() {
    state.withLock { if $0.isCancelled { $0.late += 1 } }
  }

  /// Notes a request, and returns the fault that affects it.
  func begin(_ request: InterceptedRequest, _ body: Data) -> (number: Int, meets: FaultPlan.Kind?) {
    var exchange = baseline.exchange(MockRequest(request, body: body), at: clock.now.offset)
    let key = exchange.key
    return state.withLock { state in
      let occurrence = state.exchanges.count { $0.key == key }
      let number = state.exchanges.count
      exchange.occurrence = occurrence
      state.exchanges.append(exchange)
      state.open[number] = "\(request.method.rawValue) \(request.url.absoluteString.prefix { !"?#".contains($0) })"
      state.events += 1
      guard let plan, let target else { return (number, nil) }
      let isTarget = key == target.key && occurrence >= target.occurrence
      let credentials = request.fields[.authorization]
      let isHit =
        switch plan.kind {
        // An expired token fails every request that sends it.
        case .unauthorized:
          isTarget && occurrence == target.occurrence || credentials != nil && credentials == state.refusedCredentials
        case let kind where kind.lasts: isTarget && state.struck.count < Self.lasting
        default: isTarget && occurrence == target.occurrence
        }
      guard isHit else { return (number, nil) }
      state.struck.append(number)
      if plan.kind == .unauthorized { state.refusedCredentials = credentials }
      return (number, plan.kind)
    }
  }

  /// Notes the head of an unaffected response.
  func answered(_ number: Int, _ response: InterceptedResponse) {
    state.withLock { state in
      state.events += 1
      state.exchanges[number].type = response.fields[.contentType] ?? ""
      // A request with other credentials succeeded: stop rejecting the old ones.
      let credentials = state.exchanges[number].request.fields[.authorization]
      if credentials != state.refusedCredentials { state.refusedCredentials = nil }
    }
  }

  func received(_ number: Int, _ chunk: Data) {
    state.withLock { state in
      state.events += 1
      state.exchanges[number].length += chunk.count
      state.exchanges[number].chunks += 1
    }
  }

  func end(_ number: Int) {
    state.withLock { state in
      state.events += 1
      state.open[number] = nil
    }
  }

  /// Counters that stay the same while there is no progress.
  var progress: [Int] { [state.withLock { $0.events }, clock.sleepers] }
}

/// The interceptor before a mock that observes the exchanges and injects the fault of the run.
struct FaultInterceptor: RequestInterceptor {
  let run: FaultRun

  func canInit(with request: URLRequest) -> Bool {
    run.noteAsked()
    return true
  }

  func startLoading(_ request: InterceptedRequest, next: InterceptorChain.Next) async throws -> InterceptedResponse {
    var request = request
    let body = try await request.body.collect(upTo: 1 << 28)
    request.body = body.isEmpty ? .empty : .data(body)
    let (number, kind) = run.begin(request, body)
    do {
      let response = try await answer(request, kind, next)
      if kind == nil || kind?.isHarmless == true { run.answered(number, response) }
      return watched(response, number, request, kind)
    } catch {
      run.end(number)
      throw error
    }
  }

  private func answer(
    _ request: InterceptedRequest, _ kind: FaultPlan.Kind?, _ next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    guard let kind, let answer = run.target.flatMap({ run.plan?.answer(to: $0) })?.response else {
      return try await next(request)
    }
    // The server carries out the request before the fault hides its response.
    if kind.leavesOpen, kind.isWhole { try await next(request).body.discard() }
    let environment = MockEnvironment(clock: run.clock)
    var response = try await inTime(request, kind) {
      try await answer.respond(to: MockRequest(request), next: next, in: environment)
    }
    if kind == .oneChunk { response.body = .data(try await response.body.collect(upTo: 1 << 28)) }
    return response
  }

  /// Fails a silent exchange with a timeout on the run's clock, with the idle timeout of the request or session.
  private func inTime<Value: Sendable>(
    _ request: InterceptedRequest, _ kind: FaultPlan.Kind?, _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    guard kind?.isSilent == true else { return try await work() }
    if let value = try await run.clock.value(within: .ofSeconds(request.idleTimeout), of: work) { return value }
    throw TransportError(
      .timedOut, phase: .receiving, requestBytesSent: 1, message: "the response did not arrive in time.")
  }

  /// The response, with a body whose chunks are counted while it is read.
  private func watched(
    _ response: InterceptedResponse, _ number: Int, _ request: InterceptedRequest, _ kind: FaultPlan.Kind?
  ) -> InterceptedResponse {
    let isEvents = response.fields[.contentType]?.hasPrefix("text/event-stream") == true
    let lastID = HTTPField.Name("Last-Event-ID").flatMap { isEvents ? request.fields[$0] : nil }
    let reader = FaultReader(response.body, run, number, after: lastID)
    var response = response
    response.body = .relaying(response.body, length: response.body.length) {
      try await inTime(request, kind) { try await reader.next() }
    }
    return response
  }
}

/// Reports each chunk, and the end or release of a body, to the run. A stream of events continues after the last one
/// that the client has received, as from a server (WHATWG HTML, section 9.2).
private final class FaultReader: @unchecked Sendable {
  // Unchecked: used by one reader at a time, like any iterator; the relayed body can be read once.
  private var chunks: MessageBody.AsyncIterator
  private let run: FaultRun
  private let number: Int
  /// The ID of the last known event, until it is found, and the stream up to it.
  private var lastID: String?
  private var known = Data()

  init(_ body: MessageBody, _ run: FaultRun, _ number: Int, after lastID: String?) {
    (chunks, self.run, self.number, self.lastID) = (body.makeAsyncIterator(), run, number, lastID)
  }

  deinit { run.end(number) }

  func next() async throws -> Data? {
    while true {
      let chunk = try await chunks.next()
      if let chunk { run.received(number, chunk) } else { run.end(number) }
      guard let lastID else { return chunk }
      known += chunk ?? Data()
      let rest = events(after: lastID)
      guard rest != nil || chunk == nil else { continue }
      self.lastID = nil
      let bytes = rest ?? known
      if !bytes.isEmpty { return bytes }
    }
  }

  /// The known events after the one with an ID, once that is complete.
  private func events(after id: String) -> Data? {
    let blank = Data("\n\n".utf8)
    let events = known.split(separator: blank, omittingEmptySubsequences: false)
    let found = events.dropLast().lastIndex { event in
      event.split(separator: UInt8(ascii: "\n")).contains { line in
        line.starts(with: "id:".utf8) && String(decoding: line.dropFirst(3), as: UTF8.self).drop { $0 == " " } == id
      }
    }
    return found.map { Data(events[($0 + 1)...].joined(separator: blank)) }
  }
}
