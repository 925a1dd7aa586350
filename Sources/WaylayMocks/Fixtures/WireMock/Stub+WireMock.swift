public import Foundation

extension Stub {
  /// Reads stubs from WireMock's JSON mappings, limited to the common subset.
  ///
  /// ```swift
  /// let mock = try MockInterceptor { try Stub.wireMock(at: folder) }
  /// ```
  ///
  /// | part | supported |
  /// |---|---|
  /// | URL | `url`, `urlPattern`, `urlPath`, `urlPathPattern`, `urlPathTemplate` |
  /// | `method` | any, with `ANY` |
  /// | `queryParameters`, `headers` | `equalTo` (with `caseInsensitive`), `contains`, `doesNotContain`, `matches`, `doesNotMatch` |
  /// | | `absent`; `and`, `or` and `not` of these |
  /// | `bodyPatterns` | these, `binaryEqualTo`, and `matchesJsonPath` for paths of names and indexes |
  /// | | `equalToJson`, with `ignoreArrayOrder`, `ignoreExtraElements`, `${json-unit.ignore}` and `${json-unit.any-string}` |
  /// | `basicAuthCredentials` | `username`, `password` |
  /// | `response` | `status`, `statusMessage`, `headers`, `body`, `jsonBody`, `base64Body`, `bodyFileName` |
  /// | | `fixedDelayMilliseconds`, `delayDistribution`, `chunkedDribbleDelay`, `fault` |
  /// | order | `priority` (1 goes first, 5 by default), then the file that sorts last |
  /// | scenarios | `scenarioName`, `requiredScenarioState`, `newScenarioState`, beginning with `Started` |
  ///
  /// `id`, `uuid`, `name`, `persistent`, `metadata` and `insertionIndex` are ignored. Anything else is an error,
  /// including `transformers` and `proxyBaseUrl`, because the stub would not do what it says. All regular expressions
  /// must match the whole text, and use ICU syntax.
  ///
  /// The stubs are optional: not all mappings have to be used.
  ///
  /// - Parameters:
  ///   - place: A file with one mapping or a list `mappings`; a folder of such files; or WireMock's own folder, with
  ///     `mappings` and `__files` in it.
  ///   - origin: Scheme, host and port of the requests; any by default.
  ///   - ignoring: Unsupported names to ignore, such as `["transformers"]`.
  ///   - fileID: The file to report issues at: the caller's.
  ///   - filePath: The path of that file.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  /// - Throws: ``MockError/Code/invalidFixture`` with all errors, each with its file, line and mapping.
  public static func wireMock(
    at place: URL, origin: String? = nil, ignoring: Set<String> = [], fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) throws(MockError) -> [Stub] {
    let location = MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    let problems = FixtureProblems()
    let stubs = WireMockReader(place, origin: origin, ignoring: ignoring, location, problems).stubs()
    try problems.check(at: location)
    return stubs
  }
}
