public import WaylayMocks

extension MockScope {
  /// Has this scope answer sessions that exist already, until it ends: those that code under test has made for itself.
  ///
  /// ```swift
  /// let client = CatalogClient()   // private let session = URLSession(configuration: .default)
  /// MockScope.current?.intercept(URLSession.held(by: client))
  /// ```
  ///
  /// Sessions that other tests use as well belong into the trait's `hardWiredSessions`, where tests take turns. On
  /// Linux any session will do; on Apple platforms `URLSession.shared` alone, and for another the test fails with an
  /// issue that says so: make the session in the code from a configuration that comes from outside,
  /// `URLSessionConfiguration.mocked` in tests.
  public func intercept(_ sessions: [URLSession]) {
    guard !isEnded else {
      IssueReport.report("MockScope.intercept(_:) was called after the end of the scope: nothing is intercepted.")
      return
    }
    guard !sessions.isEmpty else { return }
    hardWired.intercept(sessions, for: self)
  }
}

extension URLSession {
  /// The sessions that a value holds in its stored properties, private ones too, and in those of what it holds.
  ///
  /// For the sessions that a client makes for itself and shows to nobody:
  ///
  /// ```swift
  /// @Test(.mocked(hardWiredSessions: URLSession.held(by: CatalogClient.shared)) { Stub(.get, "/catalog") { .json(["items": 3]) } })
  /// func catalog() async throws { … }
  /// ```
  ///
  /// A lazy property that was not used yet holds none, and what closures hold is not found. Levels beyond the eighth
  /// are not looked at. A value in which no session is found is an issue of the test that runs.
  ///
  /// - Parameter value: A client, or whatever has one.
  /// - Returns: Each session once, in the order of the properties.
  public static func held(by value: Any) -> [URLSession] {
    var found: [URLSession] = []
    var seen: Set<ObjectIdentifier> = []
    search(value, depth: 0, &found, &seen)
    if found.isEmpty {
      IssueReport.report(
        """
        No session was found in a \(type(of: value)): a lazy property has none before it is first used, and what a \
        closure holds is not found.
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
