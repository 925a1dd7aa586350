import Foundation
import HTTPTypes
import WaylayHAR
import WaylayRecording

extension InterceptedResponse.Source {
  /// A stub of a mock.
  public static let mock = InterceptedResponse.Source("mock", storesCookies: true)
}

extension MockResponse {
  /// Makes the response to a request.
  ///
  /// - Throws: ``MockError`` for a mistake in the response; the simulated failure; `CancellationError`.
  package func respond(
    to request: MockRequest, next: InterceptorChain.Next, in environment: MockEnvironment
  ) async throws -> InterceptedResponse {
    if let defect { throw defect }
    if timing.isImmediate, bodyFault == nil {
      return finished(try await edited(original(for: request, next), request, environment), request)
    }
    let stopwatch = Stopwatch(environment.clock)
    if timing.losesEverything { try await Never.comes() }
    try await timing.waitForFirstByte(stopwatch, sending: request.request.body.length ?? 0, environment.random)
    var response = finished(try await edited(original(for: request, next), request, environment), request)
    let fault = bodyFault?.body(for: request.request)
    if let fault, bodyFault?.promisesMore == true { response.promise(moreThan: fault.bytes) }
    guard fault != nil || timing.pacesBody else { return response }
    let pace = timing.pace(stopwatch, length: response.body.length, environment.random)
    response.body = PacedBody.body(response.body, pace: pace, fault: fault)
    return response
  }

  /// The response before edits.
  private func original(
    for request: MockRequest, _ next: InterceptorChain.Next
  ) async throws -> InterceptedResponse {
    if let refusal = credentials?.refusal(of: request.request) { return refusal }
    switch content {
    case .message(let message):
      return InterceptedResponse(
        to: request.request, status: message.status, fields: message.fields, body: try message.content(),
        source: .mock)
    case .error(let error): throw error
    case .failure(let failure): throw failure.error(for: request.request)
    case .never: try await Never.comes()
    case .passThrough: return try await next(request.request)
    }
  }

  private func edited(
    _ response: InterceptedResponse, _ request: MockRequest, _ environment: MockEnvironment
  ) async throws -> InterceptedResponse {
    guard !edits.isEmpty else { return response }
    var response = response
    for edit in edits {
      switch edit {
      case .message(let change):
        var message = Message(status: response.status, fields: response.fields)
        change(&message)
        response.status = message.status
        response.fields = message.fields
      case .response(let change):
        response = try await environment.run { [response] in try await change(response, request) }
      }
    }
    return response
  }

  /// The response with HTTP's rules applied: the requested range, no body where HTTP allows none, the length.
  private func finished(_ response: InterceptedResponse, _ request: MockRequest) -> InterceptedResponse {
    var response = response
    if servesRanges { response.serveRange(of: request.request) }
    guard response.source == .mock else { return response }
    response.complete()
    if request.method == "HEAD" { response.body = .empty }
    return response
  }
}

extension InterceptedResponse {
  /// Takes the body of a status without one away, and adds the length of any other body.
  fileprivate mutating func complete() {
    guard ![204, 304].contains(status.code) else { return body = .empty }
    guard let length = body.length,
      !fields.contains(where: { $0.name == .contentLength || $0.name == .transferEncoding })
    else { return }
    fields.append(HTTPField(name: .contentLength, value: String(length)))
  }
}

extension MockResponse.Message {
  /// The body; a file is opened now.
  func content() throws -> MessageBody {
    switch body {
    case .message(let body): body
    case .file(let file): try .existing(file)
    }
  }
}

extension InterceptedResponse {
  /// Sets a `Content-Length` greater than the body's length.
  fileprivate mutating func promise(moreThan bytes: Int) {
    let length = max(body.length ?? 0, Int64(bytes).addingReportingOverflow(1).partialValue)
    fields[.transferEncoding] = nil
    fields[.contentLength] = String(length)
  }
}

/// A response that is the same for every request, made once with its stub, which makes sending cheap.
struct PreparedResponse: Sendable {
  /// The last response, at first without the URL of a request. Most stubs serve one URL, so later requests reuse the
  /// response and its head: making a head is the loading system's most expensive step here.
  private let last: Locked<InterceptedResponse>

  init(_ response: InterceptedResponse) { last = Locked(response) }

  /// The response to a request; `nil` for `HEAD`, whose responses lose their bodies.
  func response(to facts: RequestFacts) -> InterceptedResponse? {
    guard facts.method != "HEAD" else { return nil }
    let url = facts.url.url
    var response = last.withLock { $0 }
    if response.url == url {
      guard !response.keepsHead else { return response }
      response.keepHead()
    } else {
      response.url = url
    }
    last.withLock { $0 = response }
    return response
  }
}

extension MockResponse {
  /// The response to every request; `nil` if it depends on the request, takes time, fails, or has to be read from a
  /// source.
  var prepared: PreparedResponse? {
    guard defect == nil, timing.isImmediate, bodyFault == nil, credentials == nil, !servesRanges,
      case .message(var message) = content,
      case .message(let body) = message.body, body.inMemory != nil
    else { return nil }
    for edit in edits {
      guard case .message(let change) = edit else { return nil }
      change(&message)
    }
    var response = InterceptedResponse(
      status: message.status, fields: message.fields, url: URL(fileURLWithPath: "/"), body: body, source: .mock)
    response.complete()
    return PreparedResponse(response)
  }
}

/// The expected credentials of a Basic challenge (RFC 7617).
struct MockCredentials: Sendable {
  let user: String
  let password: String
  let realm: String

