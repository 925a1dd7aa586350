public import Testing
public import WaylayMocks

/// A trait that plays a test's requests from a file, or records them to it.
///
/// ```swift
/// @Test(.cassette("login"))
/// func login() async throws {
///   let user = try await UserClient(session: .mocked).logIn("ada", password: "…")
///   #expect(user.name == "Ada")
/// }
/// ```
///
/// The file is `Cassettes/login.har`, next to the test's source file. It is recorded with the network, and then played
/// without it:
///
/// ```sh
/// WAYLAY_RECORD=once swift test
/// ```
///
/// On a suite, each test has its own file, in a folder of the given name: `Cassettes/login/wrongPassword.har`. The
/// cases of a parameterized test would record into one file: wrap them in `withCassette("login-\(argument)") { … }`.
///
/// Inside, ``MockScope/current`` also has an empty mock, which takes precedence: stubs that the test adds to
/// `MockInterceptor.current`, and those of an enclosing or nested `.mocked`, answer before the cassette does.
///
/// At the end of the test, requests without a matching entry are reported as issues, and entries that were never
/// requested as a warning. If the test throws, its recording is discarded.
public struct CassetteTrait: TestTrait, SuiteTrait, TestScoping {
  /// The identity of a trait: a suite's trait is copied to every test in the suite.
  private final class Identity: Sendable {}

  /// The traits of the suites around the current task.
  @TaskLocal private static var suites: Set<ObjectIdentifier> = []

  private let identity = Identity()
  let path: String?
  let mode: Cassette.Mode
  let options: @Sendable () -> Cassette.Options
  let location: MockSourceLocation

  /// `true`: each test of a suite has its own cassette.
  public var isRecursive: Bool { true }

  /// Returns the trait itself, for each case of a test and once for a suite.
  public func scopeProvider(for test: Test, testCase: Test.Case?) -> CassetteTrait? {
    test.isSuite || testCase != nil ? self : nil
  }

  /// Runs a test case in a scope with a cassette, and reports at its end.
  @concurrent public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else {
      return try await Self.$suites.withValue(Self.suites.union([ObjectIdentifier(identity)])) { try await function() }
    }
    if let outermost = MockTrait.outermost(of: test) {
      let function = escaping(function)
      return try await outermost.surround(test, testCase) {
        try await provideScope(for: test, testCase: testCase, performing: function)
      }
    }
    let isOfSuite = Self.suites.contains(ObjectIdentifier(identity))
    let name = Self.fileName(of: test)
    let path = isOfSuite ? path.map { "\($0)/\(name)" } ?? "\(stem)/\(name)" : path ?? "\(stem)/\(name)"
    let place = isOfSuite ? location : location.moved(to: test)
    let cassette = Cassette(path, mode: mode, options: options(), location: place)
    let scope = MockScope(playing: cassette)
    try await scope.run(function, of: test, testCase, missesAtTest: isOfSuite, cassette: cassette)
  }

  /// The name of the source file.
  private var stem: String {
    URL(fileURLWithPath: location.filePath.description).deletingPathExtension().lastPathComponent
  }

  /// A test's name with the characters allowed in a file name.
  static func fileName(of test: Test) -> String {
    let name = test.name.prefix { $0 != "(" }
    let plain = String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber) || "-_".contains($0) ? $0 : "-" })
    return plain.trimmingCharacters(in: ["-"])
  }
}

extension Trait where Self == CassetteTrait {
  /// Plays the requests of the test, or of each test in the suite, from a file, or records them to it.
  ///
  /// - Parameters:
  ///   - path: The file, in the folder `Cassettes` next to the source file; the extension `.har` is optional. For a
  ///     suite, the subfolder in `Cassettes`. Default: the names of the source file and of the test.
  ///   - mode: When to play and when to record. By default it plays only, unless `WAYLAY_RECORD` says otherwise.
  ///   - options: Matching, redaction, issues, and the maximum age of a recording. Evaluated anew for each test.
  ///   - fileID: The file to report issues at: the caller's.
  ///   - filePath: The path of that file.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  public static func cassette(
    _ path: String? = nil, mode: Cassette.Mode = .environment,
    options: @autoclosure @escaping @Sendable () -> Cassette.Options = Cassette.Options(),
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) -> CassetteTrait {
    CassetteTrait(
      path: path, mode: mode, options: options,
      location: MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column))
  }
}

/// Runs an operation whose requests are played from a cassette or recorded to it: inside, `URLSession.mocked` uses the
/// cassette.
///
/// ```swift
/// func testLogin() async throws {
///   try await withCassette("login") {
///     let user = try await UserClient(session: .mocked).logIn("ada", password: "…")
///     XCTAssertEqual(user.name, "Ada")
///   }
/// }
/// ```
///
/// It reports the same issues as ``CassetteTrait``, in Swift Testing and in XCTest. If the operation throws, its
/// recording is discarded: an existing file stays.
///
/// - Parameters:
///   - path: The file, in the folder `Cassettes` next to the caller's; the extension `.har` is optional.
///   - mode: When to play and when to record. By default it plays only, unless `WAYLAY_RECORD` says otherwise.
///   - options: Matching, redaction, issues, and the maximum age of a recording.
///   - fileID: The file to report issues at: the caller's.
///   - filePath: The path of that file.
///   - line: The caller's line.
///   - column: The caller's column.
///   - operation: The code under test.
/// - Returns: The operation's result.
/// - Throws: The operation's error.
@discardableResult
public func withCassette<Result>(
  _ path: String, mode: Cassette.Mode = .environment, options: Cassette.Options = Cassette.Options(),
  fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
  operation: () async throws -> Result
) async rethrows -> Result {
  let location = MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
  let cassette = Cassette(path, mode: mode, options: options, location: location)
  return try await MockScope(playing: cassette).surround(operation, cassette: cassette)
}

/// Runs a synchronous operation whose requests are played from a cassette or recorded to it, such as a whole XCTest
/// case, around `super.invokeTest()`.
///
/// - Parameters:
///   - path: The file, in the folder `Cassettes` next to the caller's; the extension `.har` is optional.
///   - mode: When to play and when to record. By default it plays only, unless `WAYLAY_RECORD` says otherwise.
///   - options: Matching, redaction, issues, and the maximum age of a recording.
///   - fileID: The file to report issues at: the caller's.
///   - filePath: The path of that file.
///   - line: The caller's line.
///   - column: The caller's column.
///   - operation: The code under test.
/// - Returns: The operation's result.
/// - Throws: The operation's error.
@discardableResult
public func withCassette<Result>(
  _ path: String, mode: Cassette.Mode = .environment, options: Cassette.Options = Cassette.Options(),
  fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
  operation: () throws -> Result
) rethrows -> Result {
  let location = MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
  let cassette = Cassette(path, mode: mode, options: options, location: location)
  return try MockScope(playing: cassette).surround(operation, cassette: cassette)
}

extension MockScope {
  /// Makes a scope without stubs, whose requests go to a cassette.
  convenience init(playing cassette: Cassette) {
    let settings = ScopeSettings(
      options: { MockInterceptor.Options(unmatched: .passThrough) }, location: cassette.location)
    self.init(settings.makeMock([]), cassette: cassette)
  }
}
