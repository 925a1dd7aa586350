public import Testing
public import WaylayMocks

/// A trait that plays the requests of a test from a file, or records them to it.
///
/// ```swift
/// @Test(.cassette("login"))
/// func login() async throws {
///   let user = try await UserClient(session: .mocked).logIn("ada", password: "…")
///   #expect(user.name == "Ada")
/// }
/// ```
///
/// The file is `Cassettes/login.har`, beside the source file of the test. It is recorded with the network, and then
/// played without:
///
/// ```sh
/// WAYLAY_RECORD=once swift test
/// ```
///
/// On a suite each test has a file of its own, in a folder of that name: `Cassettes/login/wrongPassword.har`. The
/// cases of a test with arguments would record into one: surround them with `withCassette("login-\(argument)") { … }`.
///
/// Inside, ``MockScope/current`` has an empty mock as well, which is asked first: stubs that the test adds to
/// `MockInterceptor.current`, and those of `.mocked` round it or in it, answer before the cassette does.
///
/// When the test is over, requests that no entry is for are reported as issues of it, and entries that no request has
/// asked for as a warning. When the test throws, what it has recorded is not kept.
public struct CassetteTrait: TestTrait, SuiteTrait, TestScoping {
  /// Which trait this is: a suite's trait is copied to every test in the suite.
  private final class Identity: Sendable {}

  /// The traits of the suites round the current task.
  @TaskLocal private static var suites: Set<ObjectIdentifier> = []

  private let identity = Identity()
  private let path: String?
  private let mode: Cassette.Mode
  private let options: @Sendable () -> Cassette.Options
  private let location: MockSourceLocation

  /// `true`: each test of a suite has its own cassette.
  public var isRecursive: Bool { true }

  fileprivate init(
    _ path: String?, _ mode: Cassette.Mode, _ options: @escaping @Sendable () -> Cassette.Options,
    _ location: MockSourceLocation
  ) {
    self.path = path
    self.mode = mode
    self.options = options
    self.location = location
  }

  /// The trait itself, for each case of a test and once for a suite.
  public func scopeProvider(for test: Test, testCase: Test.Case?) -> CassetteTrait? {
    test.isSuite || testCase != nil ? self : nil
  }

  /// Runs a case of a test in a scope with a cassette, and reports at its end.
  @concurrent public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else {
      return try await Self.$suites.withValue(Self.suites.union([ObjectIdentifier(identity)])) { try await function() }
    }
    let isOfSuite = Self.suites.contains(ObjectIdentifier(identity))
    let name = Self.fileName(of: test)
    let path = isOfSuite ? path.map { "\($0)/\(name)" } ?? "\(stem)/\(name)" : path ?? "\(stem)/\(name)"
    let cassette = Cassette(path, mode: mode, options: options(), location: isOfSuite ? location : location(at: test))
    try await MockScope(playing: cassette).surround(
      { try await function() }, printsErrors: true, missesAtTest: isOfSuite, cassette: cassette)
  }

  /// The name of the source file.
  private var stem: String {
    URL(fileURLWithPath: location.filePath.description).deletingPathExtension().lastPathComponent
  }

  /// The compiler puts a trait that is written in an attribute at the declaration.
  private func location(at test: Test) -> MockSourceLocation {
    guard test.sourceLocation.fileID == location.fileID.description else { return location }
    return MockSourceLocation(
      fileID: location.fileID, filePath: location.filePath, line: UInt(clamping: test.sourceLocation.line),
      column: UInt(clamping: test.sourceLocation.column))
  }

  /// A test's name as a file can have it.
  static func fileName(of test: Test) -> String {
    let name = test.name.prefix { $0 != "(" }
    let plain = String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber) || "-_".contains($0) ? $0 : "-" })
    return plain.trimmingCharacters(in: ["-"])
  }
}

extension Trait where Self == CassetteTrait {
  /// Plays the requests of the test, or of each test of the suite, from a file, or records them to it.
  ///
  /// - Parameters:
  ///   - path: The file, beside the source file in the folder `Cassettes`; `.har` may be left out. For a suite, the
  ///     folder in it. Default: the names of the source file and of the test.
  ///   - mode: What is recorded. Nothing, unless `WAYLAY_RECORD` says otherwise.
  ///   - options: What is compared, redacted, reported, and how old a recording may be. Evaluated anew for each test.
  ///   - fileID: Where it is reported: the caller's file.
  ///   - filePath: The same file, with its path.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  public static func cassette(
    _ path: String? = nil, mode: Cassette.Mode = .environment,
    options: @autoclosure @escaping @Sendable () -> Cassette.Options = Cassette.Options(),
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) -> CassetteTrait {
    CassetteTrait(
      path, mode, options, MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column))
  }
}
