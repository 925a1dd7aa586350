public import WaylayMocks

extension MockScope {
  /// Makes this scope answer existing sessions until it ends, such as those that the code under test has made itself.
  ///
  /// ```swift
  /// let client = CatalogClient()   // private let session = URLSession(configuration: .default)
  /// MockScope.current?.intercept(URLSession.held(by: client))
  /// ```
  ///
  /// Sessions that other tests use as well belong in the trait's `hardWiredSessions`, where tests take turns. On Linux
  /// any session works; on Apple platforms only `URLSession.shared` does, and for any other the test fails with an
  /// issue that says so: let the code make the session from an injected configuration, which is
  /// `URLSessionConfiguration.mocked` in tests.
  public func intercept(_ sessions: [URLSession]) {
    guard !isEnded else {
      IssueReport.report("MockScope.intercept(_:) was called after the end of the scope, and intercepts nothing.")
      return
    }
    guard !sessions.isEmpty else { return }
    hardWired.intercept(sessions, for: self)
  }
}

extension URLSession {
  /// Returns the sessions in the stored properties of a value, including private and nested ones.
  ///
  /// Use it for the sessions that a client makes itself and does not expose:
  ///
  /// ```swift
  /// @Test(.mocked(hardWiredSessions: URLSession.held(by: CatalogClient.shared)) { Stub(.get, "/catalog") { .json(["items": 3]) } })
  /// func catalog() async throws { … }
  /// ```
  ///
  /// A lazy property that was not used yet holds no session, and sessions captured by closures are not found. The
  /// search goes eight levels deep. If it finds no session, that is an issue of the running test.
  ///
  /// - Parameter value: A client, or a value that contains one.
  /// - Returns: Each session once, in the order of the properties.
  public static func held(by value: Any) -> [URLSession] {
    var found: [URLSession] = []
    var seen: Set<ObjectIdentifier> = []
    search(value, depth: 0, &found, &seen)
    if found.isEmpty {
      IssueReport.report(
        """
        No session was found in a \(type(of: value)): a lazy property holds none before its first use, and sessions \
        that closures capture are not found.
        """)
    }
    return found
  }

  private static func search(_ value: Any, depth: Int, _ found: inout [URLSession], _ seen: inout Set<ObjectIdentifier>)
  {
    if let session = value as? URLSession {
      if !found.contains(where: { $0 === session }) { found.append(session) }
      return
    }
    guard depth < 8 else { return }
    if type(of: value) is AnyClass {
      guard seen.insert(ObjectIdentifier(value as AnyObject)).inserted else { return }
    }
    var mirror: Mirror? = Mirror(reflecting: value)
    while let level = mirror {
      for child in level.children { search(child.value, depth: depth + 1, &found, &seen) }
      mirror = level.superclassMirror
    }
  }
}
