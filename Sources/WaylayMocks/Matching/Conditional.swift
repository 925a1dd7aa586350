/// What conditions on a request can be added to: a ``Stub`` and a ``RequestPattern``.
///
/// ```swift
/// Stub(.get, "/search") { .json([]) }
///   .query("q", "swift")
///   .header("Accept-Language", "de")
///   .where(.header("X-Beta") || !.query("page"))
/// ```
public protocol Conditional {
  /// The same with one condition more.
  func `where`(_ condition: RequestMatcher) -> Self
}

extension Conditional {
  /// The same for requests with that query item, among others; `nil` is an item without `=`, which differs from an
  /// empty value.
  public func query(_ name: String, _ value: String?) -> Self { self.where(.query(name, value)) }

  /// The same for requests with a query item of that name, whatever its value.
  public func query(_ name: String) -> Self { self.where(.query(name)) }

  /// The same for requests with these query items, in whatever order; the values of a repeated name in the order given.
  ///
  /// - Parameters:
  ///   - items: The items, as in `["page": "2", "flag": nil]`.
  ///   - exactly: Whether there may be no others.
  public func query(_ items: KeyValuePairs<String, String?>, exactly: Bool = false) -> Self {
    self.where(.query(items, exactly: exactly))
  }

  /// The same for requests with that header field. Names are compared without regard to case.
  public func header(_ name: String, _ value: String) -> Self { self.where(.header(name, value)) }

  /// The same for requests with a header field of that name.
  public func header(_ name: String) -> Self { self.where(.header(name)) }

  /// The same for requests with that body.
  public func body(_ body: BodyMatcher) -> Self { self.where(.body(body)) }

  /// The same for requests that a closure accepts. The name is what reports call it.
  public func `where`(_ name: String, _ predicate: @escaping @Sendable (MockRequest) -> Bool) -> Self {
    self.where(.predicate(name, predicate))
  }
}

extension Stub: Conditional {
  /// The same stub with one condition more.
  public func `where`(_ condition: RequestMatcher) -> Stub {
    with { stub in
      stub.pattern.add(condition)
      stub.problems += condition.problems.map { $0.located(at: stub.location) }
    }
  }
}

extension RequestPattern: Conditional {
  /// The same pattern with one condition more.
  public func `where`(_ condition: RequestMatcher) -> RequestPattern {
    var copy = self
    copy.add(condition)
    return copy
  }
}
