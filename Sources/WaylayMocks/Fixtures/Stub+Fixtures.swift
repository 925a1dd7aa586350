public import Foundation

extension Stub {
  /// Reads stubs from a folder of recorded responses, with one file per response.
  ///
  /// ```swift
  /// let mock = try MockInterceptor {
  ///   try Stub.fixtures(in: folder, origin: "https://api.example.com")
  ///   Stub(.get, "https://api.example.com/users/42") { .status(404) }  // goes before the folder's
  /// }
  /// ```
  ///
  /// The names of a file and its folders describe the request:
  ///
  /// | file | answers |
  /// |---|---|
  /// | `GET_users.json` | `GET /users` with any query |
  /// | `GET_users_42.json`, `users/GET_42.json` | `GET /users/42` |
  /// | `GET_users_{id}.json` | `GET /users/:id`; a file with fewer names in braces takes precedence |
  /// | `GET_users?page=2.json` | `GET /users` with exactly this query |
  /// | `POST_users.201.json` | `POST /users` with the status 201 |
  /// | `DELETE_users_42.204` | with the status 204 and no body |
  /// | `ANY_my__notes.txt` | any method; two underscores stand for one |
  /// | `GET_.html` | `GET /` |
  /// | `GET_login.http` | a complete message, as ``MockResponse/raw(contentsOf:)`` reads it |
  ///
  /// The extension determines the `Content-Type`. Hidden files and `README` files are ignored; any other file whose
  /// name does not begin with a method is an error. If the folder contains a file `index.json`, that file lists the
  /// stubs, and names have no meaning:
  ///
  /// ```json
  /// {
  ///   "origin": "https://api.example.com",
  ///   "stubs": [
  ///     {"method": "GET", "url": "/users/:id", "status": 200, "headers": {"ETag": "\"1\""}, "file": "ada.json"},
  ///     {"method": "POST", "url": "/users", "status": 201, "json": {"id": 42}, "delay": 0.2, "times": 1}
  ///   ]
  /// }
  /// ```
  ///
  /// `url` is a ``URLPattern``. `method` defaults to any, `status` to 200. The body is one of `file` (in the folder),
  /// `text`, `json`, `base64`, `template`, or none; `type` is its `Content-Type`. `headers` has strings or arrays of
  /// strings. `delay` is in seconds; `times`, `priority`, `required` and `comment` are optional. Later entries take
  /// precedence over earlier ones. Any other name is an error.
  ///
  /// The stubs of a folder are optional unless they say otherwise.
  ///
  /// - Parameters:
  ///   - folder: The folder.
  ///   - origin: Scheme, host and port of the requests; any by default. An index's own origin takes precedence.
  ///   - fileID: The file to report issues at: the caller's.
  ///   - filePath: The path of that file.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  /// - Throws: ``MockError/Code/invalidFixture`` with all errors, each with its file, line and entry.
  public static func fixtures(
    in folder: URL, origin: String? = nil, fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line,
    column: UInt = #column
  ) throws(MockError) -> [Stub] {
    let location = MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
    let problems = FixtureProblems()
    let index = folder.appendingPathComponent("index.json")
    let stubs =
      if FileManager.default.fileExists(atPath: index.path) {
        FixtureIndex(folder, origin: origin, location, problems).stubs(of: index)
      } else {
        FixtureFolder(folder, origin: origin, location, problems).stubs()
      }
    try problems.check(at: location)
    return stubs
  }

  /// Reads stubs from a folder among a bundle's resources.
  ///
  /// ```swift
  /// try Stub.fixtures("Fixtures", in: .module)
  /// ```
  ///
  /// List the folder in `Package.swift` as `.copy("Fixtures")`; `.process` would lose the folders inside.
  public static func fixtures(
    _ folder: String, in bundle: Bundle, origin: String? = nil, fileID: StaticString = #fileID,
    filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column
  ) throws(MockError) -> [Stub] {
    guard let url = bundle.url(forResource: folder, withExtension: nil) else {
      throw MockError(
        .unreadableFile,
        "the bundle at \(bundle.bundlePath) has no folder \(folder): list it as .copy(\"\(folder)\") under resources: "
          + "in Package.swift.",
        location: MockSourceLocation(fileID: fileID, filePath: filePath, line: line, column: column))
    }
    return try fixtures(in: url, origin: origin, fileID: fileID, filePath: filePath, line: line, column: column)
  }
}
