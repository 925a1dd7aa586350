/// A rule of a mock: the requests it matches, its responses, and its number of uses. Of several stubs that match, the
/// last one written answers.
///
/// ```swift
/// Stub(.get, "https://api.example.com/users/:id", .json(["id": 42]))
///
/// Stub(.get, "/status", .status(503), .json(["state": "up"]))
///
/// Stub(.post, "/users") { request in .data(request.body).status(201) }
///   .where(.field("Content-Type", "application/json"), .body(.jsonSubset(["name": "Ada"])))
///   .once
/// ```
///
/// Responses in the argument list are made and checked once, and are given one after the other; the last one repeats. A
/// closure, with or without an argument, runs for each request.
///
/// A stub is a value: you can give the same stub to any number of mocks, each of which counts separately. A mistake in
/// it, such as a pattern that cannot be parsed, is kept and reported at the line of the stub; nothing traps.
public struct Stub: Sendable, Changeable {
  /// Where a stub's responses come from.
  enum Responses: Sendable {
    case listed([MockResponse])
    case computed(@Sendable (MockRequest) async throws -> MockResponse)
  }

  var pattern: RequestPattern
  let responses: Responses
  var life = Life()
  /// Mistakes in the stub, independent of any request.
  package internal(set) var problems: [MockError]
  /// Where the stub was written.
  public internal(set) var location: MockSourceLocation