  /// The mistake in the credentials, if any.
  var defect: MockError? {
    if user.contains(":") {
      return MockError(
        .invalidResponse, "a user name for Basic authentication must not contain a colon (RFC 7617, section 2).")
    }
    guard [user, password, realm].contains(where: { $0.utf8.contains { $0 < 0x20 || $0 == 0x7F } }) else { return nil }
    return MockError(
      .invalidResponse, "user, password and realm of Basic authentication must not contain control characters.")
  }

  /// The challenge; `nil` for a request with the right credentials.
  func refusal(of request: InterceptedRequest) -> InterceptedResponse? {
    if let field = request.fields[.authorization], isRight(field) { return nil }
    return InterceptedResponse(
      to: request, status: .unauthorized,
      fields: [.wwwAuthenticate: "Basic realm=\(realm.quotedString), charset=\"UTF-8\""],
      source: .mock)
  }

  private func isRight(_ field: String) -> Bool {
    guard let space = field.firstIndex(of: " "), field[..<space].lowercased() == "basic" else { return false }
    return Data(base64Encoded: String(field[space...].dropFirst())) == Data("\(user):\(password)".utf8)
  }
}

extension MockResponse {
  /// The same response for requests with the right user and password; any other request gets a 401 with a Basic
  /// challenge.
  ///
  /// ```swift
  /// Stub(.get, "/account", .json(account).requiringBasic(user: "ada", password: "s3cret"))
  /// ```
  ///
  /// The challenge is answered like one from the network: by the task's delegate, the session's credential storage, or
  /// the URL's user info. All of this happens inside the load, offline, and counts as one use of the stub. Without the
  /// right credentials the app gets the 401.
  public func requiringBasic(user: String, password: String, realm: String = "mock") -> MockResponse {
    with { copy in
      let credentials = MockCredentials(user: user, password: password, realm: realm)
      copy.note(credentials.defect)
      copy.credentials = credentials
    }
  }
}

/// Inputs of responses: the clock, randomness, and the task context of the stubs' closures.
package struct MockEnvironment: Sendable {
  /// The clock of delays.
  package let clock: any Clock<Duration>
  /// The random source of packet loss.
  package let random: SeededRandom
  /// Runs the closures of stubs; `nil` runs them in the load's own task.
  package let context: TaskContext?

  /// Makes an environment.
  ///
  /// - Parameters:
  ///   - clock: The clock of delays.
  ///   - seed: The same seed loses the same packets; `nil` for different ones each time.
  ///   - context: Runs the closures of stubs; `nil` runs them in the load's own task.
  package init(clock: any Clock<Duration> = ContinuousClock(), seed: UInt64? = nil, context: TaskContext? = nil) {
    self.context = context
    self.clock = clock
    random = SeededRandom(seed: seed ?? .random(in: .min ... .max))
  }

  /// Runs code of the stub's author.
  func run<Value: Sendable>(_ operation: @escaping @Sendable () async throws -> Value) async throws -> Value {
    guard let context else { return try await operation() }
    return try await context.run(operation)
  }

  /// The result of the stub's closure.
  ///
  /// - Throws: `URLError`, a load's error and cancellation unchanged; ``MockError`` for any other error.
  func response(
    computedBy compute: @escaping @Sendable (MockRequest) async throws -> MockResponse, for request: MockRequest
  ) async throws -> MockResponse {
    do { return try await run { try await compute(request) } } catch let error
      where error is URLError || error is any LoadError || error is CancellationError
    {
      throw error
    } catch {
      // The report shows the error of the test's closure unredacted.
      let text = (error as? any LocalizedError)?.errorDescription ?? "\(error)"
      throw MockError(
        .invalidResponse,
        "the stub's closure threw \(type(of: error)): \(text.prefix(500)). To fail a load on purpose, return .error(…) or "
          + "throw a URLError.", underlying: error)
    }
  }
}

/// The response or error of a request, for the history.
final class MockOutcome: Sendable {
  private struct State {
    var response: InterceptedResponse?
    var body: SeenBody?
    var copy: BodyCopy?
    var error: (any Error)?
    var head: Duration?
  }

  /// The maximum number of bytes kept of a body.
  private static let limit = 1 << 16

  private let started = Date()
  private let start = ContinuousClock.now
  private let state = Locked(State())

  /// Keeps a response, with its body if that is small.
  ///
  /// - Parameter copies: Whether to copy the body of a stream while it is read.
  func keep(_ response: InterceptedResponse, copies: Bool) -> InterceptedResponse {
    var (response, kept) = (response, response)
    // Do not retain a body that holds a connection or many bytes.
    kept.body = .empty
    let data = response.body.inMemory
    let copy = copies && data == nil ? BodyCopy(limit: Self.limit) : nil
    let size = response.body.length.map(Int.init(clamping:))
    state.withLock { state in
      state.body = data.flatMap { $0.count <= Self.limit ? SeenBody($0) : nil } ?? SeenBody(size: size)
      (state.response, state.copy, state.head) = (kept, copy, ContinuousClock.now - start)
    }
    if let copy { response.body = response.body.copied(to: copy) }
    return response
  }

  func fail(_ error: any Error) { state.withLock { $0.error = error } }

  /// The exchange with its secrets.
  func entry(of request: InterceptedRequest, _ body: Data) -> HAR.Entry {
    let state = state.withLock { $0 }
    var entry = HAR.Entry(
      request, body: SeenBody(body), state.response, responseBody: state.copy?.body ?? state.body, started: started,
      head: state.head,
      elapsed: state.head ?? .zero)
    if let error = state.error { entry.fail(error) }
    return entry
  }
}
