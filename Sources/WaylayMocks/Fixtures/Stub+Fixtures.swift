public import Foundation

extension Stub {
  /// The stubs of a folder of files: what a server answered, one file for each answer.
  ///
  /// ```swift
  /// let mock = try MockInterceptor {
  ///   try Stub.fixtures(in: folder, origin: "https://api.example.com")
  ///   Stub(.get, "https://api.example.com/users/42") { .status(404) }  // goes before the folder's
  /// }
  /// ```
  ///
  /// A file is named by its request, and so are the folders it lies in:
  ///
  /// | file | answers |
  /// |---|---|
  /// | `GET_users.json` | `GET /users`, whatever the query |
  /// | `GET_users_42.json`, `users/GET_42.json` | `GET /users/42` |
  /// | `GET_users_{id}.json` | `GET /users/:id`; a file with fewer names in braces goes first |
  /// | `GET_users?page=2.json` | `GET /users` with exactly this query |
  /// | `POST_users.201.json` | `POST /users` with the status 201 |
  /// | `DELETE_users_42.204` | with the status 204 and no body |
  /// | `ANY_my__notes.txt` | any method; two underscores are one |
  /// | `GET_.html` | `GET /` |
  /// | `GET_login.http` | a whole message, as ``MockResponse/raw(contentsOf:)`` reads it |
  ///
  /// The extension says the `Content-Type`. Hidden files and `README` files are left out; any other that begins with no
  /// method is a mistake. With a file `index.json` in the folder, that says what there is, and names mean nothing:
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
  /// `url` is a ``URLPattern``. `method` may be left out for any, `status` for 200. The body is one of `file` (in the
  /// folder), `text`, `json`, `base64`, `template`, or none; `type` is its `Content-Type`. `headers` has texts or lists
  /// of texts. `delay` is in seconds; `times`, `priority`, `required` and `comment` may be there. Later entries go
  /// before earlier ones. Any other name is a mistake.
  ///
  /// Nobody has to use all stubs of a folder: they are optional unless they say otherwise.
  ///
  /// - Parameters:
  ///   - folder: The folder.
  ///   - origin: Scheme, host and port of the requests; any unless told otherwise. An index's own goes before it.
  ///   - fileID: Where it is reported: the caller's file.
  ///   - filePath: The same file, with its path.
  ///   - line: The caller's line.
  ///   - column: The caller's column.
  /// - Throws: ``MockError/Code/invalidFixture`` with all mistakes, each with its file, line and entry.
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

  /// The stubs of a folder among a bundle's resources.
  ///
  /// ```swift
  /// try Stub.fixtures("Fixtures", in: .module)
  /// ```
  ///
  /// The folder is one that `Package.swift` lists as `.copy("Fixtures")`; `.process` would lose the folders inside.
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