  /// Makes a stub with responses that are given one after the other, the last one for all further requests; without
  /// any, it answers `200 OK` without a body.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - url: A `String` is a pattern (see ``URLPattern``), a `URL` is taken literally; `.regex("…")` and `.any` are
  ///     also available.
  ///   - responses: The responses.
  ///   - fileID: The file to report issues at: the caller's.
  ///   - filePath: The path of that file.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  public init(
    _ method: HTTPRequest.Method, _ url: some URLPatternConvertible, _ responses: MockResponse...,
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) {
    self.init(
      RequestPattern(method, url), responses: responses,
      at: MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// Makes a stub for any method with responses that are given one after the other.
  public init(
    _ url: some URLPatternConvertible, _ responses: MockResponse..., fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) {
    self.init(
      RequestPattern(url), responses: responses,
      at: MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// Makes a stub with a list of responses that are given one after the other, the last one for all further requests.
  public init(
    _ method: HTTPRequest.Method, _ url: some URLPatternConvertible, _ responses: [MockResponse],
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) {
    self.init(
      RequestPattern(method, url), responses: responses,
      at: MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// Makes a stub for any method with a list of responses that are given one after the other.
  public init(
    _ url: some URLPatternConvertible, _ responses: [MockResponse], fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) {
    self.init(
      RequestPattern(url), responses: responses,
      at: MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// Makes a stub that computes its response for each request.
  ///
  /// ```swift
  /// Stub(.get, "/time") { .text("\(Date())") }
  /// ```
  ///
  /// A `URLError` that the closure throws fails the load as it is. Any other error is a mistake of the stub: the load
  /// fails with a ``MockError`` that has the stub's location and the error beneath it. To fail a load on purpose, return
  /// `MockResponse.error(_:)`.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - url: A `String` is a pattern (see ``URLPattern``), a `URL` is taken literally; `.regex("…")` and `.any` are
  ///     also available.
  ///   - fileID: The file to report issues at: the caller's.
  ///   - filePath: The path of that file.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  ///   - response: Returns the response. It runs for each request.
  public init(
    _ method: HTTPRequest.Method, _ url: some URLPatternConvertible, fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    _ response: @escaping @Sendable () async throws -> MockResponse
  ) {
    self.init(
      RequestPattern(method, url), .computed { _ in try await response() },
      at: MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// Makes a stub that computes its response from each request.
  public init(
    _ method: HTTPRequest.Method, _ url: some URLPatternConvertible, fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    _ response: @escaping @Sendable (MockRequest) async throws -> MockResponse
  ) {
    self.init(
      RequestPattern(method, url), .computed(response),
      at: MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// Makes a stub for any method that computes its response for each request.
  public init(
    _ url: some URLPatternConvertible, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column, _ response: @escaping @Sendable () async throws -> MockResponse
  ) {
    self.init(
      RequestPattern(url), .computed { _ in try await response() },
      at: MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// Makes a stub for any method that computes its response from each request.
  public init(
    _ url: some URLPatternConvertible, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column,
    _ response: @escaping @Sendable (MockRequest) async throws -> MockResponse
  ) {
    self.init(
      RequestPattern(url), .computed(response),
      at: MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// Makes a stub for a pattern with a list of responses.
  package init(_ pattern: RequestPattern, responses: [MockResponse], at location: MockSourceLocation) {
    self.init(pattern, .listed(responses.isEmpty ? [.status(200)] : responses), at: location)
    problems += responses.compactMap(\.defect).map { $0.located(at: location) }
  }

  private init(_ pattern: RequestPattern, _ responses: Responses, at location: MockSourceLocation) {
    self.pattern = pattern
    self.responses = responses
    self.location = location
    problems = pattern.problems.map { $0.located(at: location) }
  }

  /// The same stub, restricted to requests that fulfil all of these conditions as well.
  ///
  /// ```swift
  /// Stub(.get, "/search", .json([])).where(.query("q", "swift"), .field("X-Beta") || !.query("page"))
  /// ```
  public func `where`(_ conditions: RequestMatcher...) -> Stub { self.where(conditions) }

  func `where`(_ conditions: [RequestMatcher]) -> Stub {
    with { stub in
      for condition in conditions { stub.pattern.add(condition) }
      stub.problems += conditions.flatMap(\.problems).map { $0.located(at: stub.location) }
    }
  }

  mutating func note(_ code: MockError.Code, _ message: String) {
    problems.append(MockError(code, message, location: location))
  }
}

extension Stub {
  /// The stub's list of responses; `nil` if a closure computes them.
  var listed: [MockResponse]? { if case .listed(let responses) = responses { responses } else { nil } }
}

extension Stub: CustomStringConvertible {
  /// Method, URL pattern and conditions.
  public var description: String {
    let text = pattern.description
    return text.utf8.count <= 600 ? text : "\(text.prefix(300)) … \(text.suffix(40))"
  }
}

extension Stub {
  /// Count and precedence of a stub.
  struct Life: Sendable {
    /// The minimum and maximum number of uses; `nil` for no limit.
    var minimum: Int?
    var maximum: Int?
    var requirement: Requirement?
    var priority = 0
    /// Whether the listed responses start over after the last one, which otherwise repeats.
    var cycles = false
  }

  /// Whether an unused stub is an issue.
  package enum Requirement: Sendable {
    case required
    case optional
  }

  /// The same stub for one request, after which older stubs answer again. Several such stubs in one list for the same
  /// requests answer in the order they are written.
  public var once: Stub { times(1) }

  /// The same stub for exactly the given number of requests. A required stub that was used less often is reported.
  public func times(_ count: Int) -> Stub {
    with {
      guard count > 0 else {
        return $0.note(
          .invalidCount,
          "times(\(count)): a stub must be used at least once. Omit the stub, or verify that there were no requests.")
      }
      ($0.life.minimum, $0.life.maximum) = (count, count)
    }
  }

  /// The same stub for a number of requests in the given range.
  public func times(_ counts: ClosedRange<Int>) -> Stub {
    with {
      guard counts.lowerBound >= 0, counts.upperBound > 0 else {
        return $0.note(.invalidCount, "times(\(counts)): counts must not be negative, and the last must be at least 1.")
      }
      ($0.life.minimum, $0.life.maximum) = (counts.lowerBound, counts.upperBound)
    }
  }

  /// The same stub, which is not reported if it stays unused.
  public var optional: Stub { with { $0.life.requirement = .optional } }

  /// The same stub, reported if it stays unused. By default, a stub is required of the mock it was given to.
  public var required: Stub { with { $0.life.requirement = .required } }

  /// Whether an unused stub is an issue; `nil` for the default.
  package var requirement: Requirement? { life.requirement }

  /// The same stub with the given priority: the highest priority is asked first, and among equal ones the newest.
  /// Default: 0.
  public func priority(_ priority: Int) -> Stub { with { $0.life.priority = priority } }

  /// The same stub, whose listed responses start over after the last one; by default the last one repeats.
  public var cycling: Stub {
    with { stub in
      stub.life.cycles = true
      if stub.listed == nil {
        stub.note(.invalidCount, "cycling: a closure runs for each request and has no list to start over.")
      }
    }
  }

  /// The required number of uses.
  var needed: Int {
    if life.requirement == .optional { return 0 }
    return life.minimum ?? 1
  }

  /// Whether the pattern and the count are valid; responses may still have mistakes.
  var canMatch: Bool { pattern.problems.isEmpty && !problems.contains { $0.code == .invalidCount } }

  /// The index of the listed response for a use; both count from 0.
  func position(of use: Int, in count: Int) -> Int { life.cycles ? use % count : min(use, count - 1) }
}

extension Stub {
  /// Method and URL pattern as written, to find the stub in its source file.
  package var written: (method: String?, url: String) { (pattern.method, pattern.url.description) }

  /// A copy with a more precise source location.
  package func relocated(to location: MockSourceLocation) -> Stub {
    with { stub in
      stub.location = location
      stub.problems = problems.map { problem in
        var problem = problem
        if problem.location == self.location { problem.location = location }
        return problem
      }
    }
  }
}

// MARK: Lists of stubs

/// A result builder for a list of stubs, which accepts conditions, loops and arrays.
///
/// ```swift
/// let mock = MockInterceptor {
///   Stub(.get, "/users/:id", .json(["id": 42]))
///   for page in 1...3 { Stub(.get, "/pages/\(page)", .text("page \(page)")) }
/// }
/// ```
@resultBuilder
public enum StubBuilder {
  /// One stub.
  public static func buildExpression(_ stub: Stub) -> [Stub] { [stub] }
  /// An existing list.
  public static func buildExpression(_ stubs: [Stub]) -> [Stub] { stubs }
  /// The empty list.
  public static func buildBlock() -> [Stub] { [] }
  /// All parts in the order of the source.
  public static func buildBlock(_ parts: [Stub]...) -> [Stub] { parts.flatMap { $0 } }
  /// `if` without `else`.
  public static func buildOptional(_ part: [Stub]?) -> [Stub] { part ?? [] }
  /// `if`, first branch.
  public static func buildEither(first part: [Stub]) -> [Stub] { part }
  /// `if`, second branch.
  public static func buildEither(second part: [Stub]) -> [Stub] { part }
  /// `for`.
  public static func buildArray(_ parts: [[Stub]]) -> [Stub] { parts.flatMap { $0 } }
  /// `if #available`.
  public static func buildLimitedAvailability(_ part: [Stub]) -> [Stub] { part }
}

extension HTTPRequest.Method {
  /// Makes a custom method.
  ///
  /// ```swift
  /// Stub(.named("PURGE"), "/cache/**", .status(204))
  /// ```
  ///
  /// A name with characters that are invalid in a method (RFC 9110, section 9.1) matches no request: a stub for it
  /// stays unused, and is reported.
  public static func named(_ name: String) -> HTTPRequest.Method {
    if let method = HTTPRequest.Method(rawValue: name) { return method }
    let bytes = name.utf8.map { byte in
      let scalar = Unicode.Scalar(byte)
      return scalar.isASCII && scalar.properties.isAlphabetic
        ? String(scalar) : "%" + String(byte, radix: 16, uppercase: true)
    }
    return HTTPRequest.Method(rawValue: bytes.joined()) ?? .trace
  }
}
