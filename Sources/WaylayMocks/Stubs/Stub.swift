/// A rule of a mock: which requests it matches, what it answers, and how often.
///
/// ```swift
/// Stub(.get, "https://api.example.com/users/:id") { .json(["id": 42]) }
///
/// Stub(.post, "/users") { request in .data(request.body).status(201) }
///   .header("Content-Type", "application/json")
///   .body(.jsonSubset(["name": "Ada"]))
///   .once
/// ```
///
/// A closure without an argument lists the answers, which are given one after the other; it runs once, in the
/// initializer. A closure with an argument runs for each request.
///
/// A stub is a value: you can give the same stub to any number of mocks, each of which counts separately. A mistake in
/// it, such as a pattern that cannot be parsed, is kept and reported at the line of the stub; nothing traps.
public struct Stub: Sendable {
  /// What a stub does with a request.
  enum Answer: Sendable {
    case declared([MockResponse])
    case computed(@Sendable (MockRequest) async throws -> MockResponse)
  }

  /// The requests the stub is for.
  var pattern: RequestPattern
  var answer: Answer
  var life = Life()
  /// What is wrong with the stub whatever the request.
  package internal(set) var problems: [MockError]
  /// Where the stub was written.
  public internal(set) var location: MockSourceLocation

  /// Makes a stub with the listed answers; an empty list answers `200 OK` without a body.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - url: A `String` is a pattern (see ``URLPattern``), a `URL` is taken literally; `.regex("…")` and `.any` are
  ///     also available.
  ///   - answers: The answers; the closure runs once.
  ///   - fileID: The file to report issues at: the caller's.
  ///   - filePath: The path of that file.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  public init(
    _ method: HTTPRequest.Method, _ url: some URLPatternConvertible, fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    @MockResponseBuilder _ answers: () throws -> [MockResponse] = { [] }
  ) {
    self.init(
      RequestPattern(method, url), MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column),
      answers)
  }

  /// Makes a stub for any method with the listed answers.
  public init(
    _ url: some URLPatternConvertible, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line,
    column: UInt = #column, @MockResponseBuilder _ answers: () throws -> [MockResponse] = { [] }
  ) {
    self.init(
      RequestPattern(nil, url), MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column),
      answers)
  }

  /// Makes a stub that computes its answer from each request.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - url: As above.
  ///   - answer: Returns the answer. An error that it throws fails the load.
  ///   - fileID: The file to report issues at: the caller's.
  ///   - filePath: The path of that file.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  public init(
    _ method: HTTPRequest.Method, _ url: some URLPatternConvertible, fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    _ answer: @escaping @Sendable (MockRequest) async throws -> MockResponse
  ) {
    self.init(
      RequestPattern(method, url), .computed(answer),
      at: MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  /// Makes a stub for any method that computes its answer from each request.
  public init(
    _ url: some URLPatternConvertible, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line,
    column: UInt = #column, _ answer: @escaping @Sendable (MockRequest) async throws -> MockResponse
  ) {
    self.init(
      RequestPattern(nil, url), .computed(answer),
      at: MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column))
  }

  private init(_ pattern: RequestPattern, _ location: MockSourceLocation, _ answers: () throws -> [MockResponse]) {
    self.init(pattern, .declared([]), at: location)
    declare(answers)
  }

  /// Makes a stub for whatever pattern there is, as a reader of fixtures wants.
  package init(_ pattern: RequestPattern, responses: [MockResponse], at location: MockSourceLocation) {
    self.init(pattern, .declared([]), at: location)
    declare { responses }
  }

  init(_ pattern: RequestPattern, _ answer: Answer, at location: MockSourceLocation) {
    self.pattern = pattern
    self.answer = answer
    self.location = location
    problems = pattern.problems.map { $0.located(at: location) }
  }

  /// Replaces the stub's answers with the listed ones.
  public func respond(@MockResponseBuilder _ answers: () throws -> [MockResponse]) -> Stub {
    with { $0.declare(answers) }
  }

  /// Replaces the stub's answers with one computed from each request.
  public func respond(_ answer: @escaping @Sendable (MockRequest) async throws -> MockResponse) -> Stub {
    with { $0.answer = .computed(answer) }
  }

  private mutating func declare(_ answers: () throws -> [MockResponse]) {
    do {
      let answers = try answers()
      answer = .declared(answers.isEmpty ? [.status(200)] : answers)
      problems += answers.compactMap(\.defect).map { $0.located(at: location) }
    } catch let error as URLError {
      answer = .declared([.error(error)])
    } catch {
      let problem =
        error as? MockError
        ?? MockError(
          .invalidResponse, "the closure that lists the stub's responses threw \(error.redacted).", underlying: error)
      problems.append(problem.located(at: location))
      answer = .declared([.error(problem.located(at: location))])
    }
  }

  func with(_ change: (inout Stub) -> Void) -> Stub {
    var copy = self
    change(&copy)
    return copy
  }

  mutating func note(_ code: MockError.Code, _ message: String) {
    problems.append(MockError(code, message, location: location))
  }
}

extension Stub: CustomStringConvertible {
  /// Method, URL pattern and conditions.
  public var description: String { pattern.description }
}
